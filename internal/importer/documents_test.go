package importer

import (
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrig/bench/metrics"
	"github.com/benchrig/bench/results"
)

var update = flag.Bool("update", false, "write the golden files anew")

// imported imports files of testdata, or of another folder.
func imported(t *testing.T, o Options, paths ...string) *Imported {
	t.Helper()
	var sources []Source
	for _, path := range paths {
		if !strings.HasPrefix(path, "../") {
			path = filepath.Join("testdata", path)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		sources = append(sources, Source{filepath.Base(path), data})
	}
	got, err := Import(sources, o)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func published() []string {
	return []string{"switch.md", "two-pass.md", "mi300x.md", "strix-halo.md", "profiles.md"}
}

var numeral = regexp.MustCompile(`\d+(?:[.,]\d+)*`)

// Every numeral of a published comparison must be found where its line went: in
// a value, a heading, a command, a note. The exception is the title of a part of
// a block, "(excl. 1st token)", which is the same in all blocks.
func TestNoNumeralIsLost(t *testing.T) {
	for _, name := range published() {
		t.Run(name, func(t *testing.T) {
			got := imported(t, Options{}, "documents/"+name)
			at := map[int][]string{}
			put := func(line int, text string) { at[line] = append(at[line], numeral.FindAllString(text, -1)...) }
			for _, l := range got.Files[0].Lines {
				put(l.Line, l.Text)
			}
			for _, s := range got.Steps {
				for _, v := range s.Result.Imported.Stated {
					put(v.Line, v.Label+" "+v.Text)
				}
			}
			data, err := os.ReadFile(filepath.Join("testdata/documents", name))
			if err != nil {
				t.Fatal(err)
			}
			seen := 0
			for i, line := range strings.Split(string(data), "\n") {
				if isPart(strings.Trim(line, "-# ")) {
					continue
				}
				left := slices.Clone(at[i+1])
				for _, n := range numeral.FindAllString(line, -1) {
					seen++
					found := slices.Index(left, n)
					if found < 0 {
						t.Errorf("line %d: %s of %.120q is nowhere: there are %q", i+1, n, line, at[i+1])
						continue
					}
					left = slices.Delete(left, found, found+1)
				}
			}
			if seen < 20 || got.Files[0].Omitted != 0 {
				t.Errorf("%d numerals, %d lines left out", seen, got.Files[0].Omitted)
			}
		})
	}
}

// summary says of each step what tables show of it, and of each file what was
// not understood.
func summary(got *Imported) string {
	var b strings.Builder
	num := func(v *float64, scale float64) string {
		if v == nil {
			return "-"
		}
		return fmt.Sprintf("%.2f", *v*scale)
	}
	for _, s := range got.Steps {
		r := s.Result
		o := r.Imported
		fmt.Fprintf(&b, "%s: %s, %s, %s; %s line %d %v, reading %q\n", r.Step.ID, r.Step.Variant, r.Step.Point,
			r.Verdict, o.Format, o.Line, o.Also, o.Reading)
		for _, row := range r.LlamaBench {
			fmt.Fprintf(&b, "  %s %s %.2f ± %.2f %s\n", row.Model, row.Test, row.TokensPerS,
				deref(row.TokensPerSD), row.Build)
		}
		if f := r.Figures; f != nil {
			fmt.Fprintf(&b, "  %d/%d in %.2f s; %s %s %s", f.Completed, f.Asked, f.DurationS,
				num(f.RequestThroughput, 1), num(f.OutputThroughput, 1), num(f.TotalTokenThroughput, 1))
			for _, d := range []struct {
				name string
				d    results.Dist
			}{{"TTFT", f.TTFT}, {"TPOT", f.TPOT}, {"ITL", f.ITL}, {"E2EL", f.E2EL}} {
				fmt.Fprintf(&b, "; %s n%d %s/%s/%s", d.name, d.d.N, num(d.d.Mean, 1000), num(d.d.Median, 1000),
					num(metrics.At(d.d, 99), 1000))
			}
			fmt.Fprintln(&b)
		}
		server := r.Servers[0]
		fmt.Fprintf(&b, "  %s %q %v %q model %q; told %q; params %v; notes %q; records %d\n", server.Launcher,
			server.Argv, server.Env, server.Version, server.Model, o.StatedSettings, r.Params, s.Notes, len(s.Records))
		for _, w := range r.Warnings[1:] {
			fmt.Fprintf(&b, "  %s: %s\n", w.Code, w.Message)
		}
	}
	for _, f := range got.Files {
		fmt.Fprintf(&b, "%s: %s, %d results, %d lines, %d omitted\n", f.Name, f.Format, f.Results,
			len(f.Lines), f.Omitted)
		for _, l := range f.Lines {
			if l.Kind == results.LineNotFigures {
				fmt.Fprintf(&b, "  not understood: %d: %s\n", l.Line, l.Text)
			}
		}
	}
	return b.String()
}

func TestGoldens(t *testing.T) {
	parity := func(g string) string { return "../../metrics/testdata/vllm-run-" + g + ".json" }
	for _, tt := range []struct {
		name  string
		o     Options
		files []string
	}{
		{"switch", Options{}, []string{"documents/switch.md"}},
		{"two-pass", Options{}, []string{"documents/two-pass.md"}},
		{"mi300x", Options{}, []string{"documents/mi300x.md"}},
		{"strix-halo", Options{}, []string{"documents/strix-halo.md"}},
		{"profiles", Options{}, []string{"documents/profiles.md"}},
		{"vllm-saved", Options{}, []string{parity("v06"), parity("v010"), parity("newest")}},
		{"vllm-printed", Options{}, []string{"vllm-v06.stdout.txt", "vllm-v010.stdout.txt", "vllm-newest.stdout.txt"}},
		{"sglang", Options{}, []string{"sglang.txt", "sglang.jsonl"}},
		{"sideways", Options{}, []string{"sideways.md"}},
		{"llama-bench", Options{}, []string{
			"llama-bench.csv", "llama-bench.sql",
			"../llamabench/testdata/debian-11669.jsonl", "../llamabench/testdata/debian-11669.md",
		}},
		{"own", Options{}, []string{
			"../../results/testdata/result-measured.json", "../../report/testdata/ok.csv",
			"../../report/testdata/failures.csv",
		}},
		{"named", Options{VariantPattern: `^vllm-run-(?P<variant>v\d+)`, Sets: []Setting{
			{"gpus", "2 x X"},
			{"engine_version", "1.2"},
			{"num_prompts", "5"},
			{"rack", "7"},
		}}, []string{parity("v06"), parity("v010")}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := summary(imported(t, tt.o, tt.files...))
			path := "testdata/" + tt.name + ".golden"
			if *update {
				if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("import (-want +got):\n%s", diff)
			}
		})
	}
}

// What others computed from the published figures by other means.
func TestPublishedFigures(t *testing.T) {
	byVariant := func(got *Imported, variant string, of func(*results.Result) *float64) []float64 {
		var all []float64
		for _, s := range got.Steps {
			if s.Result.Step.Variant == variant {
				all = append(all, *of(s.Result))
			}
		}
		return all
	}
	near := func(name string, got, want, tolerance float64) {
		t.Helper()
		if math.Abs(got-want) > tolerance {
			t.Errorf("%s = %.5f, want %.5f", name, got, want)
		}
	}
	ab := imported(t, Options{}, "documents/switch.md")
	tpot := func(r *results.Result) *float64 { return r.Figures.TPOT.Mean }
	base, with := metrics.Mean(byVariant(ab, "Baseline (swizzle tensor not enabled)", tpot)),
		metrics.Mean(byVariant(ab, "Swizzle tensor enabled", tpot))
	near("change of mean TPOT in %", 100*(with/base-1), -2.48, 0.005)
	p99 := func(r *results.Result) *float64 { return metrics.At(r.Figures.TTFT, 99) }
	near("p99 TTFT in ms", 1000*metrics.Mean(byVariant(ab, "Swizzle tensor enabled", p99)), 16523.21, 0.005)

	machine := imported(t, Options{}, "documents/mi300x.md")
	for i, want := range map[int][2]float64{3: {0.7967, 0.6398}, 4: {0.7858, 0.4434}, 5: {0.8708, 0.7413}} {
		d := machine.Steps[i].Result.Servers[0].Speculation
		near("acceptance", *d.Rate, want[0], 5e-5)
		near("efficiency", *d.Efficiency, want[1], 5e-5)
	}
	halo := imported(t, Options{}, "documents/strix-halo.md")
	if len(halo.Steps) != 19 {
		t.Fatalf("%d steps, want 11 blocks and 8 runs of llama-bench: tables that sum blocks up are not results",
			len(halo.Steps))
	}
	places := 0
	for _, s := range halo.Steps[:11] {
		places += len(s.Result.Imported.Also)
	}
	if places != 16 {
		t.Errorf("%d rows of tables were found to be blocks, want all 16", places)
	}
	pp := func(i int) float64 { return halo.Steps[i].Result.LlamaBench[0].TokensPerS }
	near("gain of hipBLASLt, F16, in %", 100*(pp(18)/pp(17)-1), 12.51, 0.005)
}

func deref(v *float64) float64 {
	if v == nil {
		return math.NaN()
	}
	return *v
}
