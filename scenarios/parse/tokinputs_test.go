package parse_test

import (
	"strings"
	"testing"

	"github.com/benchrig/bench/scenarios"
	"github.com/benchrig/bench/scenarios/parse"
)

func TestTokInputs(t *testing.T) {
	read := func(load string) (*scenarios.Scenario, error) {
		return parse.Source("a.yaml", []byte("schema: 1\nserver: {launcher: simulator}\nload: "+load+"\n"),
			parse.Options{})
	}
	s, err := read("{dataset: {kind: tok_inputs, path: a.pkl, field: ids, oversample: false}, output-len: 1}")
	if err != nil {
		t.Fatal(err)
	}
	d := s.Points[0].Dataset
	if d.Shuffle || d.Oversample || d.Field != "ids" || s.Points[0].IgnoreEOS {
		t.Errorf("dataset = %+v, ignore-eos %v, want the file's order, no repeats, answers that end by themselves", d,
			s.Points[0].IgnoreEOS)
	}
	for load, want := range map[string]string{
		"{dataset: {kind: tok_inputs, path: a.pkl}}":   "load.output-len is missing",
		"{dataset: {kind: tok_inputs}, output-len: 1}": "load.dataset.path is missing",
		"{dataset: {kind: tok_inputs, path: a.pkl}, output-len: 1, input-len: 5}": "dataset tok_inputs has " +
			"lengths of its own",
		"{dataset: {kind: tok_inputs, path: a.pkl}, output-len: 1, endpoint: chat}": "endpoint chat takes " +
			"text, not token ids",
		"{dataset: {kind: tok_inputs, path: a.pkl, turns: 2}, output-len: 1}": "turns is not allowed here",
	} {
		if _, err := read(load); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", load, err, want)
		}
	}
}
