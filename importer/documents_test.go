package importer

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"benchrig/metrics"
	"benchrig/results"
)

// document imports one of the published comparisons in testdata/documents.
func document(t *testing.T, name string) *Imported {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata/documents", name))
	if err != nil {
		t.Fatal(err)
	}
	got, err := Import([]Source{{name, data}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

var numeral = regexp.MustCompile(`\d+(?:[.,]\d+)*`)

// Every numeral of a document must be found where its line went: in a value, a
// heading, a command, a note. Progress bars and rules have none of their own.
func TestNoNumeralIsLost(t *testing.T) {
	for _, name := range []string{"switch.md", "two-pass.md", "mi300x.md", "strix-halo.md", "profiles.md"} {
		t.Run(name, func(t *testing.T) {
			got := document(t, name)
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

// summary is one line a step: what tables show of it.
func summary(got *Imported) []string {
	var lines []string
	num := func(v *float64, scale float64) string {
		if v == nil {
			return "-"
		}
		return fmt.Sprintf("%.2f", *v*scale)
	}
	for _, s := range got.Steps {
		r := s.Result
		if len(r.LlamaBench) > 0 {
			for _, row := range r.LlamaBench {
				lines = append(lines, fmt.Sprintf("%s: %s %s %.2f ± %.2f", r.Step.ID, r.Step.Variant, row.Test, row.TokensPerS, row.TokensPerSD))
			}
			continue
		}
		f := r.Figures
		lines = append(lines, fmt.Sprintf("%s: %s, %s, %s %d/%d %.2fs %s %s %s TTFT %s/%s/%s TPOT %s ITL %s", r.Step.ID, r.Step.Variant, r.Step.Point, r.Verdict, f.Completed, f.Asked, f.DurationS,
			num(f.RequestThroughput, 1), num(f.OutputThroughput, 1), num(f.TotalTokenThroughput, 1), num(f.TTFT.Mean, 1000), num(f.TTFT.Median, 1000), num(metrics.At(f.TTFT, 99), 1000),
			num(f.TPOT.Mean, 1000), num(f.ITL.Mean, 1000)))
	}
	return lines
}

func TestDocuments(t *testing.T) {
	for _, tt := range []struct {
		name string
		want []string
	}{
		{"switch.md", nil},
		{"mi300x.md", nil},
		{"strix-halo.md", nil},
		{"profiles.md", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, summary(document(t, tt.name))); diff != "" {
				t.Errorf("steps (-want +got):\n%s", diff)
			}
		})
	}
}

var _ = results.OK
