package scenarios

import (
	"strings"
	"time"
)

func loadBlock() block[Load] {
	return block[Load]{
		name: "under load:",
		doc: "What traffic to send. With profile: the keys of that profile lie beneath, and each key given here replaces the profile's " +
			"(dataset, timeouts, goodput, sampling, ramp, body and headers key by key).",
		example: `
endpoint: completions
dataset: {kind: random, seed: 0}
num-prompts: 256
input-len: 1024
output-len: 128
goodput: {ttft: 500ms, tpot: 50ms}
sweep: {max-concurrency: [1, 4, 16, 64]}
`,
		fields: append(trafficFields(), requestFields()...),
	}
}

// trafficFields say what is sent and when.
func trafficFields() []field[Load] {
	ignore := func(*reader, *node, *Load) {}
	return append(trafficFieldsWithoutSweep(),
		freeKey("sweep", "What varies from point to point: a mapping from keys to lists (every combination, the first key varying slowest), "+
			"or a list of points, each a mapping of such keys and an optional label.", sweepShape(), ignore).elseNote(`one point "all"`))
}

// trafficFieldsWithoutSweep are those that a sweep may pick from.
func trafficFieldsWithoutSweep() []field[Load] {
	ignore := func(*reader, *node, *Load) {}
	return []field[Load]{
		freeKey("profile", "Named load profile that lies beneath these keys.", simple(textShape), ignore),
		enumKey("compat", "Follow a version of vLLM's own client to the letter: its prompts, request bodies and arrival times. Its reading of the figures "+
			"stands in the results in any case.", compats(), func(l *Load) *string { return &l.Compat }).elseNote("none: what measures best"),
		freeKey("endpoint", "Name of an API ("+strings.Join(apiNames(), ", ")+"), which stands for its usual path, or a path such as /v1/completions.",
			simple(textShape), readEndpoint).or("completions"),
		enumKey("api", "Dialect of the request body, for an endpoint given as a path.", apiNames(),
			func(l *Load) *string { return &l.API }).elseNote("what the endpoint says"),
		blockKey("dataset", "Where prompts come from.", datasetBlock(), func(l *Load) *Dataset { return &l.Dataset }),
		wholeKey("num-prompts", "Measured requests of a point.", between(1, maxCount), func(l *Load) *int { return &l.NumPrompts }).or("100"),
		durationKey("duration", "Send nothing after this time, and take the prompts round and round until then; 0 sends each prompt once.",
			func(l *Load) *time.Duration { return &l.Duration }).or("0"),
		wholeKey("max-concurrency", "Most requests in flight over all replicas; 0 is no cap.", between(0, maxCount),
			func(l *Load) *int { return &l.MaxConcurrency }).or("0"),
		numberKey("request-rate", "Requests a second; inf sends all at once, as max-concurrency lets them.", positive(true),
			func(l *Load) *float64 { return &l.RequestRate }).or("inf"),
		numberKey("burstiness", "Shape of the arrivals: 1 is Poisson, below 1 burstier, inf constant gaps. Needs a finite request-rate.", positive(true),
			func(l *Load) *float64 { return &l.Burstiness }).or("1"),
		blockKey("ramp", "Raise the request rate from the first request to the last, in place of request-rate.", rampBlock(),
			func(l *Load) *Ramp { return &l.Ramp }),
		numberKey("replay-speed", "Datasets trace and burstgpt, without request-rate: how many times as fast as recorded.", positive(false),
			func(l *Load) *float64 { return &l.ReplaySpeed }).or("1"),
		durationKey("think-time", "From the end of an answer to the next turn of its conversation.",
			func(l *Load) *time.Duration { return &l.ThinkTime }).or("0"),
		inputLenKey().elseNote("the dataset's own"),
		wholeKey("output-len", "Tokens to ask for; required by dataset random.", between(1, maxCount),
			func(l *Load) *int { return &l.OutputLen }).elseNote("the dataset's own"),
	}
}

// requestFields say how a request is made and judged.
func requestFields() []field[Load] {
	return []field[Load]{
		flagKey("ignore-eos", "Let answers run to output-len.", func(l *Load) *bool { return &l.IgnoreEOS }).
			elseNote("true for dataset random, else false"),
		flagKey("stream", "Ask for streamed answers. Without, there is no time to first token and no latency between tokens.",
			func(l *Load) *bool { return &l.Stream }).or("true"),
		maybeNumber("temperature", "Sampling temperature.", notNegative(), func(l *Load) **float64 { return &l.Temperature }).elseNote("the server's own"),
		blockKey("sampling", "Further sampling parameters, under each API's own names.", samplingBlock(), func(l *Load) *Sampling { return &l.Sampling }),
		freeKey("body", "Further fields of the request body, merged last; model, prompt, messages and stream are set by bench.",
			mapOf(simple(anyShape)), readBody),
		freeKey("headers", "Further HTTP headers.", mapOf(simple(scalarShape)), readHeaders),
		wholeKey("warmups", "Requests before the measured ones, with prompts of their own.", between(0, 10_000),
			func(l *Load) *int { return &l.Warmups }).or("1"),
		enumKey("prefix-cache", "State of the server's prefix cache when the point begins: cold, by whatever the engine has for it, and checked; "+
			"warm, the measured prompts are sent once before; any, taken as it comes.", []PrefixCache{CacheCold, CacheWarm, CacheAny},
			func(l *Load) *PrefixCache { return &l.PrefixCache }).or(string(CacheCold)),
		blockKey("timeouts", "Limits of one request.", timeoutsBlock(), func(l *Load) *Timeouts { return &l.Timeouts }),
		enumKey("transport", "How bytes are read: sockets, with arrival times from the kernel, or net/http.", []string{"sockets", "net/http"},
			func(l *Load) *string { return &l.Transport }).elseNote("sockets where they can be"),
		flagKey("reuse-connections", "Send a request on a connection that carried another one before, as vLLM's client does; else each has its own.",
			func(l *Load) *bool { return &l.ReuseConnections }).or("false"),
		freeKey("goodput", "Goals a request must meet to count as good.", blockOf(goodputBlock().info()), readGoodput),
		freeKey("percentiles", "Percentiles of the reports.", listOf(numberIn(between(0, 100))), readPercentiles).or("[50, 90, 95, 99]"),
		numberKey("min-success", "Share of requests that must succeed, else the step has failed.", between(0, 1),
			func(l *Load) *float64 { return &l.MinSuccess }).or("0.95"),
		flagKey("keep-text", "Keep the answers' text in the results.", func(l *Load) *bool { return &l.KeepText }).or("false"),
	}
}

func timeoutsBlock() block[Timeouts] {
	return block[Timeouts]{
		name: "under timeouts:", doc: "Limits of one request; 0 is none.", example: "\nfirst-token: 2m\nstall: 30s\n",
		fields: []field[Timeouts]{
			durationKey("connect", "Until the connection stands.", func(t *Timeouts) *time.Duration { return &t.Connect }).or("10s"),
			durationKey("first-token", "From sending to the first event with data.", func(t *Timeouts) *time.Duration { return &t.FirstToken }).or("10m"),
			durationKey("stall", "Without a byte after that.", func(t *Timeouts) *time.Duration { return &t.Stall }).or("5m"),
			durationKey("total", "The whole request.", func(t *Timeouts) *time.Duration { return &t.Total }).or("0"),
			durationKey("drain", "After the load's duration, for requests in flight.", func(t *Timeouts) *time.Duration { return &t.Drain }).or("0"),
		},
	}
}

// goals collects the goodput: block.
type goals map[string]time.Duration

func goodputBlock() block[goals] {
	goal := func(key, doc string) field[goals] {
		return freeKey(key, doc, simple(durationShape), func(r *reader, n *node, g *goals) {
			if d, ok := r.duration(n); ok && d > 0 {
				(*g)[key] = d
			} else if ok {
				r.fail(n.pos, "%s is 0, which no request meets", key)
			}
		})
	}
	return block[goals]{
		name: "under goodput:", doc: "A request is good when it meets every goal given.", example: "\nttft: 500ms\ntpot: 50ms\n",
		fields: []field[goals]{
			goal("ttft", "Time to first token."),
			goal("tpot", "Time per output token after the first."),
			goal("e2el", "The whole request."),
		},
	}
}
