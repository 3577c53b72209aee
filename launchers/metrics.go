package launchers

import (
	"context"
	"fmt"
	"maps"
	"net/http"
)

// Names of gauges under which all kinds report, where they have them.
const (
	Running = "running" // requests that are worked on
	Waiting = "waiting" // requests in the queue
	Swapped = "swapped" // requests whose cache was moved out, vLLM before V1
	KVUse   = "kv_use"  // share of the KV cache in use, 0 to 1; the fullest engine's

	DraftLength = "draft_length" // tokens a step of the large model, over the engine's last moments
	DraftRate   = "draft_rate"   // accepted / drafted tokens, likewise
)

// Gauge says where the value of a moment comes from.
type Gauge struct {
	Names   []string // the engine's metrics, newest first; see Kind.Counters
	Highest bool     // the highest over the engines of a server counts, else their sum
}

// IsGauge reports whether a name of ours is a gauge's: it may fall.
func IsGauge(name string) bool {
	switch name {
	case Running, Waiting, Swapped, KVUse, DraftLength, DraftRate:
		return true
	default:
		return false
	}
}

// Metrics reads the server's gauges and counters, under our names. What the
// engine does not show is absent; all is where the server has no metrics.
func (s *Server) Metrics(ctx context.Context) (map[string]float64, error) {
	counters, gauges, err := s.readMetrics(ctx)
	switch {
	case switchedOff(err):
		return map[string]float64{}, nil
	case err != nil:
		return nil, err
	}
	maps.Copy(gauges, counters)
	return gauges, nil
}

// readMetrics reads the metrics page once.
func (s *Server) readMetrics(ctx context.Context) (counters, gauges map[string]float64, err error) {
	if s.kind.MetricsPath == "" || len(s.kind.Counters)+len(s.kind.Gauges) == 0 {
		return map[string]float64{}, map[string]float64{}, nil
	}
	answer := s.probe.get(ctx, s.kind.MetricsPath)
	if answer.err != nil || answer.status != http.StatusOK {
		return nil, nil, answer.failure()
	}
	counters, gauges = s.kind.translate(string(answer.body))
	return counters, gauges, nil
}

// translate turns a metrics page into our names.
func (k Kind) translate(text string) (counters, gauges map[string]float64) {
	all := parseSeries(text)
	sums := make(map[string]float64, len(all))
	for name, s := range all {
		sums[name] = s.sum
	}
	counters = pickCounters(sums, k.Counters)
	for _, name := range k.AcceptedAt {
		for position, value := range all[name].at {
			counters[AcceptedAt(position)] = value
		}
		if len(all[name].at) > 0 {
			break
		}
	}
	gauges = make(map[string]float64)
	for ours, gauge := range k.Gauges {
		for _, name := range gauge.Names {
			value, known := total(sums, name)
			if !known {
				continue
			}
			if gauge.Highest {
				value = all[name].max
			}
			gauges[ours] = value
			break
		}
	}
	return counters, gauges
}

// AcceptedAt names the counter of drafted tokens that were accepted at a
// position of their draft, from 0.
func AcceptedAt(position int) string { return fmt.Sprintf("%s_at_%d", AcceptedTotal, position) }

// The tables below hold the names of all versions, the newest first. A counter
// gets its _total from the library that shows it, so older pages and captures
// of the registry may lack it.

func vllmCounters() map[string][]string {
	return map[string][]string{
		InputTokensTotal:   {"vllm:prompt_tokens_total"},
		OutputTokensTotal:  {"vllm:generation_tokens_total"},
		RequestsTotal:      {"vllm:request_success_total"},
		PreemptionsTotal:   {"vllm:num_preemptions_total"},
		PrefixQueries:      {"vllm:prefix_cache_queries_total", "vllm:gpu_prefix_cache_queries_total", "vllm:gpu_prefix_cache_queries"},
		PrefixHits:         {"vllm:prefix_cache_hits_total", "vllm:gpu_prefix_cache_hits_total", "vllm:gpu_prefix_cache_hits"},
		CachedTokensTotal:  {"vllm:prompt_tokens_cached_total"},
		DraftsTotal:        {"vllm:spec_decode_num_drafts_total"},
		DraftTokensTotal:   {"vllm:spec_decode_num_draft_tokens_total"},
		AcceptedTotal:      {"vllm:spec_decode_num_accepted_tokens_total"},
		EmittedTotal:       {"vllm:spec_decode_num_emitted_tokens_total"}, // before V1
		QueueSecondsTotal:  {"vllm:request_queue_time_seconds_sum"},
		QueueRequestsTotal: {"vllm:request_queue_time_seconds_count"},
		StepsTotal:         {"vllm:iteration_tokens_total_count"},
	}
}

func vllmGauges() map[string]Gauge {
	return map[string]Gauge{
		Running: {Names: []string{"vllm:num_requests_running"}},
		Waiting: {Names: []string{"vllm:num_requests_waiting", "vllm:num_requests_waiting_by_reason"}},
		Swapped: {Names: []string{"vllm:num_requests_swapped"}},
		KVUse:   {Names: []string{"vllm:kv_cache_usage_perc", "vllm:gpu_cache_usage_perc"}, Highest: true},
	}
}

func vllmAcceptedAt() []string {
	return []string{"vllm:spec_decode_num_accepted_tokens_per_pos_total", "vllm:spec_decode_num_accepted_tokens_per_pos"}
}

func sglangCounters() map[string][]string {
	return map[string][]string{
		InputTokensTotal:   {"sglang:prompt_tokens_total"},
		OutputTokensTotal:  {"sglang:generation_tokens_total"},
		RequestsTotal:      {"sglang:num_requests_total"},
		PrefixQueries:      {"sglang:prompt_tokens_total"}, // it looks all of them up
		PrefixHits:         {"sglang:cached_tokens_total"},
		CachedTokensTotal:  {"sglang:cached_tokens_total"},
		PreemptionsTotal:   {"sglang:num_retracted_reqs_total"},
		QueueSecondsTotal:  {"sglang:queue_time_seconds_sum"},
		QueueRequestsTotal: {"sglang:queue_time_seconds_count"},
	}
}

func sglangGauges() map[string]Gauge {
	return map[string]Gauge{
		Running: {Names: []string{"sglang:num_running_reqs"}},
		Waiting: {Names: []string{"sglang:num_queue_reqs"}},
		KVUse:   {Names: []string{"sglang:token_usage"}, Highest: true},

		DraftLength: {Names: []string{"sglang:spec_accept_length"}, Highest: true},
		DraftRate:   {Names: []string{"sglang:spec_accept_rate"}, Highest: true},
	}
}

func tgiCounters() map[string][]string {
	return map[string][]string{
		InputTokensTotal:   {"tgi_request_input_length_sum"},
		OutputTokensTotal:  {"tgi_request_generated_tokens_sum"},
		RequestsTotal:      {"tgi_request_success"},
		QueueSecondsTotal:  {"tgi_request_queue_duration_sum"},
		QueueRequestsTotal: {"tgi_request_queue_duration_count"},
	}
}

func tgiGauges() map[string]Gauge {
	return map[string]Gauge{
		Running: {Names: []string{"tgi_batch_current_size"}},
		Waiting: {Names: []string{"tgi_queue_size"}},
	}
}

func llamaCounters() map[string][]string {
	return map[string][]string{
		InputTokensTotal:  {"llamacpp:prompt_tokens_total"}, // without those from the cache
		OutputTokensTotal: {"llamacpp:tokens_predicted_total"},
		PrefixQueries:     {"llamacpp:prompt_tokens_total+llamacpp:prompt_tokens_cached_total"},
		PrefixHits:        {"llamacpp:prompt_tokens_cached_total"},
		CachedTokensTotal: {"llamacpp:prompt_tokens_cached_total"},
		DraftsTotal:       {"llamacpp:spec_decode_num_drafts_total"},
		DraftTokensTotal:  {"llamacpp:spec_decode_num_draft_tokens_total"},
		AcceptedTotal:     {"llamacpp:spec_decode_num_accepted_tokens_total"},
		StepsTotal:        {"llamacpp:n_decode_total"},
	}
}

func llamaGauges() map[string]Gauge {
	return map[string]Gauge{
		Running: {Names: []string{"llamacpp:requests_processing"}},
		Waiting: {Names: []string{"llamacpp:requests_deferred"}},
		KVUse:   {Names: []string{"llamacpp:kv_cache_usage_ratio"}, Highest: true},
	}
}

func llamaAcceptedAt() []string {
	return []string{"llamacpp:spec_decode_num_accepted_tokens_per_pos_total"}
}

// anyCounters are those of all kinds, for a server of which it is not known
// what it is. Their names begin with the engine's, so they do not mix.
func anyCounters() map[string][]string {
	all := make(map[string][]string)
	for _, kind := range []map[string][]string{vllmCounters(), llamaCounters(), sglangCounters(), tgiCounters()} {
		for ours, theirs := range kind {
			all[ours] = append(all[ours], theirs...)
		}
	}
	return all
}

func anyGauges() map[string]Gauge {
	all := make(map[string]Gauge)
	for _, kind := range []map[string]Gauge{vllmGauges(), llamaGauges(), sglangGauges(), tgiGauges()} {
		for ours, gauge := range kind {
			all[ours] = Gauge{Names: append(all[ours].Names, gauge.Names...), Highest: gauge.Highest}
		}
	}
	return all
}
