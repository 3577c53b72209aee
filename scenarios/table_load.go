package scenarios

import "time"

func loadBlock() block[Load] {
	return block[Load]{
		name: "under load:",
		doc: "What traffic to send. With profile: the keys of that profile lie beneath, and each key given here replaces the profile's " +
			"(dataset, timeouts, goodput, body and headers key by key).",
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
		freeKey("endpoint", "chat, completions, or a path such as /v1/completions.", simple(textShape), readEndpoint).or("completions"),
		enumKey("api", "Dialect of the request body, for an endpoint given as a path.", []string{"chat", "completions"},
			func(l *Load) *string { return &l.API }).elseNote("what the endpoint says"),
		blockKey("dataset", "Where prompts come from.", datasetBlock(), func(l *Load) *Dataset { return &l.Dataset }),
		wholeKey("num-prompts", "Measured requests of a point.", between(1, maxCount), func(l *Load) *int { return &l.NumPrompts }).or("100"),
		wholeKey("max-concurrency", "Most requests in flight over all replicas; 0 is no cap.", between(0, maxCount),
			func(l *Load) *int { return &l.MaxConcurrency }).or("0"),
		numberKey("request-rate", "Requests a second; inf sends all at once, as max-concurrency lets them.", positive(true),
			func(l *Load) *float64 { return &l.RequestRate }).or("inf"),
		numberKey("burstiness", "Shape of the arrivals: 1 is Poisson, below 1 burstier, inf constant gaps. Needs a finite request-rate.", positive(true),
			func(l *Load) *float64 { return &l.Burstiness }).or("1"),
		wholeKey("input-len", "Prompt tokens; required by dataset random, others have their own.", between(1, maxCount),
			func(l *Load) *int { return &l.InputLen }).elseNote("the dataset's own"),
		wholeKey("output-len", "Tokens to ask for; required by dataset random.", between(1, maxCount),
			func(l *Load) *int { return &l.OutputLen }).elseNote("the dataset's own"),
	}
}

// requestFields say how a request is made and judged.
func requestFields() []field[Load] {
	return []field[Load]{
		flagKey("ignore-eos", "Let answers run to output-len.", func(l *Load) *bool { return &l.IgnoreEOS }).
			elseNote("true for dataset random, else false"),
		freeKey("temperature", "Sampling temperature.", numberIn(notNegative()), readTemperature).elseNote("the server's own"),
		freeKey("body", "Further fields of the request body, merged last; model, prompt, messages and stream are set by bench.",
			mapOf(simple(anyShape)), readBody),
		freeKey("headers", "Further HTTP headers.", mapOf(simple(scalarShape)), readHeaders),
		wholeKey("warmups", "Requests before the measured ones, with prompts of their own.", between(0, 10_000),
			func(l *Load) *int { return &l.Warmups }).or("1"),
		blockKey("timeouts", "Limits of one request.", timeoutsBlock(), func(l *Load) *Timeouts { return &l.Timeouts }),
		freeKey("goodput", "Goals a request must meet to count as good.", blockOf(goodputBlock().info()), readGoodput),
		freeKey("percentiles", "Percentiles of the reports.", listOf(numberIn(between(0, 100))), readPercentiles).or("[50, 90, 95, 99]"),
		numberKey("min-success", "Share of requests that must succeed, else the step has failed.", between(0, 1),
			func(l *Load) *float64 { return &l.MinSuccess }).or("0.95"),
		flagKey("keep-text", "Keep the answers' text in the results.", func(l *Load) *bool { return &l.KeepText }).or("false"),
	}
}

func datasetBlock() block[Dataset] {
	return block[Dataset]{
		name: "under dataset:", doc: "Where prompts and their lengths come from.",
		example: "\nkind: random\nseed: 0\ntokens: ids\nvocab-size: 32000\nrange-ratio: 0.1\n",
		fields: []field[Dataset]{
			enumKey("kind", "random: made-up prompts of input-len tokens. sharegpt: conversations of a ShareGPT JSON file. jsonl: one prompt a line.",
				[]string{"random", "sharegpt", "jsonl"}, func(d *Dataset) *string { return &d.Kind }).or("random"),
			textKey("path", "File of sharegpt and jsonl, relative to the scenario file.", func(d *Dataset) *string { return &d.Path }),
			wholeKey("seed", "Of lengths, contents and choice.", notNegative(), func(d *Dataset) *uint64 { return &d.Seed }).or("0"),
			flagKey("vary", "Other prompts for each point and repeat, so that none is warm in a prefix cache.",
				func(d *Dataset) *bool { return &d.Vary }).or("true"),
			freeKey("tokens", "random: send prompts as text or as token ids.", enumOf("text", "ids"), readTokens).or("text"),
			wholeKey("vocab-size", "random with token ids: ids are below it.", between(1, maxCount), func(d *Dataset) *int { return &d.VocabSize }),
			numberKey("range-ratio", "random: lengths from l(1-r) to l(1+r).", limits{max: 1, below: true},
				func(d *Dataset) *float64 { return &d.RangeRatio }).or("0"),
			wholeKey("prefix-len", "random: tokens that all prompts share.", between(0, maxCount), func(d *Dataset) *int { return &d.PrefixLen }).or("0"),
			flagKey("shuffle", "sharegpt and jsonl: draw in an order made by seed.", func(d *Dataset) *bool { return &d.Shuffle }).
				elseNote("true for sharegpt, else false"),
		},
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
