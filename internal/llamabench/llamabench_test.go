package llamabench

import (
	"math"
	"os"
	"strings"
	"testing"
)

func read(t *testing.T, name string) []Row {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// One program printed the three files in turn: everything but the speeds
// agrees, and what Markdown rounds agrees within its rounding.
func TestForms(t *testing.T) {
	lines, whole, table := read(t, "debian-11669.jsonl"), read(t, "debian-11669.json"), read(t, "debian-11669.md")
	if len(lines) != 12 || len(whole) != 12 || len(table) != 12 {
		t.Fatalf("%d, %d and %d rows, want 12 each", len(lines), len(whole), len(table))
	}
	for i := range lines {
		a, b, c := lines[i], whole[i], table[i]
		if a.Test() != b.Test() || a.Test() != c.Test() || a.Model != b.Model || a.Model != c.Model || a.Build != b.Build || a.Build != c.Build {
			t.Errorf("row %d: %s %s %q, %s %s %q, %s %s %q", i, a.Model, a.Test(), a.Build, b.Model, b.Test(), b.Build, c.Model, c.Test(), c.Build)
		}
		if a.SizeBytes != b.SizeBytes || math.Abs(float64(a.SizeBytes-c.SizeBytes)) > 0.01*float64(1<<20) {
			t.Errorf("row %d: size %d, %d, %d", i, a.SizeBytes, b.SizeBytes, c.SizeBytes)
		}
		if a.Threads != 2 || c.Threads != 2 || a.Backend != "CPU" || c.Backend != "CPU" || a.FlashAttn != "1" || c.FlashAttn != "1" {
			t.Errorf("row %d: threads %d, %d, backend %s, %s, fa %q, %q", i, a.Threads, c.Threads, a.Backend, c.Backend, a.FlashAttn, c.FlashAttn)
		}
		if len(a.SamplesS) != 2 || a.TokensPerS <= 0 || c.TokensPerS <= 0 {
			t.Errorf("row %d: %d samples, %v and %v tokens/s", i, len(a.SamplesS), a.TokensPerS, c.TokensPerS)
		}
	}
	if got := lines[0].Test() + " " + lines[5].Test(); got != "pp16 pp16+tg8 @ d32" {
		t.Errorf("tests %q", got)
	}
}

// A published table, its sign lost on the way through encodings.
func TestPublished(t *testing.T) {
	rows := read(t, "strix-halo.md")
	if len(rows) != 4 {
		t.Fatalf("%d rows, want 4", len(rows))
	}
	r := rows[2]
	if r.Model != "llama 7B F16" || r.Prompt != 512 || r.TokensPerS != 1189.21 || r.TokensPerSD != 4.65 || *r.GPULayers != 99 || r.Build != "4d74393bc (6327)" {
		t.Errorf("row = %+v", r)
	}
	if gain := rows[2].TokensPerS/1056.97 - 1; math.Abs(gain-0.1251) > 5e-5 {
		t.Errorf("gain of hipBLASLt %.4f, published 12.51 %%", gain)
	}
	if gb := float64(r.SizeBytes) / 1e9; math.Abs(gb-13.48) > 0.006 {
		t.Errorf("size %.3f GB, published 13.48", gb)
	}
}

func TestParseErrors(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"empty", "", "no result"},
		{"another table", "| a | b |\n|---|---|\n| 1 | 2 |\n", "no result"},
		{"crashed", "{\"error\": \"no model\"}\nmain: error\n", "no result"},
		{"short row", "| test | t/s |\n|---|---|\n| pp512 |\n", "a row of 1 cells under 2 heads"},
		{"odd test", "| test | t/s |\n|---|---|\n| xx5 | 1 |\n", `column "test": "xx5" is no test`},
		{"odd speed", "| test | t/s |\n|---|---|\n| pp5 | fast |\n", `column "t/s": "fast" is no speed`},
		{"odd size", "| size | test | t/s |\n|---|---|---|\n| 5 | pp5 | 1 |\n", `"5" is no amount`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			rows, err := Parse([]byte(tt.in))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Parse = %v, %v; want an error with %q", rows, err, tt.want)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	for _, name := range []string{"debian-11669.json", "debian-11669.jsonl", "debian-11669.md", "strix-halo.md"} {
		data, err := os.ReadFile("testdata/" + name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data[:min(len(data), 4000)])
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		rows, err := Parse(data)
		if (err == nil) == (len(rows) == 0) {
			t.Errorf("%d rows and error %v", len(rows), err)
		}
	})
}
