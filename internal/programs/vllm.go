package programs

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/benchrig/bench/results"
)

// readThroughput reads what vllm bench throughput --output-json writes. The tokens
// are those of prompts and answers together.
func readThroughput(object []byte) (Output, error) {
	var file struct {
		Elapsed  number `json:"elapsed_time"`
		Requests number `json:"num_requests"`
		Tokens   number `json:"total_num_tokens"`
		ReqRate  number `json:"requests_per_second"`
		TokRate  number `json:"tokens_per_second"`
	}
	if err := json.Unmarshal(object, &file); err != nil {
		return Output{}, err
	}

	var out Output
	n := 1
	if v := file.Requests.value; v != nil && *v >= 1 && *v < mostTokens {
		n = int(*v)
	}
	add := func(name, title, unit string, higher bool, v number) {
		out.add(results.Measure{Name: name, Title: title, Unit: unit, Higher: higher, N: n}, v)
	}
	add("tokens_per_s", "input and output", "tok/s", true, file.TokRate)
	add("requests_per_s", "requests", "req/s", true, file.ReqRate)
	add("elapsed_s", "elapsed", "s", false, file.Elapsed)

	for _, rate := range []struct {
		what       string
		count, per number
	}{{"requests_per_second", file.Requests, file.ReqRate}, {"tokens_per_second", file.Tokens, file.TokRate}} {
		if rate.count.value == nil || rate.per.value == nil || file.Elapsed.value == nil || *file.Elapsed.value == 0 {
			continue
		}
		if again := *rate.count.value / *file.Elapsed.value; differ(again, *rate.per.value) {
			out.notef("%s is %.4g, and the count over the time is %.4g", rate.what, *rate.per.value, again)
		}
	}
	return out, nil
}

// readLatency reads what vllm bench latency --output-json writes: the times of
// batches.
func readLatency(object []byte) (Output, error) {
	var file struct {
		Mean        number            `json:"avg_latency"`
		Samples     []number          `json:"latencies"`
		Percentiles map[string]number `json:"percentiles"`
	}
	if err := json.Unmarshal(object, &file); err != nil {
		return Output{}, err
	}

	var out Output
	mean := results.Measure{Name: "batch_latency_s", Title: "batch latency", Unit: "s", N: 1}
	out.addSamples(mean, file.Mean, file.Samples)
	out.addPercentiles(mean, len(file.Samples), file.Percentiles)
	return out, nil
}

// readStartup reads what vllm bench startup --output-json writes. Its starts are
// those of an engine within a Python process, not of a server.
func readStartup(object []byte) (Output, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(object, &members); err != nil {
		return Output{}, err
	}

	var out Output
	for _, state := range []string{"cold", "warm"} {
		for _, what := range []string{"startup", "compilation", "encoder_compilation"} {
			key := state + "_" + what
			raw, ok := members["avg_"+key+"_time"]
			if !ok {
				continue
			}
			var mean number
			var samples []number
			if json.Unmarshal(raw, &mean) != nil || members[key+"_times"] != nil &&
				json.Unmarshal(members[key+"_times"], &samples) != nil {
				out.notef("%s_times is not a list of numbers; it is left out", key)
				continue
			}
			out.addSamples(results.Measure{
				Name: key + "_s", Title: state + " " + strings.ReplaceAll(what, "_", " "), Unit: "s", N: 1,
			}, mean, samples)
		}
	}
	return out, nil
}

// addPercentiles adds the percentiles of n samples, ascending.
func (out *Output) addPercentiles(of results.Measure, n int, percentiles map[string]number) {
	const most = 20
	ranks := map[float64]number{}
	for name, v := range percentiles {
		p, err := strconv.ParseFloat(name, 64)
		if err != nil || p < 0 || p > 100 || len(ranks) == most {
			out.notef("percentile %.20q is left out", name)
			continue
		}
		ranks[p] = v
	}
	for _, p := range slices.Sorted(maps.Keys(ranks)) {
		name := strconv.FormatFloat(p, 'f', -1, 64)
		out.add(results.Measure{
			Name: "p" + name + "_" + of.Name, Title: "p" + name + " " + of.Title, Unit: of.Unit, N: max(1, n),
		}, ranks[p])
	}
}
