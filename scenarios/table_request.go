package scenarios

// compats are the versions of vLLM's client that can be followed.
func compats() []string { return []string{"vllm", "vllm-0.10", "vllm-0.6"} }

// api is a dialect that servers speak.
type api struct {
	name, path string
	ids        bool // takes token ids
	images     bool
}

func apis() []api {
	return []api{
		{"completions", "/v1/completions", true, false},
		{"chat", "/v1/chat/completions", false, true},
		{"llamacpp", "/completion", true, false},
		{"tgi", "/generate_stream", false, false},
		{"sglang", "/generate", true, false},
		{"ollama", "/api/generate", false, true},
		{"ollama-chat", "/api/chat", false, true},
	}
}

func apiNames() []string {
	var names []string
	for _, a := range apis() {
		names = append(names, a.name)
	}
	return names
}

// apiNamed is the API of a name; the zero value where there is none.
func apiNamed(name string) api {
	for _, a := range apis() {
		if a.name == name {
			return a
		}
	}
	return api{}
}

func rampBlock() block[Ramp] {
	return block[Ramp]{
		name: "under ramp:", doc: "The rate rises with each request, as in vLLM's client. The times are those of request-rate drawn with each request's own rate.",
		example: "\nstrategy: linear\nstart: 1\nend: 20\n",
		fields: []field[Ramp]{
			enumKey("strategy", "How the rate rises.", []string{"linear", "exponential"}, func(r *Ramp) *string { return &r.Strategy }).
				elseNote("no ramp"),
			numberKey("start", "Requests a second at the first request.", notNegative(), func(r *Ramp) *float64 { return &r.Start }),
			numberKey("end", "Requests a second at the last request.", positive(false), func(r *Ramp) *float64 { return &r.End }),
		},
	}
}

func samplingBlock() block[Sampling] {
	return block[Sampling]{
		name: "under sampling:", doc: "What is not given is not sent: the server decides. temperature stands beside this block.",
		example: "\ntop-p: 0.95\nseed: 1\n",
		fields: []field[Sampling]{
			maybeNumber("top-p", "Nucleus: smallest set of tokens with this probability.", limits{above: true, max: 1}, func(s *Sampling) **float64 { return &s.TopP }),
			maybeWhole("top-k", "Tokens to choose among.", between(1, maxCount), func(s *Sampling) **int { return &s.TopK }),
			maybeNumber("min-p", "Least probability, as a share of the likeliest token's.", between(0, 1), func(s *Sampling) **float64 { return &s.MinP }),
			maybeNumber("frequency-penalty", "Penalty of tokens by how often they came.", between(-2, 2), func(s *Sampling) **float64 { return &s.FrequencyPenalty }),
			maybeNumber("presence-penalty", "Penalty of tokens that came before.", between(-2, 2), func(s *Sampling) **float64 { return &s.PresencePenalty }),
			maybeNumber("repetition-penalty", "Factor against repetitions; 1 is none.", positive(false), func(s *Sampling) **float64 { return &s.RepetitionPenalty }),
			maybeWhole("seed", "Of the server's sampling.", between(0, maxCount), func(s *Sampling) **int { return &s.Seed }),
		},
	}
}

// maybeNumber is a number that is nil where it is not given.
func maybeNumber[T any](key, doc string, l limits, at func(*T) **float64) field[T] {
	s := numberIn(l)
	return freeKey(key, doc, s, func(r *reader, n *node, into *T) {
		if v, ok := r.number(n, s); ok {
			*at(into) = &v
		}
	})
}

// maybeWhole is a whole number that is nil where it is not given.
func maybeWhole[T any](key, doc string, l limits, at func(*T) **int) field[T] {
	s := wholeIn(l)
	return freeKey(key, doc, s, func(r *reader, n *node, into *T) {
		if v, ok := r.whole(n, s); ok {
			whole := int(v)
			*at(into) = &whole
		}
	})
}
