package importer

import (
	"regexp"
	"slices"
	"strings"

	"github.com/benchrig/bench/internal/importer/plain"
	"github.com/benchrig/bench/launchers/engines"
)

// command is a command line that a text shows.
type command struct {
	env    map[string]string
	argv   []string
	client bool // it drives load; else it is a server
	bench  bool // llama-bench
}

var (
	serverCommand = regexp.MustCompile(`(^|[\s/])(vllm serve|-m vllm\.entrypoints\.\S+|-m sglang\.launch_server|llama-server|text-generation-launcher|docker run|podman run)(\s|$)`)
	clientCommand = regexp.MustCompile(`(^|[\s/])(vllm bench serve|benchmark_\w+\.py|-m sglang\.bench_serving|genai-perf|llama-bench)(\s|$)`)
	assignment    = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*=`)
	prompt        = regexp.MustCompile(`^(\([^)]*\)\s*)?(\S+@\S+[:~]\S*[$#]\s+|[$#>❯]\s+)`)
)

// commandIn reads a command line; ok is false for other text. Sentences that
// only name a program are none.
func commandIn(text string) (c command, ok bool) {
	if !namesProgram(text) {
		return command{}, false
	}

	text = strings.Trim(text, "` ")
	server, client := serverCommand.FindStringIndex(text), clientCommand.FindStringIndex(text)
	if server == nil && client == nil {
		return command{}, false
	}

	text = prompt.ReplaceAllString(text, "")
	if i := strings.Index(text, "❯ "); i >= 0 {
		text = text[i+len("❯ "):]
	} else if i := strings.Index(text, "â¯ "); i >= 0 { // the same, mistaken for Latin-1
		text = text[i+len("â¯ "):]
	}

	words := shellWords(text)
	c = command{env: map[string]string{}, client: client != nil && (server == nil || client[0] < server[0])}
	for len(words) > 0 && (words[0] == "env" || assignment.MatchString(words[0])) {
		if name, value, isSet := strings.Cut(words[0], "="); isSet {
			c.env[name] = value
		}
		words = words[1:]
	}

	c.argv = words
	c.bench = len(words) > 0 && strings.HasSuffix(words[0], "llama-bench")
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

// namesProgram is a quick look before a thorough one.
func namesProgram(text string) bool {
	for _, name := range []string{
		"vllm", "llama-", "sglang", "docker run", "podman run", "benchmark_",
		"text-generation-launcher", "genai-perf",
	} {
		if strings.Contains(text, name) {
			return true
		}
	}
	return false
}

// isProgram says that words begin as a command does.
func isProgram(words []string) bool {
	first := words[0]
	switch base := first[strings.LastIndexByte(first, '/')+1:]; base {
	case "vllm", "llama-server", "llama-bench", "text-generation-launcher", "docker", "podman", "genai-perf", "sudo",
		"numactl", "nohup", "uv":
		return true
	default:
		return strings.HasPrefix(base, "python") || strings.HasSuffix(base, ".py")
	}
}

// launcherOf names the kind of server that a command starts, as scenarios do.
func launcherOf(argv []string) string {
	line := strings.Join(argv, " ")
	if strings.Contains(line, "docker run") || strings.Contains(line, "podman run") {
		return "container"
	}
	if kind, known := engines.OfCommand(argv); known {
		return kind.Name
	}
	return "command"
}

// flags are a command line's flags in the form of names in Python.
func (c command) flags() [][2]string {
	var all [][2]string
	for i := 1; i < len(c.argv); i++ {
		name, value, given := strings.Cut(c.argv[i], "=")
		if !strings.HasPrefix(name, "--") {
			continue
		}
		if !given {
			value = "true"
			if i+1 < len(c.argv) && !strings.HasPrefix(c.argv[i+1], "--") {
				i++
				value = c.argv[i]
			}
		}
		all = append(all, [2]string{strings.ReplaceAll(name[2:], "-", "_"), value})
	}

	return all
}

// namespace reads how Python prints the arguments of a client: "Namespace(a=1,
// b='x')".
func namespace(text string) (all [][2]string) {
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

// settingOf is the setting that an argument of a client is; "": none that says
// what load it sends.
func settingOf(argument, dataset string) string {
	switch argument {
	case "num_prompts", "max_concurrency", "request_rate", "burstiness", "model", "backend", "endpoint", "dataset_path",
		"ignore_eos", "temperature", "tokenizer":
		return argument
	case "dataset_name":
		return "dataset"
	case "random_input_len", "random_output_len":
		if dataset == "random" {
			return strings.TrimPrefix(argument, "random_")
		}
	}
	return ""
}

// fitting are the arguments of an earlier client's command that do not
// contradict what a result tells of itself.
func (e *entry) fitting(args [][2]string) [][2]string {
	return slices.DeleteFunc(slices.Clone(args), func(a [2]string) bool {
		name := settingOf(a[0], "random")
		if e.isStated(name) || name == "model" && e.model != "" || name == "backend" && e.backend != "" {
			return true
		}
		n, ok := plain.Number(a[1])
		return name == "num_prompts" && ok && int(n) < e.figures.Completed+e.figures.Failed
	})
}

// settle applies a client's arguments to a result.
func (e *entry) settle(args [][2]string, line int) {
	dataset := ""
	for _, a := range args {
		if a[0] == "dataset_name" {
			dataset = a[1]
		}
	}

	for _, a := range args {
		name := settingOf(a[0], dataset)
		if name == "" {
			continue
		}
		t := target{name: name, scale: 1}
		if isWord(name) {
			t.scale = 0
		}
		e.put(t, true, a[0], a[1], line)
	}
}
