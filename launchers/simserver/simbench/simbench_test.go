package simbench

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/benchrig/bench/launchers/simserver/simengine"
)

func parsed(t *testing.T, args ...string) Settings {
	t.Helper()
	b, err := parseArgs(args, func(string) (string, bool) { return "", false })
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// The sizes and rates are near those that llama-bench printed on such a
// machine, and the figures are the same at any speed.
func TestLlamaBench(t *testing.T) {
	t.Parallel()
	b := parsed(t, "-m", "llama-2-7b.Q4_K_M.gguf,Llama-2-7b.f16.gguf", "-fa", "1", "--mmap", "0", "-r", "3",
		"-o", "jsonl",
		"--sim-device", "strix-halo", "--sim-speed", "2000", "--sim-life-noise", "0")
	var out bytes.Buffer
	if err := b.Run(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	want := []struct {
		prompt, gen int
		size        float64 // GiB
		rate        float64 // tokens/s
	}{{512, 0, 3.80, 1000}, {0, 128, 3.80, 34}, {512, 0, 12.55, 1000}, {0, 128, 12.55, 13.9}}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != len(want) {
		t.Fatalf("%d results, want %d:\n%s", len(lines), len(want), out.String())
	}
	for i, w := range want {
		var r result
		if err := json.Unmarshal([]byte(lines[i]), &r); err != nil {
			t.Fatal(err)
		}
		size := float64(r.Size) / simengine.Gib
		if r.Prompt != w.prompt || r.Generated != w.gen || size < w.size-0.01 || size > w.size+0.01 ||
			r.Rate < 0.9*w.rate || r.Rate > 1.1*w.rate || len(r.SamplesNS) != 3 {
			t.Errorf("result %d: p %d n %d, %.2f GiB, %.2f t/s of %d samples, want p %d n %d, %.2f GiB, about %.1f "+
				"t/s of 3",
				i, r.Prompt, r.Generated, size, r.Rate, len(r.SamplesNS), w.prompt, w.gen, w.size, w.rate)
		}
	}
}

func TestLlamaBenchForms(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		form string
		want []string
	}{
		{"md", []string{
			"| model |", "| llama 2 7b Q8_0 | 6.67 GiB | 6.74 B | simulated | 33 | 0 | pp8 |", "tg4 @ d16",
			"pp8+tg4", "build: simulator",
		}},
		{"json", []string{"[\n", `"avg_ts"`, `"n_depth": 16`}},
	} {
		b := parsed(t, "-m", "llama-2-7b.Q8_0.gguf", "-p", "8", "-n", "4", "-pg", "8,4", "-d", "0,16", "-ngl",
			"33", "-r", "2", "-o", c.form, "--sim-speed", "10000")
		var out bytes.Buffer
		if err := b.Run(t.Context(), &out); err != nil {
			t.Fatal(err)
		}
		for _, want := range c.want {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%s: no %q in\n%s", c.form, want, out.String())
			}
		}
	}
	for args, want := range map[string]string{
		"-p 8": "want a model", "-m a -o sql": "unknown format", "-m a -pg 3": "PROMPT,GENERATED",
		"-m a -r 0": "above 0", "-m a --sim-device tpu": "tpu",
	} {
		if err := parsed(t, strings.Fields(args)...).Run(t.Context(), &bytes.Buffer{}); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("llama-bench %s: %v, want %q", args, err, want)
		}
	}
}
