package chart_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrig/bench/report/chart"
)

var (
	update = flag.Bool("update", false, "write the golden files")
	page   = flag.String("gallery", "", "write all charts as one page to this file, to be looked at")
)

func TestGolden(t *testing.T) {
	for _, d := range gallery() {
		t.Run(d.name, func(t *testing.T) {
			got := draw(t, d)
			if again := draw(t, d); again != got {
				t.Errorf("%s: drawn twice, it differs", d.name)
			}
			file := filepath.Join("testdata", d.name+".svg")
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(lines(string(want)), lines(got)); diff != "" {
				t.Errorf("%s differs from %s; look at it and run with -update (-want +got):\n%s", d.name, file, diff)
			}
		})
	}
}

// lines breaks an svg before each element.
func lines(svg string) []string { return strings.Split(strings.ReplaceAll(svg, "<", "\n<"), "\n") }

// TestGallery writes a page on demand; see the flag.
func TestGallery(t *testing.T) {
	if *page == "" {
		t.Skip("-gallery not set")
	}
	var html strings.Builder
	fmt.Fprintf(&html,
		`<!doctype html><meta charset="utf-8"><title>charts</title><style>%s%sbody{font:15px sans-serif;background:var(--bg);color:var(--fg);max-width:60rem;margin:1rem auto}</style>`, chart.Colors, chart.Style)
	for _, d := range gallery() {
		fmt.Fprintf(&html, "<h3>%s</h3>%s", d.name, draw(t, d))
	}
	if err := os.WriteFile(*page, []byte(html.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}
