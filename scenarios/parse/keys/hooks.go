package keys

import (
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/benchrig/bench/load/spec"
	"github.com/benchrig/bench/scenarios"
	"github.com/benchrig/bench/scenarios/schema"
)

// The words of on-failure: in hooks and checks.
const (
	refuseWord = "refuse"
	warnWord   = "warn"
)

// Levels are the keys of hooks:.
func Levels() schema.Block[scenarios.LevelHooks] {
	level := func(key, doc string, at func(*scenarios.LevelHooks) *scenarios.Hooks) schema.Field[scenarios.LevelHooks] {
		return schema.BlockKey(key, doc, Hooks(), at)
	}

	return schema.Block[scenarios.LevelHooks]{
		Name: "under hooks:", Doc: "Hooks run one after the other, in the order of the file, in the scenario's " +
			"folder. BENCH_* variables tell them the current position in the run.",
		Example: `
run:
  before:
    - {name: high performance, command: [tuned-adm, profile, throughput-performance],
	undo: [tuned-adm, profile, balanced]}
step:
  after:
    - {command: [./note-room-temperature.sh], timeout: 10s}
`,
		Fields: []schema.Field[scenarios.LevelHooks]{
			level("run", "Around the whole run.", func(l *scenarios.LevelHooks) *scenarios.Hooks { return &l.Run }),
			level("variant", "Around every server start of every variant: before the start, and after the server "+
				"is proven gone.", func(l *scenarios.LevelHooks) *scenarios.Hooks { return &l.Variant }),
			level("step", "Around every step, while its server runs.",
				func(l *scenarios.LevelHooks) *scenarios.Hooks { return &l.Step }),
		},
	}
}

// Hooks are the keys of before: and after:.
func Hooks() schema.Block[scenarios.Hooks] {
	return schema.Block[scenarios.Hooks]{
		Name: "under hooks of a level:", Doc: "hooks: of a variant has the same two keys; its hooks run inside " +
			"those of hooks.variant.",
		Example: "\nbefore:\n  - {command: [ryzenadj, --stapm-limit=120000], undo: [ryzenadj, --stapm-limit=85000]}\n",
		Fields: []schema.Field[scenarios.Hooks]{
			schema.ListKey("before", "Hooks that run before the level.", Hook(), scenarios.Hook{Refuse: true},
				func(h *scenarios.Hooks) *[]scenarios.Hook { return &h.Before }),
			schema.ListKey("after", "Hooks that run after the level, even after a failure or Ctrl-C.", Hook(),
				scenarios.Hook{},
				func(h *scenarios.Hooks) *[]scenarios.Hook { return &h.After }),
		},
	}
}

// Hook are the keys of an entry of before: and after:.
func Hook() schema.Block[scenarios.Hook] {
	return schema.Block[scenarios.Hook]{
		Name: "in a hook", Doc: "Exactly one of command, http and check.",
		Example: "\nname: 300 W\ncommand: [nvidia-smi, -pl, \"300\"]\nundo: [nvidia-smi, -pl, \"700\"]\ntimeout: 30s\n",
		Fields: []schema.Field[scenarios.Hook]{
			schema.TextKey("name", "Name in messages and results.",
				func(h *scenarios.Hook) *string { return &h.Name }).DefaultNote("what it runs"),
			schema.ArgvKey("command", "argv of a program; exit status 0 is success.",
				func(h *scenarios.Hook) *[]string { return &h.Command }),
			schema.BlockKey("http", "An HTTP call; a 2xx answer is success.", HTTP(),
				func(h *scenarios.Hook) *scenarios.HTTPCall { return &h.HTTP }),
			schema.BlockKey("check", "A condition of the machine; the hook succeeds if it holds.", HookCheck(),
				func(h *scenarios.Hook) *scenarios.Check { return &h.Check }),
			schema.FreeKey("timeout", "Time limit after which the command and everything it started are killed.",
				schema.Simple(schema.DurationShape), readHookTimeout).Or("1m"),
			schema.ArgvKey("undo",
				"argv that undoes the command's change when the level has ended, even after a failure, Ctrl-C or a "+
					"crash. Only in before:.",
				func(h *scenarios.Hook) *[]string { return &h.Undo }),
			schema.FreeKey("on-failure", "Only in before:. refuse: the run, server start or step fails; warn: "+
				"continue with a warning.",
				schema.EnumOf(refuseWord, warnWord),
				func(r *schema.Reader, n *schema.Node, h *scenarios.Hook) { readRefuse(r, n, &h.Refuse) }).
				DefaultNote("refuse in before:, warn in after:"),
		},
	}
}

func readRefuse(r *schema.Reader, n *schema.Node, refuse *bool) {
	if v, ok := r.Enum(n, schema.EnumOf(refuseWord, warnWord)); ok {
		*refuse = v == refuseWord
	}
}

func readHookTimeout(r *schema.Reader, n *schema.Node, h *scenarios.Hook) {
	d, ok := r.Duration(n)
	if ok && d == 0 {
		r.Fail(n.Pos, "timeout is 0: a hook without a limit can block the whole run")
		return
	}
	h.Timeout = d
}

// HTTP are the keys of http:.
func HTTP() schema.Block[scenarios.HTTPCall] {
	return schema.Block[scenarios.HTTPCall]{
		Name: "under http:", Doc: "An HTTP call; it uses no proxy.",
		Example: "\nurl: http://127.0.0.1:9000/fans\nmethod: PUT\nbody: \"100\"\n",
		Fields: []schema.Field[scenarios.HTTPCall]{
			schema.ReadKey("url", "http or https address.", schema.Simple(schema.TextShape), readURL,
				func(h *scenarios.HTTPCall) *string { return &h.URL }),
			schema.EnumKey("method", "HTTP method.", []string{"GET", "POST", "PUT", "PATCH", "DELETE"},
				func(h *scenarios.HTTPCall) *string { return &h.Method }).
				DefaultNote("POST with a body, else GET"),
			headersKey("HTTP headers.",
				func(h *scenarios.HTTPCall) *map[string]scenarios.EnvValue { return &h.Headers }),
			schema.TextKey("body", "Body of the request, sent unchanged.",
				func(h *scenarios.HTTPCall) *string { return &h.Body }),
		},
	}
}

// readURL accepts http and https addresses; "" after a report.
func readURL(r *schema.Reader, n *schema.Node) string {
	raw, ok := r.Text(n)
	if !ok {
		return ""
	}
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		r.Fail(n.Pos, "%s is %s, expected an address such as https://ntfy.example.org/bench", r.Key(), n.Shown())
		return ""
	}
	return raw
}

// Check are the keys of an entry of checks:.
func Check() schema.Block[scenarios.Check] {
	b := HookCheck()
	b.Fields = append(b.Fields, schema.FreeKey("on-failure",
		"refuse: nothing runs, and the report gives the reason; warn: continue with a warning.",
		schema.EnumOf(refuseWord, warnWord),
		func(r *schema.Reader, n *schema.Node, c *scenarios.Check) { readRefuse(r, n, &c.Refuse) }).Or(refuseWord))
	b.Name, b.Example = "in a check", "\nkind: kernel-parameter\nname: amd_iommu\nwant: \"off\"\non-failure: warn\n"
	return b
}

// HookCheck is a check without the word on what its failure means, which
// a hook has itself.
func HookCheck() schema.Block[scenarios.Check] {
	return schema.Block[scenarios.Check]{
		Name: "under check:", Doc: "A condition of the machine.", Example: "\nkind: free-vram\nwant: 60GiB\n",
		Fields: []schema.Field[scenarios.Check]{
			schema.EnumKey("kind", "kernel-parameter: name=want on the kernel's command line (without want: name "+
				"is present). governor: of all CPUs. numa-balancing: of the kernel. power-limit: of all GPUs, in "+
				"watts. free-vram: at least want on every GPU. free-disk: at least want on the file system of the "+
				"results, or of name. file: name contains want. command: exits with 0.",
				scenarios.CheckKinds(), func(c *scenarios.Check) *string { return &c.Kind }),
			schema.TextKey("name", "Name of the kernel parameter, or a path.",
				func(c *scenarios.Check) *string { return &c.Name }),
			schema.TextKey("want", "Required value, or minimum.",
				func(c *scenarios.Check) *string { return &c.Want }).DefaultNote("governor: performance; " +
				"numa-balancing: 0"),
			schema.ArgvKey("command", "argv, for kind command.", func(c *scenarios.Check) *[]string { return &c.Argv }),
		},
	}
}

// notifyMoments are what a notification may be about.
func notifyMoments() []string { return []string{"end", "first-failure"} }

// Notify are the keys of an entry of notify:.
func Notify() schema.Block[scenarios.Notify] {
	return schema.Block[scenarios.Notify]{
		Name: "in notify:", Doc: "Exactly one of webhook and command. A notification that fails is noted in " +
			"bench.log and never fails a run.",
		Example: "\nwebhook: https://ntfy.example.org/our-bench\nformat: ntfy\non: [first-failure, end]\n",
		Fields: []schema.Field[scenarios.Notify]{
			schema.FreeKey("webhook", "Address that gets a POST. It is a secret: write ${env:NAME}.",
				schema.Simple(schema.TextShape),
				func(r *schema.Reader, n *schema.Node, no *scenarios.Notify) {
					no.Webhook = scenarios.EnvValue{Value: readURL(r, n), Secret: true}
				}),
			schema.EnumKey("format", "Body of the webhook: json (fields as docs/hooks.md lists them), ntfy "+
				"(text with Title and Priority headers), slack ({\"text\": ...}).",
				[]string{"json", "ntfy", "slack"}, func(n *scenarios.Notify) *string { return &n.Format }).Or("json"),
			schema.ArgvKey("command", "argv of a program that gets the message on stdin and BENCH_* variables.",
				func(n *scenarios.Notify) *[]string { return &n.Command }),
			schema.FreeKey("on", "Events that are reported.", schema.ListOf(schema.EnumOf(notifyMoments()...)),
				readOn).Or("[end, first-failure]"),
		},
	}
}

func readOn(r *schema.Reader, n *schema.Node, no *scenarios.Notify) {
	if n.Kind != schema.List || len(n.Items) == 0 {
		r.Wrong(n, schema.ListOf(schema.EnumOf(notifyMoments()...)))
		return
	}
	for _, it := range n.Items {
		v, ok := r.Enum(it, schema.EnumOf(notifyMoments()...))
		if ok && slices.Contains(no.On, v) {
			r.Fail(it.Pos, "on lists %s twice", v)
		} else if ok {
			no.On = append(no.On, v)
		}
	}
}

// headersKey is the key headers: HTTP headers, some of which may be secrets.
func headersKey[T any](doc string, at func(*T) *map[string]scenarios.EnvValue) schema.Field[T] {
	return schema.ReadKey("headers", doc, headersShape(), readHeaders, at)
}

func headersShape() schema.Shape { return schema.MapOf(schema.Simple(schema.ScalarShape)) }

func readHeaders(r *schema.Reader, n *schema.Node) map[string]scenarios.EnvValue {
	if n.Kind != schema.Mapping {
		r.Wrong(n, headersShape())
		return nil
	}

	headers, seen := map[string]scenarios.EnvValue{}, map[string]bool{}
	for _, p := range n.Pairs {
		name, err := spec.HeaderName(p.Key)
		switch {
		case err != nil:
			r.Fail(p.Pos, "%v", err)
			continue
		case strings.ContainsAny(p.Value.Text, "\r\n\x00"):
			r.Fail(p.Value.Pos, "invalid HTTP header %q: its value contains a line break", p.Key)
			continue
		case seen[name]:
			r.Fail(p.Pos, "HTTP header %q is given twice", name)
			continue
		}
		seen[name] = true
		readEnvValue(r, headers, p)
	}

	return headers
}

// Evaluation are the keys of evaluate:.
func Evaluation() schema.Block[scenarios.Evaluation] {
	return schema.Block[scenarios.Evaluation]{
		Name: "under evaluate:", Doc: "The command runs while the servers of a variant are up, once in each repeat: " +
			"after the pass of the first load point. It has the BENCH_* variables of hooks, and " +
			"BENCH_EVALUATION_DIR, an empty folder. A higher score is better. docs/hooks.md has an " +
			"example with lm-eval.",
		Example: `
name: gsm8k
command: [./evaluate.sh]
file: "*/results_*.json"
score: [results, gsm8k, "exact_match,strict-match"]
min: 0.6
timeout: 2h
`,
		Fields: []schema.Field[scenarios.Evaluation]{
			schema.TextKey("name", "Name of the score.",
				func(e *scenarios.Evaluation) *string { return &e.Name }).Or("score"),
			schema.TextsKey("command", "Program and arguments; no shell.",
				func(e *scenarios.Evaluation) *[]string { return &e.Command }).Must(),
			schema.TextKey("file", "Pattern of the JSON file with the score, below BENCH_EVALUATION_DIR; of several "+
				"the newest counts.", func(e *scenarios.Evaluation) *string { return &e.File }).
				DefaultNote("the last line of the output, a number or JSON"),
			schema.TextsKey("score", "Keys that lead to the score in the JSON, the outermost first.",
				func(e *scenarios.Evaluation) *[]string { return &e.Score }),
			maybeNumber("min", "Lowest score; below it, or without a score, the step is suspect (low-score).",
				schema.Between(-1e9, 1e9), func(e *scenarios.Evaluation) **float64 { return &e.Min }),
			schema.DurationKey("timeout", "After it, the command and all that it started is killed.",
				func(e *scenarios.Evaluation) *time.Duration { return &e.Timeout }).Or("1h"),
		},
	}
}
