package versus

import (
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/results"
)

// Change is one thing that differs between two configurations.
type Change struct {
	What string `json:"what"` // "argument --max-num-seqs", "environment X"
	From string `json:"from"` // the baseline's; "" or unset: it has none
	To   string `json:"to"`
}

// Unset stands for an argument or variable that a side does not have.
const Unset = "unset"

func (c Change) String() string {
	return text.Clean(c.What) + ": " + text.Clean(c.From) + " against " + text.Clean(c.To)
}

// Recipe is how a server was started, less what differs between any two
// starts: ports and the paths of results.
type Recipe struct {
	launcher, program string
	args              map[string]string // flag or position -> value
	env               map[string]string
	replicas          int
}

// Arguments are the flags of the command with their values, in one spelling, and
// its other words by position.
func (a Recipe) Arguments() map[string]string { return a.args }

// RecipeOf is that of a step's first server.
func RecipeOf(r *results.Result) Recipe {
	if len(r.Servers) == 0 {
		return Recipe{}
	}

	s := r.Servers[0]
	plain := neutral(s, r.Run)
	out := Recipe{
		launcher: s.Launcher, replicas: len(r.Servers), args: ArgumentsOf(s.Launcher, s.Argv, plain),
		env: map[string]string{},
	}
	if len(s.Argv) > 0 {
		out.program = plain(s.Argv[0])
		if s.Simulated {
			out.program = "bench" // wherever it is
		}
	}

	for name, value := range s.Env {
		value = plain(value)
		ofStart := strings.HasPrefix(value, "RESULTS/"+results.CachesName+"/") // bench chose it, for this start
		if !strings.HasPrefix(name, "BENCH_") && !ofStart {
			out.env[name] = value
		}
	}

	return out
}

// neutral replaces what belongs to one start of one run only.
func neutral(s results.Server, run string) func(string) string {
	port := ""
	if u, err := url.Parse(s.BaseURL); err == nil {
		port = u.Port()
	}
	return func(text string) string {
		if port != "" {
			if text == port {
				return "PORT"
			}
			text = strings.ReplaceAll(text, ":"+port, ":PORT")
		}
		return s.Unmarked(withoutFolder(text, run))
	}
}

// withoutFolder cuts the path of a run's folder, which ends with its id, out of
// a text.
func withoutFolder(text, run string) string {
	end := strings.Index(text, "/"+run)
	if run == "" || end < 0 {
		return text
	}
	start := strings.LastIndexAny(text[:end], " =:,\"'") + 1
	return text[:start] + "RESULTS" + withoutFolder(text[end+1+len(run):], run)
}

// ArgumentsOf reads a command line: flags with their values, in one form
// however they are spelled (--a_b=1, --a-b 1, -tp 8), values by normalizeValue, and
// the others by position. A flag that is there without a value is "set"; one
// that is there twice with the same value counts once. Flags that bench chooses for each start are left out.
func ArgumentsOf(launcher string, argv []string, plain func(string) string) map[string]string {
	args := make(map[string]string)
	position := 0
	for i := 1; i < len(argv); i++ {
		arg := argv[i]
		if !isFlag(arg) {
			position++
			args[strconv.Itoa(position)] = plain(arg)
			continue
		}
		name, value, given := strings.Cut(arg, "=")
		name = normalizeFlag(launcher, name)
		switch {
		case given:
		case i+1 < len(argv) && !isFlag(argv[i+1]):
			i++
			value = argv[i]
		default:
			value = switchedOn
		}
		if slices.Contains(chosenByBench, name) {
			continue
		}
		value = normalizeValue(launcher, name, plain(value))
		if before, again := args[name]; again && before != value {
			value = before + " " + value
		}
		args[name] = value
	}

	return args
}

// isFlag distinguishes flags from values; "-1" is a value.
func isFlag(arg string) bool {
	if len(arg) < 2 || arg[0] != '-' {
		return false
	}
	_, err := strconv.ParseFloat(arg, 64)
	return err != nil
}

// Changes lists what differs, in a fixed order.
func (a Recipe) Changes(b Recipe) []Change {
	var all []Change
	add := func(what, from, to string) {
		if from != to {
			all = append(all, Change{what, from, to})
		}
	}
	add("launcher", a.launcher, b.launcher)
	add("program", a.program, b.program)
	add("servers", strconv.Itoa(a.replicas), strconv.Itoa(b.replicas))
	from, to := foldNegations(a.args, b.args)
	all = append(all, mapChanges("argument ", from, to)...)
	return append(all, mapChanges("environment ", a.env, b.env)...)
}

// mapChanges compares what two maps hold.
func mapChanges(what string, a, b map[string]string) []Change {
	var all []Change
	for _, name := range allKeys(a, b) {
		from, inA := a[name]
		to, inB := b[name]
		if !inA {
			from = Unset
		}
		if !inB {
			to = Unset
		}
		if from != to || inA != inB {
			all = append(all, Change{what + name, from, to})
		}
	}

	return all
}

// allKeys are the names in two maps, in order those of the first and then what only
// the second has.
func allKeys(a, b map[string]string) []string {
	names := slices.Sorted(maps.Keys(a))
	for _, name := range slices.Sorted(maps.Keys(b)) {
		names = text.AppendNew(names, name)
	}
	return names
}

// ChangesText says in words how a configuration differs from the baseline's.
func ChangesText(changes []Change) string {
	if len(changes) == 0 {
		return "the same arguments and environment"
	}
	var parts []string
	for _, c := range changes {
		parts = append(parts, c.String())
	}
	return strings.Join(parts, "; ")
}
