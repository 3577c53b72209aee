package main

import (
	"bytes"
	"context"
	"net/url"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

const project = "../.."

var (
	targets = regexp.MustCompile(`(?:href|src|action)="([^"]*)"`)
	ids     = regexp.MustCompile(`\bid="([^"]*)"`)
)

// The site of this project: every link within it leads to a file and an anchor of
// it, and no page loads anything from elsewhere.
func TestSite(t *testing.T) {
	t.Parallel()
	out := t.TempDir()
	count, err := build(project, out)
	if err != nil {
		t.Fatal(err)
	}
	pages := make(map[string]string)
	err = filepath.Walk(out, func(file string, info os.FileInfo, err error) error {
		if err == nil && strings.HasSuffix(file, ".html") {
			var text []byte
			text, err = os.ReadFile(file)
			name, _ := filepath.Rel(out, file)
			pages[name] = string(text)
		}
		return err
	})
	if err != nil || len(pages) != count || count < 25 {
		t.Fatalf("%d pages, build() says %d, want 25 at least: %v", len(pages), count, err)
	}

	for name, text := range pages {
		for _, match := range targets.FindAllStringSubmatch(text, -1) {
			to, err := url.Parse(strings.ReplaceAll(match[1], "&amp;", "&"))
			if err != nil {
				t.Errorf("%s: %q: %v", name, match[1], err)
				continue
			}
			if to.IsAbs() {
				if !strings.HasPrefix(match[0], "href=") {
					t.Errorf("%s: loads %s", name, to)
				}
				continue
			}
			file := name
			if to.Path != "" {
				file = path.Join(path.Dir(name), to.Path)
			}
			if _, err := os.Stat(filepath.Join(out, file)); err != nil {
				t.Errorf("%s: link to %s: %v", name, to, err)
			}
			if to.Fragment != "" && !strings.Contains(pages[file], `id="`+to.Fragment+`"`) {
				t.Errorf("%s: link to %s: no such anchor", name, to)
			}
		}
		seen := make(map[string]bool)
		for _, match := range ids.FindAllStringSubmatch(text, -1) {
			if seen[match[1]] {
				t.Errorf("%s: two elements have the id %s", name, match[1])
			}
			seen[match[1]] = true
		}
	}

	index, err := os.ReadFile(filepath.Join(out, "assets", "index.js"))
	for _, want := range []string{"docs/containers.html#out-of-memory", "HF_TOKEN", "docs/metrics.html"} {
		if err != nil || !bytes.Contains(index, []byte(want)) {
			t.Errorf("the search knows nothing of %q: %v", want, err)
		}
	}
}

// A browser finds a section by its words, without a server.
func TestSearch(t *testing.T) {
	t.Parallel()
	browser, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("chromium is not installed")
	}
	out := t.TempDir()
	if _, err := build(project, out); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, browser, "--headless", "--no-sandbox", "--disable-gpu",
		"--user-data-dir="+t.TempDir(), "--dump-dom", "file://"+out+"/docs/index.html?q=kernel+memory+limit+worker")
	cmd.WaitDelay = time.Second
	page, err := cmd.Output()
	if err != nil || !bytes.Contains(page, []byte(`href="../docs/containers.html#out-of-memory"`)) ||
		!bytes.Contains(page, []byte(`<article hidden="">`)) {
		t.Errorf("the page after a search, %v:\n%.2000s", err, page)
	}
}

// Pages that would make a site with a hole in it.
func TestBrokenLinks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, want string }{
		{"[x](docs/no.md)", "no such file"},
		{"[x](docs/a.md#no)", "no such heading"},
		{"[x](../../etc/passwd)", "no such file in the project"},
		{"![x](no.png)", "no such file"},
		{"[x](docs)", "no such file"},
		{"[x](docs/a.md#one-two) [y](docs/a.md) [z](https://example.com/no) [u](#top) [v](LICENSE)\n\n# Top\n", ""},
	} {
		root := t.TempDir()
		for name, text := range map[string]string{
			"README.md": c.text, "CHANGELOG.md": "# C\n", "CONTRIBUTING.md": "# C\n",
			"docs/a.md": "# One, two\n", "LICENSE": "",
		} {
			if err := write(filepath.Join(root, name), []byte(text)); err != nil {
				t.Fatal(err)
			}
		}
		_, err := build(root, t.TempDir())
		if (c.want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("build() of %q: %v, want %q", c.text, err, c.want)
		}
	}
}

// Markup in the text of a page is shown as text.
func TestHostilePage(t *testing.T) {
	t.Parallel()
	p, err := render("x.md", []byte("# <script>alert(1)</script>\n\n<img src=x onerror=alert(1)>\n\n[a](javascript:alert(1))\n"))
	if err != nil {
		t.Fatal(err)
	}
	body, err := p.html()
	if err != nil || bytes.Contains(body, []byte("<script")) || bytes.Contains(body, []byte("<img")) ||
		bytes.Contains(body, []byte("javascript:")) {
		t.Errorf("html() = %s, %v, want no markup of the page's own", body, err)
	}
}
