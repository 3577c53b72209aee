package engines

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/benchrig/bench/launchers/recipe"
)

// helpOption is an option as llama-server --help shows it.
type helpOption struct {
	spellings []string // with their dashes
	takes     string   // "N", "[on|off|auto]", "<0|1>"; "": nothing
	removed   bool
}

var helpSpelling = regexp.MustCompile(`^\s*(--?[A-Za-z][\w.-]*),?`)

// helpOptions reads the options of a --help text: lines that begin with a
// dash, spellings first, then what the option takes.
func helpOptions(t *testing.T, name string) []helpOption {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "llama-server", name))
	if err != nil {
		t.Fatal(err)
	}
	var options []helpOption
	lines := strings.Split(string(text), "\n")
	for i, line := range lines {
		if !strings.HasPrefix(line, "-") || strings.HasPrefix(line, "---") {
			continue
		}
		var o helpOption
		rest := line
		for {
			match := helpSpelling.FindStringSubmatch(rest)
			if match == nil {
				break
			}
			o.spellings = append(o.spellings, match[1])
			rest = rest[len(match[0]):]
			if !strings.HasSuffix(match[0], ",") {
				break
			}
		}
		// What it takes stands one blank behind the last spelling; two or more
		// blanks lead to the description.
		if value, ok := strings.CutPrefix(rest, " "); ok && value != "" && value[0] != ' ' {
			o.takes, _, _ = strings.Cut(value, "  ")
		}
		description := line + strings.Join(lines[i:min(i+2, len(lines))], " ")
		o.removed = strings.Contains(description, "has been removed")
		options = append(options, o)
	}
	if len(options) < 200 {
		t.Fatalf("%s: only %d options read", name, len(options))
	}
	return options
}

func TestLlamaSpellingsAgainstHelp(t *testing.T) {
	for _, file := range []string{"help-b10573.txt", "help-b11669.txt"} {
		for _, o := range helpOptions(t, file) {
			if o.removed {
				continue
			}
			checkDashes(t, file, o)
			checkValues(t, file, o)
		}
	}
}

// An option near to a known one is probably that one; those of the builds are
// known.
func TestLlamaMisspelled(t *testing.T) {
	suggested := func(name string) string {
		found := misspelled(llamaSpelling(), llamaKnown(), []recipe.Arg{{Name: name, Value: "1"}})
		if len(found) == 0 {
			return ""
		}
		_, near, _ := strings.Cut(found[0].Message, "did you mean ")
		return strings.TrimSuffix(near, "?")
	}
	for _, file := range []string{"help-b10573.txt", "help-b11669.txt"} {
		for _, o := range helpOptions(t, file) {
			for _, spelling := range o.spellings {
				if near := suggested(strings.TrimLeft(spelling, "-")); near != "" {
					t.Errorf("%s: %s is taken for %s", file, spelling, near)
				}
			}
		}
	}
	for name, want := range map[string]string{
		"ctx-sise": "ctx-size", "paralel": "parallel", "flash_atn": "flash-attn", "cache-typ-k": "cache-type-k",
		"draft-max": "", "something-else": "", "no-kv-unifid": "no-kv-unified",
	} {
		if got := suggested(name); got != want {
			t.Errorf("%s: did you mean %q, want %q", name, got, want)
		}
	}
}

// Every spelling gets the dashes that the help shows, and all spellings of an
// option (but its --no- form) meet under one name.
func checkDashes(t *testing.T, file string, o helpOption) {
	t.Helper()
	s := llamaSpelling()
	names := map[string]bool{}
	for _, spelling := range o.spellings {
		bare := strings.TrimLeft(spelling, "-")
		// An option may have its long name with a single dash too: -fit, --fit.
		if s.Flag(bare) != spelling && !slices.Contains(o.spellings, s.Flag(bare)) {
			t.Errorf("%s: flag(%q) = %q, want %q", file, bare, s.Flag(bare), spelling)
		}
		if !strings.HasPrefix(bare, "no-") && !slices.Contains([]string{"nkvo", "nr", "ndio", "nocb"}, bare) {
			names[s.Key(bare)] = true
		}
	}
	if len(names) > 1 {
		t.Errorf("%s: %v have the names %v, want one", file, o.spellings, names)
	}
}

// A switch is never given a value, an option never goes without, and false is
// spelled only where the help has a word for it.
func checkValues(t *testing.T, file string, o helpOption) {
	t.Helper()
	first := o.spellings[0]
	for _, spelling := range o.spellings {
		if strings.HasPrefix(spelling, "--") {
			first = spelling
			break
		}
	}
	on, err := llamaSpelling().Render([]recipe.Arg{{Name: first, Value: true}})
	if err != nil {
		return // one that bench itself sets
	}
	off, err := llamaSpelling().Render([]recipe.Arg{{Name: first, Value: false}})
	if err != nil {
		t.Fatal(err)
	}
	switch o.takes {
	case "[on|off|auto]", "[on|off]":
		wantWords(t, file, on, first, "on")
		wantWords(t, file, off, first, "off")
	case "<0|1>":
		wantWords(t, file, on, first, "1")
		wantWords(t, file, off, first, "0")
	case "":
		wantWords(t, file, on, first)
		no := slices.IndexFunc(o.spellings, func(s string) bool { return strings.HasPrefix(s, "--no-") })
		if no >= 0 && !strings.HasPrefix(first, "--no-") {
			if len(off) != 1 || !slices.Contains(o.spellings, off[0]) {
				t.Errorf("%s: %s: false gives %q, want a word of %v", file, first, off, o.spellings)
			}
		} else if len(off) != 0 {
			t.Errorf("%s: %s: false gives %q, want nothing", file, first, off)
		}
	}
}

func wantWords(t *testing.T, file string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: rendered %q, want %q", file, got, want)
	}
}

// Current names that former ones are translated to must exist.
func TestLlamaCurrentNamesExist(t *testing.T) {
	var known, removed []string
	for _, o := range helpOptions(t, "help-b11669.txt") {
		for _, spelling := range o.spellings {
			if bare := strings.TrimLeft(spelling, "-"); o.removed {
				removed = append(removed, bare)
			} else {
				known = append(known, bare)
			}
		}
	}
	for _, former := range []string{
		"draft", "draft-n", "draft-max", "draft-min", "draft-n-min", "draft-model", "mlock",
		"mmap", "no-mmap", "direct-io",
	} {
		arg := llamaCurrent(recipe.Arg{Name: former, Value: true})
		if slices.Contains(known, former) || !slices.Contains(known, arg.Name) {
			t.Errorf("llamaCurrent(%q) = %q: want a current name for one that is gone", former, arg.Name)
		}
	}
	if !slices.Contains(removed, "draft-max") {
		t.Errorf("removed options = %v, want draft-max among them", removed)
	}
}
