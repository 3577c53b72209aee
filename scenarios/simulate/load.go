package simulate

import (
	"fmt"
	"slices"

	"github.com/benchrig/bench/scenarios"
)

// standIn are the lengths of random prompts that take the place of a dataset
// that this machine does not have, in tokens.
type standIn struct {
	input, output int
	ratio         float64 // of both: lengths from l(1-r) to l(1+r)
}

// standIns are mean lengths of the datasets' usual files.
func standIns() map[string]standIn {
	return map[string]standIn{
		// 224,021 and 191,000 tokens in 1,024 prompts, where the file has 220,902; as in the file, 36 of the first 64
		// prompts have fewer than 256 tokens
		"sharegpt":   {214, 187, 0.75},
		"tok_inputs": {512, 0, 0.5}, // of a set whose longest prompts have 1,024
		"sonnet":     {550, 150, 0},
		"burstgpt":   {512, 256, 0.8},
		"trace":      {1024, 256, 0.8},
	}
}

// simulated are the APIs that the simulator has; "" is the usual one.
func simulated() []string {
	return []string{
		"completions", "chat", "responses", "messages", "transcriptions", "embeddings", "pooling",
		"rerank", "score", "",
	}
}

// simulateLoad replaces what this machine lacks or a simulated server does not
// speak.
func simulateLoad(s *scenarios.Scenario, exists func(path string) bool) {
	for i := range s.Points {
		l := &s.Points[i]
		if !slices.Contains(simulated(), l.API) {
			simNote(s, "requests go to /v1/completions in place of %s, which the simulator does not have", l.Endpoint)
			l.API, l.Endpoint = "completions", "/v1/completions"
		}
		if l.Dataset.Tokenizer != "" {
			simNote(s, "tokens are counted by the simulator, not by %s", l.Dataset.Tokenizer)
			l.Dataset.Tokenizer = ""
		}
		if len(l.OfClass) == 0 && l.Dataset.Path != "" && !exists(l.Dataset.Path) {
			replaceDataset(s, l)
		}
		simulateClasses(s, l, exists)
	}
}

// simulateClasses replaces what this machine lacks of a load's classes.
func simulateClasses(s *scenarios.Scenario, l *scenarios.Load, exists func(path string) bool) {
	for i := range l.OfClass {
		own, class := &l.OfClass[i], &l.Classes[i]
		own.API, own.Endpoint, own.Dataset.Tokenizer = l.API, l.Endpoint, ""
		if own.Dataset.Path == "" || exists(own.Dataset.Path) {
			continue
		}
		replaceDataset(s, own)
		class.Dataset, class.DatasetPath, class.IgnoreEOS = own.Dataset.Kind, "", own.IgnoreEOS
		class.InputLen, class.OutputLen = own.InputLen, own.OutputLen
		l.Note = own.Note
	}
}

// replaceDataset puts random prompts of like lengths in the place of a file
// that is not there.
func replaceDataset(s *scenarios.Scenario, l *scenarios.Load) {
	was := l.Dataset
	like, ok := standIns()[was.Kind]
	if !ok {
		like = standIn{256, 128, 0.5}
	}
	if l.InputLen > 0 {
		like.input = l.InputLen
	}
	if l.OutputLen > 0 {
		like.output = l.OutputLen
	}

	l.Dataset = scenarios.Dataset{Kind: "random", Seed: was.Seed, Vary: was.Vary, RangeRatio: like.ratio}
	if l.OutputLen > 0 {
		l.Dataset.OutputRangeRatio = new(float64)
	}
	if was.Kind == "tok_inputs" {
		l.Dataset.TokenIDs, l.Dataset.VocabSize = true, 128000
	} else {
		l.IgnoreEOS = true
	}

	l.InputLen, l.OutputLen = like.input, like.output
	l.Note = fmt.Sprintf("dataset %s is not on this machine: random prompts of %d tokens and answers of %d on average "+
		"stand in for it", was.Kind, like.input, like.output)
	simNote(s, "%s (%s)", l.Note, was.Path)
}
