package llamabench

import (
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/benchrig/bench/results"
)

func read(t *testing.T, name string) []results.LlamaBenchRow {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	out, err := Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	if len(out.Notes) > 0 {
		t.Errorf("%s: notes %q, want none", name, out.Notes)
	}
	return out.Rows
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
		if a.Test != b.Test || a.Test != c.Test || a.Model != b.Model || a.Model != c.Model || a.Build != b.Build ||
			a.Build != c.Build {
			t.Errorf("row %d: %s %s %q, %s %s %q, %s %s %q", i, a.Model, a.Test, a.Build, b.Model, b.Test, b.Build,
				c.Model, c.Test, c.Build)
		}
		if a.SizeBytes != b.SizeBytes || math.Abs(float64(a.SizeBytes-c.SizeBytes)) > 0.01*float64(1<<20) {
			t.Errorf("row %d: size %d, %d, %d", i, a.SizeBytes, b.SizeBytes, c.SizeBytes)
		}
		if a.Threads != 2 || c.Threads != 2 || a.Backend != "CPU" || c.Backend != "CPU" || a.FlashAttn != "1" ||
			c.FlashAttn != "1" {
			t.Errorf("row %d: threads %d, %d, backend %s, %s, fa %q, %q", i, a.Threads, c.Threads, a.Backend, c.Backend,
				a.FlashAttn, c.FlashAttn)
		}
		if len(a.SamplesS) != 2 || a.TokensPerS <= 0 || c.TokensPerS <= 0 {
			t.Errorf("row %d: %d samples, %v and %v tokens/s", i, len(a.SamplesS), a.TokensPerS, c.TokensPerS)
		}
	}
	if got := lines[0].Test + " " + lines[5].Test; got != "pp16 pp16+tg8 @ d32" {
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
	if r.Model != "llama 7B F16" || r.Prompt != 512 || r.TokensPerS != 1189.21 || *r.TokensPerSD != 4.65 ||
		*r.GPULayers != 99 || r.Build != "4d74393bc (6327)" {
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
		{"odd test", "| test | t/s |\n|---|---|\n| xx5 | 1 |\n", `column "test": "xx5" is not a test`},
		{"odd speed", "| test | t/s |\n|---|---|\n| pp5 | fast |\n", `column "t/s": "fast" is not a speed`},
		{
			"a speed that is not a number", "| test | t/s |\n|---|---|\n| pp5 | nan ± nan |\n",
			`column "t/s": "nan ± nan" is not a speed`,
		},
		{"cut off", `[{"build_commit": "a", "n_prompt": 5, "avg_`, "line 1: a test that is not complete"},
		{"odd size", "| size | test | t/s |\n|---|---|---|\n| 5 | pp5 | 1 |\n", `"5" is not an amount`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			out, err := Parse([]byte(tt.in))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Parse = %v, %v; want an error with %q", out, err, tt.want)
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
		out, err := Parse(data)
		if (err == nil) == (len(out.Rows) == 0) {
			t.Errorf("%d rows and error %v", len(out.Rows), err)
		}
	})
}

func row(more string) string {
	return `{"build_commit":"abc","build_number":1,"model_filename":"m.gguf","n_batch":2048,"n_prompt":64,"n_gen":0,"avg_ts":20.0` + more + `}`
}

// Rows are kept whatever is around them and whatever is wrong with their
// deviation; what is left out is noted.
func TestParseDamaged(t *testing.T) {
	five := `,"samples_ts":[10.5435,10.399,10.4702,10.5307,10.7475]`
	tests := []struct {
		name, in string
		rows     int
		sd       string // of the first row
		note     string // "": none
	}{
		{"a deviation that is nan", row(`,"stddev_ts":nan` + five), 1, "0.1303", "stddev_ts is not a number"},
		{"signed and in capitals", row(`,"stddev_ts": -NaN` + five), 1, "0.1303", "stddev_ts is not a number"},
		{"infinite", row(`,"stddev_ts":inf` + five), 1, "0.1303", "stddev_ts is not a number"},
		{"nan of one sample", row(`,"stddev_ts":nan,"samples_ts":[20.0]`), 1, "null", "one sample has no deviation"},
		{"absurd", row(`,"stddev_ts":3.229` + five), 1, "0.1303", "stddev_ts is 3.229"},
		{
			"as the samples say", strings.Replace(row(`,"stddev_ts":0.1303`+five), "20.0", "10.5382", 1), 1,
			"0.1303", "",
		},
		{"of other samples than the speed", row(`,"stddev_ts":0.1303` + five), 1, "0.1303", "a mean of 10.54"},
		{"in quotation marks", row(`,"stddev_ts":"NaN"` + five), 1, "0.1303", "stddev_ts is not a number"},
		{"from the times", row(`,"stddev_ts":null,"samples_ns":[3.2e9,1.6e9]`), 1, "14.14", "of the samples"},
		{"below zero", row(`,"stddev_ts":-1`), 1, "null", "cannot be"},
		{"absurd without samples", row(`,"stddev_ts":1e6`), 1, "null", "stddev_ts is 1e+06, which cannot be"},
		{"absurd in a table", "| test | t/s |\n|---|---|\n| pp5 | 20 ± 1e9 |\n", 1, "null", "deviation is 1e9"},
		{"nan in a table", "| test | t/s |\n|---|---|\n| pp5 | 20 ± nan |\n", 1, "null", "deviation is nan"},
		{
			"a speed that is not a number", strings.Replace(row(five), "20.0", `"NaN"`, 1), 1, "0.1303",
			"the speed is the mean of the samples",
		},
		{"no samples", row(`,"stddev_ts":0.5`), 1, "0.5", ""},
		{"nan among texts", "nan, \"x: nan\"\n" + row(`,"stddev_ts":0.5,"gpu_info":"nan: nan"`), 1, "0.5", ""},
		{"an array after noise", "ggml_vulkan: Found 1 devices:\nggml: 0 = \"X\" | {uma: 0} [a]\n[\n" + row("") +
			",\n" + row("") + "\n]\n[1]  11372 segmentation fault\n", 2, "null", ""},
		{
			"an array that was cut off", "[\n" + row("") + ",\n" + row("")[:60], 1, "null",
			"line 3: a test that is not complete",
		},
		{"within another program's row", `{"mode":"pp","build":"hip","hipblaslt":1,"bench_raw":` +
			row(`,"stddev_ts":0.5`) + `}`, 1, "0.5", ""},
		{"a list within another program's row", `{"bench_raw":[` + row("") + `]}`, 1, "null", ""},
		{"text of its output", `{"bench_raw":` + strconv.Quote(row(`,"stddev_ts":0.5`)) + `}`, 1, "0.5", ""},
		{"deep within", `{"runs":[{"cases":[[` + row("") + `]]}]}`, 1, "null", ""},
		{"nothing within", row("") + "\n" + `{"bench_raw":{"error":"x"}}`, 1, "null", "no test that can be read"},
		{"a field of another kind", row("") + "\n" + row(`,"n_batch":"many"`), 2, "null", ""},
		{"no length", row("") + "\n" + row(`,"n_prompt":0`), 1, "null", "a test of no tokens"},
		{"a length below zero", row("") + "\n" + row(`,"n_prompt":-5`), 1, "null", "n_prompt is -5"},
		{"a length in words", row("") + "\n" + row(`,"n_prompt":"many"`), 1, "null", "n_prompt is many"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			out, err := Parse([]byte(tt.in))
			if err != nil {
				t.Fatal(err)
			}
			if len(out.Rows) != tt.rows {
				t.Fatalf("%d rows, want %d; notes %q", len(out.Rows), tt.rows, out.Notes)
			}
			sd := "null"
			if v := out.Rows[0].TokensPerSD; v != nil {
				sd = strconv.FormatFloat(*v, 'g', 4, 64)
			}
			if sd != tt.sd {
				t.Errorf("deviation %s, want %s", sd, tt.sd)
			}
			if notes := strings.Join(out.Notes, "; "); tt.note == "" && notes != "" ||
				!strings.Contains(notes, tt.note) {
				t.Errorf("notes %q, want %q", notes, tt.note)
			}
		})
	}
}

// Rows that differ in any member are different tests, whatever its kind and
// whoever wrote it.
func TestRowsThatDiffer(t *testing.T) {
	plain := row(`,"list":[1],"object":{"a":1},"switch":false,"word":"a"`)
	wrapped := func(more string) string { return `{"start_time":"2025","bench_raw":` + plain + more + `}` }
	tests := []struct {
		name, a, b string
		same       bool
	}{
		{"twice", plain, plain, true},
		{
			"measurements", plain, row(`,"list":[1],"object":{"a":1},"switch":false,"word":"a","test_time":"x","avg_ns":3`),
			true,
		},
		{"a list", plain, strings.Replace(plain, "[1]", "[1,2]", 1), false},
		{"an object", plain, strings.Replace(plain, `{"a":1}`, `{"a":2}`, 1), false},
		{"a switch", plain, strings.Replace(plain, "false", "true", 1), false},
		{"a word", plain, strings.Replace(plain, `"word":"a"`, `"word":"b"`, 1), false},
		{"a folder of the model", plain, strings.Replace(plain, "m.gguf", "other/m.gguf", 1), false},
		{"a kind of model", plain, row(`,"list":[1],"object":{"a":1},"switch":false,"word":"a","model_type":"y"`), false},
		{"a size of model", plain, row(`,"list":[1],"object":{"a":1},"switch":false,"word":"a","model_size":5`), false},
		{"a count in words", plain, strings.Replace(plain, "2048", `"many"`, 1), false},
		{"a count in quotation marks", plain, strings.Replace(plain, "2048", `"2048"`, 1), true},
		{"times of the program around", wrapped(""), strings.Replace(wrapped(""), "2025", "2026", 1), true},
		{"a word of the program around", wrapped(`,"env":"A=1"`), wrapped(`,"env":"A=2"`), false},
		{"a switch of the program around", wrapped(`,"hipblaslt":0`), wrapped(`,"hipblaslt":1`), false},
		{"a measurement of the program around", wrapped(`,"max_power_w":90`), wrapped(`,"max_power_w":95`), true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			out, err := Parse([]byte(tt.a + "\n" + tt.b))
			if err != nil || len(out.Rows) != 2 {
				t.Fatalf("%d rows, error %v; want 2; notes %q", len(out.Rows), err, out.Notes)
			}
			if same := out.Rows[0].SameTest(out.Rows[1]); same != tt.same {
				t.Errorf("same test: %v, want %v: %+v and %+v", same, tt.same, out.Rows[0], out.Rows[1])
			}
		})
	}
}
