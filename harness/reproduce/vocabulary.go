package reproduce

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/benchrig/bench/dataset/tokenizer"
	"github.com/benchrig/bench/internal/userfile"
	"github.com/benchrig/bench/metrics/versus"
	"github.com/benchrig/bench/scenarios"
)

// vocabularies compare the token ids that the scenario draws with the vocabulary
// of each variant's model, where that is here: an id that the model does not
// have is a request that fails, or worse, one that does not.
func vocabularies(sc *scenarios.Scenario) (facts []versus.MachineFact, problems []string) {
	ids := drawnBelow(sc)
	if ids == 0 {
		return nil, nil
	}

	seen := map[string]bool{}
	for _, v := range sc.Variants {
		model := v.Server.Model
		if v.Original != nil || seen[model] { // a simulated server takes any id
			continue
		}
		seen[model] = true
		f := versus.MachineFact{
			What: "vocabulary of " + model, Origin: fmt.Sprintf("ids below %d", ids), State: versus.FactUnknown,
			Touches: "requests with ids that the model does not have",
		}
		has := vocabularyOf(scenarioPath(sc.Dir, model))
		switch {
		case has == 0:
			f.Here = "not known: the model's files are not here"
		case has < ids:
			f.Here, f.State = fmt.Sprintf("%d tokens", has), versus.FactDiffers
			problems = append(problems, fmt.Sprintf("the prompts have token ids below %d, and %s has %d tokens: "+
				"use the origin's model, or --set load.dataset.vocab-size=%d", ids, model, has, has))
		default:
			f.Here, f.State, f.Touches = fmt.Sprintf("%d tokens", has), versus.FactSame, ""
		}
		facts = append(facts, f)
	}

	return facts, problems
}

// drawnBelow is the bound of the ids that any point draws; 0: none does, or the
// tokenizer's file bounds them.
func drawnBelow(sc *scenarios.Scenario) int {
	most := 0
	for _, p := range sc.Points {
		if p.Dataset.TokenIDs {
			most = max(most, p.Dataset.VocabSize)
		}
	}
	return most
}

func scenarioPath(dir, model string) string {
	if filepath.IsAbs(model) {
		return model
	}
	return filepath.Join(dir, model)
}

// vocabularyOf is how many tokens the model at a path has, by its config.json or
// GGUF file; 0: not known.
func vocabularyOf(path string) int {
	if strings.HasSuffix(path, ".gguf") {
		t, err := tokenizer.Load(path)
		if err != nil {
			return 0
		}
		return t.VocabSize()
	}

	data, err := userfile.Read(filepath.Join(path, "config.json"), userfile.MaxText)
	if err != nil {
		return 0
	}
	var config struct {
		Vocab int `json:"vocab_size"`
		Text  struct {
			Vocab int `json:"vocab_size"`
		} `json:"text_config"`
	}
	if json.Unmarshal(data, &config) != nil {
		return 0
	}

	return max(config.Vocab, config.Text.Vocab, 0)
}
