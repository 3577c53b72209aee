package bench

import (
	"go/scanner"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// forbiddenWords read as if translated, or mean something else in the field.
// Each has what to write in its place. Code, help and docs do without them.
var forbiddenWords = []struct{ pattern, instead string }{
	{`\S+ (?:is|are) none\b`, "is not a NOUN (there is none is right)"},
	{`\b(?:which|that|what|it|this|who) (?:is|are) no [a-z]+`, "is not a NOUN"},
	{`\b(?:tells?|told|telling) of\b`, "reports, shows, names"},
	{`\b(?:hurry|hurries|hurried)\b`, "kill now"},
	{`\bspare[sd]\b`, "not needed, skips, saves"},
	{`\bheed(?:s|ed)?\b`, "applies, ignores"},
	{
		`\b(?:muster|crew|obituary|intruder|newsOfProcess|awaitObituary|hurrySignal|StepSpared|StepDoubt)s?\b`,
		"companions, exit notice, another process",
	},
	{`\bthe same of\b`, "name the thing again"},
	{`\bas those do\b`, "name the thing again"},
	{`\bwhat of it\b`, "name the thing again"},
	{`\bwhat is had\b`, "name the thing"},
	{`\b[Ww]e(?:'re|'ve|'ll)?\b`, "bench"},
	{`\b(?:[Tt]he|[Aa]|[Tt]his|[Oo]ur|[Yy]our) box(?:es)?\b`, "machine"},
	{`\bto the letter\b`, "exactly"},
	{`\bwhose process is whose\b`, "process ownership"},
}

// quotedWords are lines in which a forbidden word is right, by file: words of
// others, or of the language itself.
var quotedWords = map[string]string{
	"launchers/logs/fatal.go":                    "We couldn't connect to 'https", // a message of a library
	"launchers/engines/all_test.go":              "We couldn't connect to 'https",
	"launchers/simserver/simengine/tokenizer.go": "were when we there can", // words of the simulated vocabulary
	"dataset/tokenizer/tokenizer_test.go":        "Do n't , we 've",
	"CONTRIBUTING.md":                            "## How we write",
}

// Texts follow the rules of plain English as far as a pattern can tell.
func TestNoForbiddenWords(t *testing.T) {
	var all []string
	for _, word := range forbiddenWords {
		all = append(all, word.pattern)
	}

	anyWord := regexp.MustCompile(strings.Join(all, "|"))
	for _, file := range texts(t) {
		text := read(t, file)
		for _, found := range anyWord.FindAllStringIndex(text, -1) {
			words := text[found[0]:found[1]]
			line := text[strings.LastIndexByte(text[:found[0]], '\n')+1:]
			line, _, _ = strings.Cut(line, "\n")
			if quoted := quotedWords[file]; quoted != "" && strings.Contains(line, quoted) ||
				strings.HasPrefix(strings.ToLower(words), "there ") {
				continue
			}

			at := 1 + strings.Count(text[:found[0]], "\n")
			word := slices.IndexFunc(all, func(p string) bool { return regexp.MustCompile(p).MatchString(words) })
			t.Errorf("%s:%d: %q: write %s", file, at, words, forbiddenWords[word].instead)
		}
	}
}

// texts lists what people read: code, docs, scripts and scenarios, without
// captures of other programs, goldens and this test.
func texts(t *testing.T) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(".", func(p string, d fs.DirEntry, err error) error {
		p = filepath.ToSlash(p)
		switch {
		case err != nil:
			return err
		case d.IsDir() && p != "." && (strings.HasPrefix(d.Name(), ".") || p == "bin"):
			return filepath.SkipDir
		case d.IsDir() && d.Name() == "testdata" && p != "cmd/bench/testdata":
			return filepath.SkipDir
		case d.IsDir(), p == "words_test.go", p == "CHANGELOG.md":
		case slices.Contains([]string{".go", ".md", ".txtar", ".yaml"}, path.Ext(p)):
			out = append(out, p)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// A comment that begins as the one of a name does is about the name below it.
func TestCommentsNameWhatFollows(t *testing.T) {
	declared := regexp.MustCompile(`^(?:func (?:\([^)]*\) )?|type |var |const )(\w+)`)
	first := regexp.MustCompile(`^// ([a-z]\w*)\b`)
	for _, files := range goFiles(t) {
		for _, file := range files {
			begins := "" // the first word of the comment that goes on, if it may be a name
			commented := false
			for line := range strings.Lines(read(t, file)) {
				name := declared.FindStringSubmatch(line)
				switch word := first.FindStringSubmatch(line); {
				case commented && name != nil && begins != "" && begins != name[1]:
					t.Errorf("%s: the comment of %s begins with %s", file, name[1], begins)
				case !commented && word != nil:
					begins = word[1]
				}
				if commented = strings.HasPrefix(line, "//"); !commented {
					begins = ""
				}
			}
		}
	}
}

// A name in a comment is in the code too: what was renamed is found here.
func TestCommentsNameWhatExists(t *testing.T) {
	innerCapital := regexp.MustCompile(`(?:^|[^\\\w])([a-z]+[A-Z]\w*)`)
	word := regexp.MustCompile(`\w+`)
	known := map[string]bool{"cardN": true, "uXXXX": true, "rREPEAT": true} // of sysfs, JSON, the names of steps
	named := map[string]string{}
	for _, file := range texts(t) {
		if path.Ext(file) != ".go" {
			continue
		}
		source := read(t, file)
		var s scanner.Scanner
		s.Init(token.NewFileSet().AddFile(file, -1, len(source)), []byte(source), nil, scanner.ScanComments)
		for kind := token.ILLEGAL; kind != token.EOF; {
			var text string
			switch _, kind, text = s.Scan(); kind {
			case token.COMMENT:
				for _, found := range innerCapital.FindAllStringSubmatch(text, -1) {
					named[found[1]] = file
				}
			case token.IDENT, token.STRING:
				for _, name := range word.FindAllString(text, -1) {
					known[name] = true
				}
			default:
			}
		}
	}

	for name, file := range named {
		if !known[name] {
			t.Errorf("%s: a comment names %s, which no code has", file, name)
		}
	}
}
