package vllmcli

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"

	"github.com/benchrig/bench/load/spec"
)

// parsedWords parses arguments that have blanks in them.
func parsedWords(args ...string) (*Flags, error) {
	var f Flags
	fs := pflag.NewFlagSet("load", pflag.ContinueOnError)
	f.AddFlags(fs)
	return &f, f.Parse(fs, args)
}

func TestClasses(t *testing.T) {
	f, err := parsedWords("--num-prompts", "8", "--random_input_len", "32", "--random-output-len=4", "--seed", "5",
		"--goodput", "ttft:100", "tpot:20", "--extra-body", `{"a":1}`,
		"--class", "chat 3 --lora-modules x:3 y --temperature 0.5 --goodput e2el:2000",
		"--class", "batch 1 --random-input-len 512 --priority 7 --extra-body.b 2")
	if err != nil {
		t.Fatal(err)
	}
	o, err := f.Options()
	if err != nil {
		t.Fatal(err)
	}
	zero5 := 0.5
	want := []spec.Class{
		{
			Name: "chat", Share: 0.75, Adapters: []spec.Adapter{{Name: "x", Share: 0.75}, {Name: "y", Share: 0.25}},
			Dataset: "random", InputLen: 32, OutputLen: 4, IgnoreEOS: true,
			Sampling: spec.Sampling{Temperature: &zero5},
			Body:     map[string]any{"a": json.Number("1")}, GoodputS: map[string]float64{"e2el": 2},
		},
		{
			Name: "batch", Share: 0.25, Dataset: "random", InputLen: 512, OutputLen: 4, IgnoreEOS: true,
			Body:     map[string]any{"b": json.Number("2"), "priority": 7},
			GoodputS: map[string]float64{"ttft": 0.1, "tpot": 0.02},
		},
	}
	if diff := cmp.Diff(want, o.Classes); diff != "" {
		t.Errorf("classes (-want +got):\n%s", diff)
	}

	orders, err := f.Specs()
	if err != nil || len(orders) != 2 {
		t.Fatalf("orders: %v, %v", orders, err)
	}
	if orders[0].N != 6 || orders[1].N != 2 || orders[0].Seed != 5 || orders[1].Seed != 5+spec.ClassSeed {
		t.Errorf("prompts of the classes: %d with seed %d, %d with seed %d", orders[0].N, orders[0].Seed, orders[1].N,
			orders[1].Seed)
	}
}

func TestBadClasses(t *testing.T) {
	for _, tt := range []struct{ class, want string }{
		{"chat", "want NAME SHARE FLAGS"},
		{"--seed 3", "want NAME SHARE FLAGS"},
		{"chat much", `share "much": want a number above 0`},
		{"chat 1 --seed 3", "--seed is for the whole load, not for a class"},
		{"chat 1 --request-rate 3", "--request-rate is for the whole load, not for a class"},
		{"chat 1 --class x", "--class is for the whole load, not for a class"},
		{"chat 1 --no-such 3", "unknown flag"},
		{"chat 1 --dataset-name speed_bench", "is not supported"},
		{"chat 0.0001", "gets none of 4 prompts"},
	} {
		_, err := parsedWords("--num-prompts", "4", "--class", tt.class, "--class", "other 10")
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("--class %q: %v, want an error with %q", tt.class, err, tt.want)
		}
	}
	if _, err := parsedWords("--class", "a 1", "--class", "a 1"); err == nil {
		t.Error("two classes of one name are no error")
	}
	if _, err := parsedWords("--class", "a 1", "--compat", "vllm"); err == nil {
		t.Error("--class with --compat is no error")
	}
}
