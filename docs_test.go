package bench

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	links    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	headings = regexp.MustCompile(`(?m)^#+ +(.*)$`)
	fences   = regexp.MustCompile("(?ms)^```.*?^```$")
)

// Links between the pages lead somewhere: to a file that exists, and to a
// heading of it.
func TestLinks(t *testing.T) {
	for _, page := range pages(t) {
		for _, m := range links.FindAllStringSubmatch(withoutFences(t, page), -1) {
			target := m[1]
			if strings.Contains(target, "://") || strings.HasPrefix(target, "mailto:") {
				continue
			}
			path, anchor, _ := strings.Cut(target, "#")
			to := page
			if path != "" {
				to = filepath.Join(filepath.Dir(page), path)
			}
			if _, err := os.Stat(to); err != nil {
				t.Errorf("%s: link to %s: %v", page, target, err)
				continue
			}
			if anchor != "" && !hasAnchor(t, to, anchor) {
				t.Errorf("%s: link to %s: no such heading", page, target)
			}
		}
	}
}

// pages lists the Markdown files of the project.
func pages(t *testing.T) []string {
	t.Helper()
	out := []string{"README.md", "CONTRIBUTING.md", "CHANGELOG.md"}
	err := filepath.WalkDir("docs", func(path string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(path, ".md") {
			out = append(out, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func withoutFences(t *testing.T, page string) string {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	return fences.ReplaceAllString(string(text), "")
}

// hasAnchor reports whether a page has a heading whose anchor, as code hosts make
// it, is the given one.
func hasAnchor(t *testing.T, page, anchor string) bool {
	t.Helper()
	drop := regexp.MustCompile(`[^\pL\pN _-]`)
	for _, m := range headings.FindAllStringSubmatch(withoutFences(t, page), -1) {
		if strings.ReplaceAll(drop.ReplaceAllString(strings.ToLower(m[1]), ""), " ", "-") == anchor {
			return true
		}
	}
	return false
}

// The page on ownership names for each kind of thing tests that exist.
func TestOwnershipNamesTests(t *testing.T) {
	page, err := os.ReadFile("docs/ownership.md")
	if err != nil {
		t.Fatal(err)
	}

	tests := map[string]bool{}
	err = filepath.WalkDir(".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		source, err := os.ReadFile(path)
		for _, m := range regexp.MustCompile(`(?m)^func (Test\w+)\(`).FindAllStringSubmatch(string(source), -1) {
			tests[m[1]] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}

	rows := 0
	_, table, _ := strings.Cut(string(page), "| kind | how bench recognizes its own")
	for line := range strings.Lines(table[:strings.Index(table, "\n\n")]) {
		named := regexp.MustCompile("`(Test\\w+)`").FindAllStringSubmatch(line, -1)
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "|---") {
			continue
		}
		rows++
		if len(named) == 0 {
			t.Errorf("no test: %.60s", line)
		}
		for _, m := range named {
			if !tests[m[1]] {
				t.Errorf("%s does not exist: %.60s", m[1], line)
			}
		}
	}
	const kinds = 10 // at least
	if rows < kinds {
		t.Errorf("the table has %d rows, want at least %d", rows, kinds)
	}
}

// The pages that say where a change goes name files that exist.
func TestNamedFilesExist(t *testing.T) {
	named := regexp.MustCompile("`((?:[a-z0-9_.]+/)+[a-z0-9_]+\\.(?:go|md|yaml))`")
	for _, page := range []string{"CONTRIBUTING.md", "docs/architecture.md"} {
		for _, m := range named.FindAllStringSubmatch(read(t, page), -1) {
			if m[1] == "dataset/lines.go" {
				continue // the worked example makes it
			}
			if _, err := os.Stat(m[1]); err != nil {
				t.Errorf("%s names %s: %v", page, m[1], err)
			}
		}
	}
}

// docs/architecture.md names every package.
func TestArchitectureNamesAllPackages(t *testing.T) {
	page := read(t, "docs/architecture.md")
	for pkg := range goFiles(t) {
		family := "`internal/" + "fake*`"
		isFake := strings.HasPrefix(pkg, "internal/fake") && strings.Contains(page, family)
		if pkg != "." && !isFake && !strings.Contains(page, "`"+pkg+"`") {
			t.Errorf("docs/architecture.md does not name %s", pkg)
		}
	}
}
