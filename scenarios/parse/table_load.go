package parse

import (
	"strconv"
	"strings"
	"time"

	"github.com/benchrig/bench/load/dialect"
	"github.com/benchrig/bench/load/spec"
	"github.com/benchrig/bench/scenarios"
	"github.com/benchrig/bench/scenarios/schema"
)

func loadBlock() schema.Block[scenarios.Load] {
	return schema.Block[scenarios.Load]{
		Name: "under load:",
		Doc: "What traffic to send. With profile: the keys of that profile lie beneath, and each key given here " +
			"replaces the profile's (dataset, timeouts, goodput, sampling, ramp, body and headers key by key).",
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
	ignore := func(*schema.Reader, *schema.Node, *scenarios.Load) {}
	return append(trafficFieldsWithoutSweep(),
		schema.FreeKey("sweep", "What varies from point to point: a mapping from keys to lists (every combination, "+
			"the first key varying slowest), "+
			"or a list of points, each a mapping of such keys and an optional label.", sweepShape(), ignore).
			DefaultNote(`one point "all"`))
}

// trafficFieldsWithoutSweep are those that a sweep may pick from.
func trafficFieldsWithoutSweep() []schema.Field[scenarios.Load] {
	ignore := func(*schema.Reader, *schema.Node, *scenarios.Load) {}

	return []schema.Field[scenarios.Load]{
		schema.FreeKey("profile", "Named load profile that lies beneath these keys.", schema.Simple(schema.TextShape),
			ignore),
		schema.EnumKey("compat", "Match a version of vLLM's own client exactly: its prompts, request bodies "+
			"and arrival times. Its reading of the figures "+
			"stands in the results in any case.", compats(), func(l *scenarios.Load) *string { return &l.Compat }).
			DefaultNote("none: what measures best"),
		schema.FreeKey("endpoint", "Name of an API ("+strings.Join(dialect.Names(), ", ")+"), which stands for "+
			"its usual path, or a path such as /v1/completions.",
			schema.Simple(schema.TextShape), readEndpoint).Or("completions"),
		schema.EnumKey("api", "Dialect of the request body, for an endpoint given as a path.", dialect.Names(),
			func(l *scenarios.Load) *string { return &l.API }).DefaultNote("what the endpoint says"),
		schema.BlockKey("dataset", "Where prompts come from.", datasetBlock(),
			func(l *scenarios.Load) *scenarios.Dataset { return &l.Dataset }),
		schema.WholeKey("num-prompts", "Measured requests of a point.", schema.Between(1, schema.MaxCount),
			func(l *scenarios.Load) *int { return &l.NumPrompts }).Or("100"),
		schema.DurationKey("duration", "Send nothing after this time, and take the prompts round and round until "+
			"then; 0 sends each prompt once.",
			func(l *scenarios.Load) *time.Duration { return &l.Duration }).Or("0"),
		schema.WholeKey("max-concurrency", "Most requests in flight over all replicas; 0 means no cap.",
			schema.Between(0, schema.MaxCount),
			func(l *scenarios.Load) *int { return &l.MaxConcurrency }).Or("0"),
		schema.NumberKey("request-rate", "Requests a second; inf sends all at once, as max-concurrency lets them.",
			schema.Positive(true),
			func(l *scenarios.Load) *float64 { return &l.RequestRate }).Or("inf"),
		schema.NumberKey("burstiness", "Shape of the arrivals: 1 is Poisson, below 1 burstier, inf constant gaps. "+
			"Needs a finite request-rate.", schema.Positive(true),
			func(l *scenarios.Load) *float64 { return &l.Burstiness }).Or("1"),
		schema.BlockKey("ramp", "Raise the request rate from the first request to the last, in place of request-rate.",
			rampBlock(),
			func(l *scenarios.Load) *spec.Ramp { return &l.Ramp }),
		schema.NumberKey("replay-speed", "Datasets trace and burstgpt, without request-rate: how many times as fast "+
			"as recorded.", schema.Positive(false),
			func(l *scenarios.Load) *float64 { return &l.ReplaySpeed }).Or("1"),
		schema.DurationKey("think-time", "From the end of an answer to the next turn of its conversation.",
			func(l *scenarios.Load) *time.Duration { return &l.ThinkTime }).Or("0"),
		inputLenKey().DefaultNote("the dataset's own"),
		schema.WholeKey("output-len", "Tokens to ask for; required by dataset random.",
			schema.Between(1, schema.MaxCount),
			func(l *scenarios.Load) *int { return &l.OutputLen }).DefaultNote("the dataset's own"),
	}
}

// requestFields say how a request is made and judged.
func requestFields() []schema.Field[scenarios.Load] {
	return []schema.Field[scenarios.Load]{
		schema.FlagKey("ignore-eos", "Let answers run to output-len.",
			func(l *scenarios.Load) *bool { return &l.IgnoreEOS }).
			DefaultNote("true for dataset random, else false"),
		schema.NotFlagKey("stream", "Ask for streamed answers. Without, there is no time to first token and no "+
			"latency between tokens.",
			func(l *scenarios.Load) *bool { return &l.NoStream }).Or("true"),
		maybeNumber("temperature", "Sampling temperature.", schema.NotNegative(),
			func(l *scenarios.Load) **float64 { return &l.Sampling.Temperature }).DefaultNote("the server's own"),
		schema.EnumKey("max-tokens-field", "Field of a chat request that limits the answer, for servers that refuse "+
			"the other.", []string{spec.MaxTokens, spec.MaxCompletionTokens},
			func(l *scenarios.Load) *string { return &l.MaxTokensField }).DefaultNote("both are sent"),
		schema.TextsKey("stop", "Texts that end an answer, under each API's own name.",
			func(l *scenarios.Load) *[]string { return &l.Sampling.Stop }),
		schema.BlockKey("sampling", "Further sampling parameters, under each API's own names.", samplingBlock(),
			func(l *scenarios.Load) *spec.Sampling { return &l.Sampling }),
		schema.FreeKey("body", "Further fields of the request body, merged last; model, prompt, messages and stream "+
			"are set by bench.",
			schema.MapOf(schema.Simple(schema.AnyShape)), readBody),
		schema.FreeKey("headers", "Further HTTP headers.", schema.MapOf(schema.Simple(schema.ScalarShape)),
			readHeaders),
		schema.WholeKey("warmups", "Requests before the measured ones, with prompts of their own.",
			schema.Between(0, 10_000),
			func(l *scenarios.Load) *int { return &l.Warmups }).Or("1"),
		schema.EnumKey("prefix-cache", "State of the server's prefix cache when the point begins: cold, by whatever "+
			"the engine has for it, and checked; "+
			"warm, the measured prompts are sent once before; any, taken as it comes.",
			[]scenarios.PrefixCache{scenarios.CacheCold, scenarios.CacheWarm, scenarios.CacheAny},
			func(l *scenarios.Load) *scenarios.PrefixCache { return &l.PrefixCache }).Or(string(scenarios.CacheCold)),
		schema.BlockKey("timeouts", "Limits of one request.", timeoutsBlock(),
			func(l *scenarios.Load) *spec.Timeouts { return &l.Timeouts }),
		schema.EnumKey("transport", "How bytes are read: sockets, with arrival times from the kernel, or net/http.",
			[]string{"sockets", "net/http"},
			func(l *scenarios.Load) *string { return &l.Transport }).DefaultNote("sockets where they can be"),
		schema.FlagKey("reuse-connections", "Send a request on a connection that carried another one before, as "+
			"vLLM's client does; else each has its own.",
			func(l *scenarios.Load) *bool { return &l.ReuseConnections }).Or("false"),
		schema.FreeKey("goodput", "Goals a request must meet to count as good.", schema.BlockOf(goodputBlock().Info()),
			readGoodput),
		schema.FreeKey("percentiles", "Percentiles of the reports.",
			schema.ListOf(schema.NumberIn(schema.Between(0, 100))), readPercentiles).Or("[50, 90, 95, 99]"),
		schema.NumberKey("min-success", "Share of requests that must succeed, else the step has failed.",
			schema.Between(0, 1),
			func(l *scenarios.Load) *float64 { return &l.MinSuccess }).Or("0.95"),
		schema.FlagKey("keep-text", "Keep the answers' text in the results.",
			func(l *scenarios.Load) *bool { return &l.KeepText }).Or("false"),
	}
}

func timeoutsBlock() schema.Block[spec.Timeouts] {
	return schema.Block[spec.Timeouts]{
		Name: "under timeouts:", Doc: "Limits of one request; 0 means none.",
		Example: "\nfirst-token: 2m\nstall: 30s\n",
		Fields: []schema.Field[spec.Timeouts]{
			schema.DurationKey("connect", "Until the connection stands.",
				func(t *spec.Timeouts) *time.Duration { return &t.Connect }).Or("10s"),
			schema.DurationKey("first-token", "From sending to the first event with data.",
				func(t *spec.Timeouts) *time.Duration { return &t.FirstToken }).Or("10m"),
			schema.DurationKey("stall", "Without a byte after that.",
				func(t *spec.Timeouts) *time.Duration { return &t.Stall }).Or("5m"),
			schema.DurationKey("total", "The whole request.",
				func(t *spec.Timeouts) *time.Duration { return &t.Total }).Or("0"),
			schema.DurationKey("drain", "After the load's duration, for requests in flight.",
				func(t *spec.Timeouts) *time.Duration { return &t.Drain }).Or("0"),
		},
	}
}

// goals collects the goodput: block.
type goals map[string]time.Duration

func goodputBlock() schema.Block[goals] {
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
	return schema.FreeKey("input-len", "Prompt tokens; required by dataset random, others have their own. "+
		"max-model-len - N: what the longest context of the server that runs leaves.",
		s, func(r *schema.Reader, n *schema.Node, l *scenarios.Load) {
			if m := schema.LengthOfRest.FindStringSubmatch(n.Text); n.Kind == schema.Text && m != nil {
				l.ContextReserve, _ = strconv.Atoi(m[1]) // digits, see lengthOfRest
				return
			}
			if v, ok := r.Whole(n, s); ok {
				l.InputLen = int(v)
			}
		})
}
