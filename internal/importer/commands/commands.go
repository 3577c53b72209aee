// Package commands finds what a text says about the programs behind its figures.
//
// What goes in: lines and cells. What comes out: command lines as words with their
// environment, arguments as Python prints them, kinds of servers. It starts nothing
// and guesses nothing.
package commands

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/benchrig/bench/launchers/engines"
)

// Command is a command line that a text shows.
type Command struct {
	Env    map[string]string
	Argv   []string
	Client bool // it drives load; else it is a server
	Bench  bool // llama-bench
}

var (
	serverCommand = regexp.MustCompile(`(^|[\s/])(vllm serve|-m vllm\.entrypoints\.\S+|-m sglang\.launch_server|llama-server|text-generation-launcher|docker run|podman run)(\s|$)`)
	clientCommand = regexp.MustCompile(`(^|[\s/])(vllm bench serve|benchmark_\w+\.py|-m sglang\.bench_serving|genai-perf|llama-bench)(\s|$)`)
	assignment    = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*=`)
	prompt        = regexp.MustCompile(`^(\([^)]*\)\s*)?(\S+@\S+[:~]\S*[$#]\s+|[$#>❯]\s+)`)
)

// In reads a command line; ok is false for other text. Sentences that
// only name a program do not count.
func In(text string) (c Command, ok bool) {
	if !namesProgram(text) {
		return Command{}, false
	}

	text = strings.Trim(text, "` ")
	server, client := serverCommand.FindStringIndex(text), clientCommand.FindStringIndex(text)
	if server == nil && client == nil {
		return Command{}, false
	}

	text = prompt.ReplaceAllString(text, "")
	if i := strings.Index(text, "❯ "); i >= 0 {
		text = text[i+len("❯ "):]
	} else if i := strings.Index(text, "â¯ "); i >= 0 { // the same, taken for Latin-1
		text = text[i+len("â¯ "):]
	}

	words := shellWords(text)
	c = Command{Env: map[string]string{}, Client: client != nil && (server == nil || client[0] < server[0])}
	for len(words) > 0 && (words[0] == "env" || assignment.MatchString(words[0])) {
		if name, value, isSet := strings.Cut(words[0], "="); isSet {
			c.Env[name] = value
		}
		words = words[1:]
	}

	c.Argv = words
	c.Bench = len(words) > 0 && strings.HasSuffix(words[0], "llama-bench")
	return c, len(words) > 0 && isProgram(words)
}

// shellWords splits a command line as a shell does, up to a comment or another
// command. A quotation mark without its other is a character.
func shellWords(text string) []string {
	var words []string
	var word strings.Builder
	inWord := false
	end := func() {
		if inWord {
			words = append(words, word.String())
			word.Reset()
		}
		inWord = false
	}

	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && i+1 < len(text):
			i++
			word.WriteByte(text[i])
			inWord = true
		case (c == '\'' || c == '"') && strings.IndexByte(text[i+1:], c) >= 0:
			length := strings.IndexByte(text[i+1:], c)
			word.WriteString(text[i+1 : i+1+length])
			i += length + 1
			inWord = true
		case c == ' ' || c == '\t':
			end()
		case !inWord && (c == '#' || c == '|' || c == ';' || c == '>' || c == '&'):
			return words
		default:
			word.WriteByte(c)
			inWord = true
		}
	}

	end()
	return words
}

// otherPrograms lists what command lines may begin with beside servers: clients, and
// programs that start others.
func otherPrograms() []string {
	return []string{"llama-bench", "docker", "podman", "genai-perf", "sudo", "numactl", "nohup", "uv"}
}

var programSigns = sync.OnceValue(func() []string {
	return append(engines.Programs(), "llama-", "docker run", "podman run", "benchmark_", "genai-perf")
})

// namesProgram is a quick check before the thorough one of In.
func namesProgram(text string) bool {
	return slices.ContainsFunc(programSigns(), func(sign string) bool { return strings.Contains(text, sign) })
}

// isProgram reports whether words begin as a command does.
func isProgram(words []string) bool {
	base := words[0][strings.LastIndexByte(words[0], '/')+1:]
	return slices.Contains(engines.Programs(), base) || slices.Contains(otherPrograms(), base) ||
		strings.HasPrefix(base, "python") || strings.HasSuffix(base, ".py")
}

// Launcher returns the kind of server that a command starts, as scenarios name it.
func Launcher(argv []string) string {
	line := strings.Join(argv, " ")
	if strings.Contains(line, "docker run") || strings.Contains(line, "podman run") {
		return "container"
	}
	if kind, known := engines.OfCommand(argv); known {
		return kind.Name
	}
	return "command"
}

// Flags returns the flags of a command line, named as Python names arguments.
func (c Command) Flags() [][2]string {
	var all [][2]string
	for i := 1; i < len(c.Argv); i++ {
		name, value, given := strings.Cut(c.Argv[i], "=")
		if !strings.HasPrefix(name, "--") {
			continue
		}
		if !given {
			value = "true"
			if i+1 < len(c.Argv) && !strings.HasPrefix(c.Argv[i+1], "--") {
				i++
				value = c.Argv[i]
			}
		}
		all = append(all, [2]string{strings.ReplaceAll(name[2:], "-", "_"), value})
	}

	return all
}

// Namespace reads the arguments of a client as Python prints them: "Namespace(a=1,
// b='x')".
func Namespace(text string) (all [][2]string) {
	start := strings.Index(text, "Namespace(")
	if start < 0 {
		return nil
	}

	text = text[start+len("Namespace("):]
	depth, begin := 0, 0
	var quote byte
	add := func(end int) {
		name, value, ok := strings.Cut(strings.TrimSpace(text[begin:end]), "=")
		if ok {
			all = append(all, [2]string{name, strings.Trim(value, `'"`)})
		}
		begin = end + 1
	}

	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quote != 0:
			switch c {
			case '\\':
				i++
			case quote:
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case c == '(' || c == '[' || c == '{' || c == '<':
			depth++
		case (c == ')' || c == ']' || c == '}' || c == '>') && depth > 0:
			depth--
		case c == ')':
			add(i)
			return all
		case c == ',' && depth == 0:
			add(i)
		}
	}

	return all
}
