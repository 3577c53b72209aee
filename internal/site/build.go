package main

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Files of the site beside its pages.
//
//go:embed assets/page.html
var pageText string

//go:embed assets/style.css
var styleText []byte

//go:embed assets/search.js
var searchText []byte

var pageTemplate = template.Must(template.New("page").Parse(pageText))

// home is the page that the site opens with.
const home = "README.md"

// link is a line of the list of pages.
type link struct {
	Title, Href string
	Here        bool
}

// view is what the template of a page shows.
type view struct {
	Title string
	Root  string // relative path to the site's top folder, with a slash; "" there
	Body  template.HTML
	Menu  []link
}

// build writes the site and returns how many pages it has.
func build(root, out string) (int, error) {
	sources, err := find(root)
	if err != nil {
		return 0, err
	}

	pages := make(map[string]*page)
	for _, source := range sources {
		text, err := os.ReadFile(filepath.Join(root, source))
		if err != nil {
			return 0, err
		}
		if pages[source], err = render(source, text); err != nil {
			return 0, fmt.Errorf("%s: %w", source, err)
		}
	}

	files, err := resolve(root, pages)
	if err != nil {
		return 0, err
	}
	for _, file := range files {
		if err := copyFile(filepath.Join(root, file), filepath.Join(out, file)); err != nil {
			return 0, err
		}
	}
	for _, source := range sources {
		if err := writePage(out, pages, source); err != nil {
			return 0, err
		}
	}

	return len(pages), writeSearch(out, pages)
}

// find lists the Markdown files of the project, the ones of the top folder first.
func find(root string) ([]string, error) {
	sources := []string{home, "CHANGELOG.md", "CONTRIBUTING.md"}
	err := filepath.WalkDir(filepath.Join(root, "docs"), func(file string, _ fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(file, ".md") {
			var source string
			source, err = filepath.Rel(root, file)
			sources = append(sources, filepath.ToSlash(source))
		}
		return err
	})

	return sources, err
}

// htmlName is the file of a page: README.md is what a folder opens with.
func htmlName(source string) string {
	folder, name := path.Split(source)
	if name == home {
		return folder + "index.html"
	}
	return strings.TrimSuffix(source, ".md") + ".html"
}

// resolve makes links between Markdown files links between pages, and returns the
// other files that are linked to. A link that leads nowhere is an error.
func resolve(root string, pages map[string]*page) ([]string, error) {
	files := make(map[string]bool)
	for _, source := range slices.Sorted(maps.Keys(pages)) {
		for _, target := range pages[source].links {
			to, err := url.Parse(string(*target))
			if err != nil {
				return nil, fmt.Errorf("%s: link to %q: %w", source, *target, err)
			}
			if to.IsAbs() || to.Host != "" {
				continue
			}

			file := source
			if to.Path != "" {
				file = path.Join(path.Dir(source), to.Path)
			}
			switch linked, isPage := pages[file]; {
			case isPage && (to.Fragment == "" || linked.anchors[to.Fragment]):
				if to.Path != "" {
					to.Path = relative(source, htmlName(file))
				}
				*target = []byte(to.String())
			case isPage:
				return nil, fmt.Errorf("%s: link to %q: no such heading", source, *target)
			default:
				info, err := os.Stat(filepath.Join(root, file))
				if err != nil || !info.Mode().IsRegular() || strings.HasPrefix(file, "..") {
					return nil, fmt.Errorf("%s: link to %q: no such file in the project", source, *target)
				}
				files[file] = true
			}
		}
	}

	return slices.Sorted(maps.Keys(files)), nil
}

// relative is the path from a page to a file of the site.
func relative(source, file string) string {
	return strings.Repeat("../", strings.Count(source, "/")) + file
}

func writePage(out string, pages map[string]*page, source string) error {
	body, err := pages[source].html()
	if err != nil {
		return fmt.Errorf("%s: %w", source, err)
	}
	v := view{
		Title: pages[source].title, Root: relative(source, ""), Body: template.HTML(body), //nolint:gosec // our own pages
	}
	for _, name := range slices.SortedFunc(maps.Keys(pages), byTitle(pages)) {
		v.Menu = append(v.Menu, link{pages[name].title, relative(source, htmlName(name)), name == source})
	}

	var text bytes.Buffer
	if err := pageTemplate.Execute(&text, v); err != nil {
		return fmt.Errorf("%s: %w", source, err)
	}

	return write(filepath.Join(out, htmlName(source)), text.Bytes())
}

// byTitle sorts pages for the menu: those of the top folder, then by title.
func byTitle(pages map[string]*page) func(a, b string) int {
	return func(a, b string) int {
		if n := strings.Count(a, "/") - strings.Count(b, "/"); n != 0 {
			return n
		}
		return strings.Compare(strings.ToLower(pages[a].title), strings.ToLower(pages[b].title))
	}
}

// entry is a section as the search knows it.
type entry struct {
	Page    string `json:"page"`
	Heading string `json:"heading"`
	Href    string `json:"href"` // from the site's top folder
	Text    string `json:"text"`
}

// writeSearch writes the search and what it searches, as a script: a browser reads
// no other file of a folder that no server serves.
func writeSearch(out string, pages map[string]*page) error {
	var entries []entry
	for _, source := range slices.SortedFunc(maps.Keys(pages), byTitle(pages)) {
		for _, s := range pages[source].sections {
			e := entry{Page: pages[source].title, Heading: s.heading, Href: htmlName(source), Text: s.text.String()}
			if s.anchor != "" {
				e.Href += "#" + s.anchor
			}
			entries = append(entries, e)
		}
	}
	index, err := json.Marshal(entries)
	if err != nil {
		return err
	}

	for name, text := range map[string][]byte{
		"style.css": styleText, "search.js": searchText,
		"index.js": []byte("const sections = " + string(index) + ";\n"),
	} {
		if err := write(filepath.Join(out, "assets", name), text); err != nil {
			return err
		}
	}

	return nil
}

func copyFile(from, to string) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return write(to, text)
}

func write(file string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, text, 0o644)
}
