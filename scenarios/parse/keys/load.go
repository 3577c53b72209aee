package keys

import (
	"strconv"
	"strings"
	"time"

	"github.com/benchrig/bench/load/dialect"
	"github.com/benchrig/bench/load/spec"
	"github.com/benchrig/bench/scenarios"
	"github.com/benchrig/bench/scenarios/schema"
)

// Load are the keys of load:.
func Load() schema.Block[scenarios.Load] {
	return schema.Block[scenarios.Load]{
		Name: "under load:",
		Doc: "What traffic to send. With profile:, each key given here overrides that of the profile (dataset, " +
			"timeouts, goodput, sampling, ramp, body and headers are merged key by key).",
		Example: `
endpoint: completions
dataset: {kind: random, seed: 0}
num-prompts: 256
input-len: 1024
output-len: 128
goodput: {ttft: 500ms, tpot: 50ms}
sweep: {max-concurrency: [1, 4, 16, 64]}
`,
		Fields: append(trafficFields(), requestFields()...),
	}
}

// trafficFields say what is sent and when.
func trafficFields() []schema.Field[scenarios.Load] {
	return append(trafficFieldsWithoutSweep(),
		schema.UnreadKey[scenarios.Load]("sweep",
			"The load points: a mapping from keys to lists of values (every combination, the "+
				"first key varying slowest), or a list of points, each a mapping of such keys with an optional label.",
			sweepShape()).DefaultNote(`one point "all"`))
}

// trafficFieldsWithoutSweep are those that a sweep may pick from.
func trafficFieldsWithoutSweep() []schema.Field[scenarios.Load] {
	return append(trafficFieldsWithoutClasses(),
		schema.UnreadKey[scenarios.Load]("classes",
			"Kinds of request that the load mixes, each with figures of its own. Each has its "+
				"share of num-prompts; dataset.seed decides about the order, which is the same for every variant.",
			schema.ListOf(schema.BlockOf(Class().Info()))).DefaultNote("all requests are alike"))
}

// trafficFieldsWithoutClasses are those that a class may pick from.
func trafficFieldsWithoutClasses() []schema.Field[scenarios.Load] {
	return []schema.Field[scenarios.Load]{
		schema.UnreadKey[scenarios.Load]("profile", "Named load profile that these keys override.",
			schema.Simple(schema.TextShape)),
		schema.EnumKey("compat", "Match a version of vLLM's own client exactly: its prompts, request bodies and "+
			"arrival times. The figures that it would report are in the results in any case.", compats(),
			func(l *scenarios.Load) *string { return &l.Compat }).
			DefaultNote("none: what measures best"),
		schema.FreeKey("endpoint", "Name of an API ("+strings.Join(dialect.Names(), ", ")+"), which stands for "+
			"its usual path, or a path such as /v1/completions.",
			schema.Simple(schema.TextShape), readEndpoint).Or("completions"),
		schema.EnumKey("api", "Format of the request body, for an endpoint given as a path.", dialect.Names(),
			func(l *scenarios.Load) *string { return &l.API }).DefaultNote("what the endpoint says"),
		schema.BlockKey("dataset", "Source of the prompts.", Dataset(),
			func(l *scenarios.Load) *scenarios.Dataset { return &l.Dataset }),
		schema.WholeKey("num-prompts", "Number of measured requests per load point.",
			schema.Between(1, schema.MaxCount),
			func(l *scenarios.Load) *int { return &l.NumPrompts }).Or("100"),
		schema.DurationKey("duration", "Send requests for this long, repeating the prompts as needed; 0: send each "+
			"prompt once.",
			func(l *scenarios.Load) *time.Duration { return &l.Duration }).Or("0"),
		schema.ListKey("stages", "Parts of the load, one after the other, each with a rate or concurrency of its own, "+
			"as for tests of autoscaling. Together they are one load point, and each has figures of its own. Prompts "+
			"are repeated as needed.", Stage(), spec.Stage{},
			func(l *scenarios.Load) *[]spec.Stage { return &l.Stages }).
			DefaultNote("the load is the same throughout"),
		schema.GivenBlockKey("probes", "Small requests beside the load, with figures of their own.", Probes(),
			func(l *scenarios.Load) *spec.Probes { return &l.Probes }),
		schema.BlockKey("early", "When to end a pass before its last request because its answer is known.",
			Early(),
			func(l *scenarios.Load) *spec.Early { return &l.Early }),
		schema.WholeKey("max-concurrency", "Maximum number of requests in flight, over all replicas; 0: no limit.",
			schema.Between(0, schema.MaxCount),
			func(l *scenarios.Load) *int { return &l.MaxConcurrency }).Or("0"),
		schema.NumberKey("request-rate", "Requests per second; inf: send all at once, within max-concurrency.",
			schema.Positive(true),
			func(l *scenarios.Load) *float64 { return &l.RequestRate }).Or("inf"),
		schema.NumberKey("burstiness", "Shape of the arrival process: 1 is Poisson, below 1 is burstier, inf means "+
			"constant gaps. Needs a finite request-rate.", schema.Positive(true),
			func(l *scenarios.Load) *float64 { return &l.Burstiness }).Or("1"),
		schema.BlockKey("ramp", "Request rate that rises from the first request to the last, instead of "+
			"request-rate.",
			Ramp(),
			func(l *scenarios.Load) *spec.Ramp { return &l.Ramp }),
		schema.NumberKey("replay-speed", "Datasets trace, sessions and burstgpt, without request-rate: speed relative "+
			"to the recording; inf: the recorded times do not count. The waits within a session stay as they are.",
			schema.Positive(true),
			func(l *scenarios.Load) *float64 { return &l.ReplaySpeed }).Or("1"),
		schema.DurationKey("think-time", "Time between the end of an answer and the next turn of its conversation.",
			func(l *scenarios.Load) *time.Duration { return &l.ThinkTime }).Or("0"),
		inputLenKey().DefaultNote("the dataset's own"),
		schema.WholeKey("output-len", "Number of output tokens to request; required by dataset random.",
			schema.Between(1, schema.MaxCount),
			func(l *scenarios.Load) *int { return &l.OutputLen }).DefaultNote("the dataset's own"),
	}
}

// requestFields say how a request is made and judged.
func requestFields() []schema.Field[scenarios.Load] {
	return []schema.Field[scenarios.Load]{
		schema.FlagKey("ignore-eos", "Ask the server to ignore end-of-sequence tokens, so that answers reach "+
			"output-len.",
			func(l *scenarios.Load) *bool { return &l.IgnoreEOS }).
			DefaultNote("true for dataset random, else false"),
		schema.NotFlagKey("stream", "Request streamed answers. TTFT, TPOT and ITL need streaming.",
			func(l *scenarios.Load) *bool { return &l.NoStream }).Or("true"),
		maybeNumber("temperature", "Sampling temperature.", schema.NotNegative(),
			func(l *scenarios.Load) **float64 { return &l.Sampling.Temperature }).DefaultNote("the server's own"),
		schema.EnumKey("max-tokens-field", "Field of a chat request that limits the answer, for servers that "+
			"reject the other one.", []string{spec.MaxTokens, spec.MaxCompletionTokens},
			func(l *scenarios.Load) *string { return &l.MaxTokensField }).DefaultNote("both are sent"),
		schema.TextsKey("stop", "Stop strings, sent under each API's own name.",
			func(l *scenarios.Load) *[]string { return &l.Sampling.Stop }),
		schema.BlockKey("sampling", "Further sampling parameters, sent under each API's own names.", Sampling(),
			func(l *scenarios.Load) *spec.Sampling { return &l.Sampling }),
		schema.FreeKey("body", "Further fields of the request body, merged last; model, prompt, messages and stream "+
			"are set by bench.",
			schema.AnyMap(), readBody),
		schema.FreeKey("tools", "Tools that answers may call, as chat completions have them; for endpoints chat, "+
			"responses and messages. docs/metrics.md explains the figures of tool calls.",
			schema.ListOf(schema.Simple(schema.AnyShape)), readTools),
		schema.FreeKey("lora", "LoRA adapters, by the names under which the server serves them, each with its weight: "+
			"requests name one of them as their model.", schema.MapOf(schema.NumberIn(schema.Positive(false))),
			readAdapters).DefaultNote("the server's model"),
		maybeWhole("priority", "Sent as priority in the request body. vLLM, with scheduling-policy: priority, serves "+
			"lower values first; SGLang higher ones.", schema.Between(0, schema.MaxCount),
			func(l *scenarios.Load) **int { return &l.Priority }).DefaultNote("none is sent"),
		headersKey("Further HTTP headers.",
			func(l *scenarios.Load) *map[string]scenarios.EnvValue { return &l.Headers }),
		schema.WholeKey("warmups", "Number of requests before the measured ones; they have their own prompts.",
			schema.Between(0, 10_000),
			func(l *scenarios.Load) *int { return &l.Warmups }).Or("1"),
		schema.EnumKey("prefix-cache", "State of the server's prefix cache when the load point begins. cold: none "+
			"of the measured prompts is cached, by the engine's own means, and bench checks it. warm: the "+
			"measured prompts are sent once before. any: bench does nothing.",
			[]scenarios.PrefixCache{scenarios.CacheCold, scenarios.CacheWarm, scenarios.CacheAny},
			func(l *scenarios.Load) *scenarios.PrefixCache { return &l.PrefixCache }).Or(string(scenarios.CacheCold)),
		schema.BlockKey("timeouts", "Time limits of one request.", Timeouts(),
			func(l *scenarios.Load) *spec.Timeouts { return &l.Timeouts }),
		schema.EnumKey("transport", "How answers are read: sockets (arrival times from the kernel) or net/http.",
			[]string{"sockets", "net/http"},
			func(l *scenarios.Load) *string { return &l.Transport }).DefaultNote("sockets where possible"),
		schema.FlagKey("reuse-connections", "Reuse connections, as vLLM's client does; otherwise each request "+
			"opens its own.",
			func(l *scenarios.Load) *bool { return &l.ReuseConnections }).Or("false"),
		schema.WholeKey("resend", "Number of requests of the pass to send again after it, one at a time: at "+
			"temperature 0 the answers must be the same, and none may come from a cache of answers.",
			schema.Between(0, 10_000), func(l *scenarios.Load) *int { return &l.Resend }).Or("0"),
		schema.GivenBlockKey("evaluate", "Questions with exact answers, asked after each pass to check that the model "+
			"still works.", Evaluate(), func(l *scenarios.Load) *spec.Evaluate { return &l.Evaluate }),
		schema.FreeKey("goodput", "Goals a request must meet to count as good.", schema.BlockOf(Goodput().Info()),
			readGoodput),
		schema.FreeKey("percentiles", "Percentiles of the reports. Tables compare p99, or without it the highest.",
			schema.ListOf(schema.NumberIn(schema.Between(0, 100))), readPercentiles).Or("[50, 90, 95, 99]"),
		schema.NumberKey("min-success", "Share of requests that must succeed; otherwise the step fails.",
			schema.Between(0, 1),
			func(l *scenarios.Load) *float64 { return &l.MinSuccess }).Or("0.95"),
		schema.FlagKey("keep-text", "Keep the answers' text in the results.",
			func(l *scenarios.Load) *bool { return &l.KeepText }).Or("false"),
	}
}

// Timeouts are the keys of timeouts:.
func Timeouts() schema.Block[spec.Timeouts] {
	return schema.Block[spec.Timeouts]{
		Name: "under timeouts:", Doc: "Time limits of one request; 0: none.",
		Example: "\nfirst-token: 2m\nstall: 30s\n",
		Fields: []schema.Field[spec.Timeouts]{
			schema.DurationKey("connect", "Until the connection is established.",
				func(t *spec.Timeouts) *time.Duration { return &t.Connect }).Or("10s"),
			schema.DurationKey("first-token", "From the send to the first event with data.",
				func(t *spec.Timeouts) *time.Duration { return &t.FirstToken }).Or("10m"),
			schema.DurationKey("stall", "Longest time without a byte after that.",
				func(t *spec.Timeouts) *time.Duration { return &t.Stall }).Or("5m"),
			schema.DurationKey("total", "The whole request.",
				func(t *spec.Timeouts) *time.Duration { return &t.Total }).Or("0"),
			schema.DurationKey("drain", "For requests still in flight when the load's duration ends.",
				func(t *spec.Timeouts) *time.Duration { return &t.Drain }).Or("0"),
		},
	}
}

// goals collects the goodput: block.
type goals map[string]time.Duration

// Goodput are the keys of goodput:.
func Goodput() schema.Block[goals] {
	goal := func(key, doc string) schema.Field[goals] {
		return schema.FreeKey(key, doc, schema.Simple(schema.DurationShape),
			func(r *schema.Reader, n *schema.Node, g *goals) {
				if d, ok := r.Duration(n); ok && d > 0 {
					(*g)[key] = d
				} else if ok {
					r.Fail(n.Pos, "%s is 0, which no request meets", key)
				}
			})
	}

	return schema.Block[goals]{
		Name: "under goodput:", Doc: "A request is good when it meets every goal given.",
		Example: "\nttft: 500ms\ntpot: 50ms\n",
		Fields: []schema.Field[goals]{
			goal("ttft", "Time to first token."),
			goal("tpot", "Time per output token after the first."),
			goal("e2el", "The whole request."),
		},
	}
}

// inputLenKey is a number of tokens, or what the server's longest context
// leaves.
func inputLenKey() schema.Field[scenarios.Load] {
	s := schema.Shape{Kind: schema.LengthShape, Limits: schema.Between(1, schema.MaxCount)}
	return schema.FreeKey("input-len", "Number of prompt tokens; required by dataset random, others have their "+
		"own. max-model-len - N: the context length of the running server minus N.",
		s, func(r *schema.Reader, n *schema.Node, l *scenarios.Load) {
			if m := schema.LengthOfRest.FindStringSubmatch(n.Text); n.Kind == schema.Text && m != nil {
				l.ContextReserve, _ = strconv.Atoi(m[1]) // digits, see LengthOfRest
				return
			}
			if v, ok := r.Whole(n, s); ok {
				l.InputLen = int(v)
			}
		})
}

// Evaluate are the keys of load.evaluate:.
func Evaluate() schema.Block[spec.Evaluate] {
	return schema.Block[spec.Evaluate]{
		Name: "under load.evaluate:", Doc: "Fifty questions with exact answers (arithmetic, copying, ordering), " +
			"asked after each pass by the same API at temperature 0, as many at once as the pass. docs/metrics.md " +
			"explains the score.",
		Example: "\nexact: true\nmin-score: 0.9\n",
		Fields: []schema.Field[spec.Evaluate]{
			schema.FlagKey("exact", "Ask the questions.",
				func(e *spec.Evaluate) *bool { return &e.Exact }).Or("false"),
			schema.NumberKey("min-score", "Share of the questions that must be answered correctly; otherwise the step "+
				"is suspect (low-score). 0: any share.", schema.Between(0, 1),
				func(e *spec.Evaluate) *float64 { return &e.MinScore }).Or("0"),
		},
	}
}
