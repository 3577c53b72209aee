package parse

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/benchrig/bench/scenarios/parse/check"
	"github.com/benchrig/bench/scenarios/schema"
)

// An accepted scenario has a variant and a point, and unique names; a refused
// one says where. Nothing panics.
func FuzzParse(f *testing.F) {
	for _, pattern := range []string{"../*.yaml", "testdata/*/*.yaml"} {
		paths, err := filepath.Glob(pattern)
		if err != nil {
			f.Fatal(err)
		}
		for _, path := range paths {
			src, err := os.ReadFile(path)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(src, "load.num-prompts=8")
			f.Add(src, "variants.tp8.args.x={a: 1}")
		}
	}
	f.Fuzz(func(t *testing.T, src []byte, set string) {
		opts := testOptions("")
		opts.Set = []string{set}
		s, err := Source("a.yaml", src, opts)
		if err != nil {
			var errs schema.Errors
			if !errors.As(err, &errs) || len(errs) == 0 || errs[0].Pos.File == "" || errs[0].Msg == "" {
				t.Fatalf("Parse = %#v, want Errors with a place", err)
			}
			return
		}
		if len(s.Variants) == 0 || len(s.Points) == 0 {
			t.Fatalf("Parse accepts %d variants and %d points, want one of each", len(s.Variants), len(s.Points))
		}
		names := map[string]bool{}
		for _, v := range s.Variants {
			if names[v.Name] || !check.SafeName(v.Name) || v.Server.Launcher == "" {
				t.Fatalf("variant %q of launcher %q is not unique and safe", v.Name, v.Server.Launcher)
			}
			names[v.Name] = true
		}
		labels := map[string]bool{}
		for _, l := range s.Points {
			if labels[l.Label] || !check.SafeName(l.Label) || l.NumPrompts < 1 ||
				l.Endpoint == "" || l.API == "" {
				t.Fatalf("point %+v is not unique and complete", l)
			}
			labels[l.Label] = true
		}
	})
}
