package reproduce

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/benchrig/bench/metrics/versus"
	"github.com/benchrig/bench/scenarios"
)

// Token ids that the model here does not have are a problem before anything is
// started.
func TestVocabularyIsCheckedBefore(t *testing.T) {
	dir := t.TempDir()
	for name, config := range map[string]string{
		"small": `{"vocab_size": 32000}`, "large": `{"vocab_size": 128256}`,
		"vision": `{"text_config": {"vocab_size": 128256}}`, "broken": `{`,
	} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name, "config.json"), []byte(config), 0o644); err != nil {
			t.Fatal(err)
		}
	}

	for _, tt := range []struct {
		model   string
		ids     bool
		state   versus.FactState
		problem string
	}{
		{"small", true, versus.FactDiffers, "token ids below 128000, and small has 32000 tokens"},
		{"large", true, versus.FactSame, ""},
		{"vision", true, versus.FactSame, ""},
		{filepath.Join(dir, "large"), true, versus.FactSame, ""},
		{"broken", true, versus.FactUnknown, ""},
		{"meta-llama/Llama-3.1-8B", true, versus.FactUnknown, ""},
		{"small", false, "", ""},
	} {
		sc := &scenarios.Scenario{
			Dir:      dir,
			Variants: []scenarios.Variant{{Name: "v", Server: scenarios.Server{Model: tt.model}}},
			Points:   []scenarios.Load{{Dataset: scenarios.Dataset{TokenIDs: tt.ids, VocabSize: 128000}}},
		}
		facts, problems := vocabularies(sc)
		var state versus.FactState
		if len(facts) > 0 {
			state = facts[0].State
		}
		if state != tt.state || !strings.Contains(strings.Join(problems, "; "), tt.problem) ||
			(len(problems) > 0) != (tt.problem != "") {
			t.Errorf("%s: %+v, problems %q; want %q and %q", tt.model, facts, problems, tt.state, tt.problem)
		}
	}
}
