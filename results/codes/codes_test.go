package codes

import (
	"flag"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite docs/codes.md")

// Every code of the format has an entry, once, and there is no other.
func TestEveryCodeIsExplained(t *testing.T) {
	source, err := os.ReadFile("../verdict.go")
	if err != nil {
		t.Fatal(err)
	}
	for kind, entries := range map[string][]Entry{"WarningCode": Warnings(), "FailureClass": Failures()} {
		var want, got []string
		for _, m := range regexp.MustCompile(kind+`\s*= "([a-z0-9-]+)"`).FindAllStringSubmatch(string(source), -1) {
			want = append(want, m[1])
		}
		for _, e := range entries {
			got = append(got, e.Code)
			if e.Meaning == "" || e.Why == "" || e.Do == "" || e.Severity == "" {
				t.Errorf("%s: an empty text in %+v", e.Code, e)
			}
		}
		slices.Sort(want)
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-results +codes):\n%s", kind, diff)
		}
	}
}

func TestFind(t *testing.T) {
	if got := Find("hook-failed"); len(got) != 2 {
		t.Errorf("Find(hook-failed) = %v, want the warning and the failure", got)
	}
	if got := Find("none"); len(got) != 0 {
		t.Errorf("Find(none) = %v, want nothing", got)
	}
	if diff := cmp.Diff([]string{"few-samples", "few-slots"}, Like("few")); diff != "" {
		t.Errorf("Like(few) (-want +got):\n%s", diff)
	}
}

func TestPage(t *testing.T) {
	var page strings.Builder
	if err := markdown(&page); err != nil {
		t.Fatal(err)
	}
	const path = "../../docs/codes.md"
	if *update {
		if err := os.WriteFile(path, []byte(page.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), page.String()); diff != "" {
		t.Errorf("docs/codes.md is not what the program says; run this test with -update (-page +program):\n%s", diff)
	}
}
