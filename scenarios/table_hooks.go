package scenarios

import (
	"net/url"
	"slices"
	"strings"
)

// The words of on-failure: in hooks and checks.
const (
	refuseWord = "refuse"
	warnWord   = "warn"
)

func levelsBlock() block[LevelHooks] {
	level := func(key, doc string, at func(*LevelHooks) *Hooks) field[LevelHooks] {
		return blockKey(key, doc, hooksBlock(), at)
	}
	return block[LevelHooks]{
		name: "under hooks:", doc: "Hooks run in the order of the file, one after the other, in the scenario's folder, with BENCH_* variables that say where in the run they are.",
		example: `
run:
  before:
    - {name: high performance, command: [tuned-adm, profile, throughput-performance], undo: [tuned-adm, profile, balanced]}
step:
  after:
    - {command: [./note-room-temperature.sh], timeout: 10s}
`,
		fields: []field[LevelHooks]{
			level("run", "Around the whole run.", func(l *LevelHooks) *Hooks { return &l.Run }),
			level("variant", "Around every server life of every variant: before the start and after the proof of its end.", func(l *LevelHooks) *Hooks { return &l.Variant }),
			level("step", "Around every step, on a server that is up.", func(l *LevelHooks) *Hooks { return &l.Step }),
		},
	}
}

func hooksBlock() block[Hooks] {
	return block[Hooks]{
		name: "under hooks of a level:", doc: "The same two keys stand under hooks: of a variant, whose hooks run inside those of hooks.variant.",
		example: "\nbefore:\n  - {command: [ryzenadj, --stapm-limit=120000], undo: [ryzenadj, --stapm-limit=85000]}\n",
		fields: []field[Hooks]{
			listKey("before", "Hooks before it.", hookBlock(), func(h *Hook, pos Pos) { h.Pos, h.Refuse = pos, true }, func(h *Hooks) *[]Hook { return &h.Before }),
			listKey("after", "Hooks after it, also after a failure and Ctrl-C.", hookBlock(), func(h *Hook, pos Pos) { h.Pos = pos }, func(h *Hooks) *[]Hook { return &h.After }),
		},
	}
}

func hookBlock() block[Hook] {
	return block[Hook]{
		name: "in a hook", doc: "Exactly one of command, http and check.",
		example: "\nname: 300 W\ncommand: [nvidia-smi, -pl, \"300\"]\nundo: [nvidia-smi, -pl, \"700\"]\ntimeout: 30s\n",
		fields: []field[Hook]{
			textKey("name", "For messages and results.", func(h *Hook) *string { return &h.Name }).elseNote("what it runs"),
			argvKey("command", "argv of a program; exit status 0 is success.", func(h *Hook) *[]string { return &h.Command }),
			blockKey("http", "An HTTP call; a 2xx answer is success.", httpBlock(), func(h *Hook) *HTTPCall { return &h.HTTP }),
			blockKey("check", "A condition of the box; that it holds is success.", hookCheckBlock(), func(h *Hook) *Check { return &h.Check }),
			freeKey("timeout", "After it the command and whatever it started are killed.", simple(durationShape), readHookTimeout).or("1m"),
			argvKey("undo", "argv that puts back what the command changed, once the level has ended: also after a failure, Ctrl-C or a crash. In before: only.",
				func(h *Hook) *[]string { return &h.Undo }),
			freeKey("on-failure", "In before: only. refuse: what it stands before fails; warn: go on.", enumOf(refuseWord, warnWord),
				func(r *reader, n *node, h *Hook) { readRefuse(r, n, &h.Refuse) }).elseNote("refuse in before:, warn in after:"),
		},
	}
}

func argvKey[T any](key, doc string, at func(*T) *[]string) field[T] {
	return freeKey(key, doc, listOf(simple(textShape)), func(r *reader, n *node, into *T) {
		if words, ok := r.argv(n); ok {
			*at(into) = words
		}
	})
}

func readRefuse(r *reader, n *node, refuse *bool) {
	if v, ok := r.enum(n, enumOf(refuseWord, warnWord)); ok {
		*refuse = v == refuseWord
	}
}

func readHookTimeout(r *reader, n *node, h *Hook) {
	d, ok := r.duration(n)
	if ok && d == 0 {
		r.fail(n.pos, "timeout is 0: a hook without a limit can hang the night")
		return
	}
	h.Timeout = d
}

func httpBlock() block[HTTPCall] {
	return block[HTTPCall]{
		name: "under http:", doc: "No proxy is used.", example: "\nurl: http://127.0.0.1:9000/fans\nmethod: PUT\nbody: \"100\"\n",
		fields: []field[HTTPCall]{
			freeKey("url", "http or https address.", simple(textShape), func(r *reader, n *node, h *HTTPCall) { h.URL = readURL(r, n) }),
			enumKey("method", "HTTP method.", []string{"GET", "POST", "PUT", "PATCH", "DELETE"}, func(h *HTTPCall) *string { return &h.Method }).
				elseNote("POST with a body, else GET"),
			freeKey("headers", "HTTP headers.", mapOf(simple(scalarShape)), func(r *reader, n *node, h *HTTPCall) { h.Headers = readHeaderMap(r, n) }),
			textKey("body", "Body as it is sent.", func(h *HTTPCall) *string { return &h.Body }),
		},
	}
}

// readURL accepts http and https addresses; "" after a report.
func readURL(r *reader, n *node) string {
	raw, ok := r.text(n)
	if !ok {
		return ""
	}
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		r.fail(n.pos, "%s is %s, expected an address such as https://ntfy.example.org/bench", r.key(), n.shown())
		return ""
	}
	return raw
}

// CheckKinds are the conditions that a check can look at.
func CheckKinds() []string {
	return []string{"kernel-parameter", "governor", "numa-balancing", "power-limit", "free-vram", "free-disk", "file", "command"}
}

func beginCheck(c *Check, pos Pos) { c.Pos, c.Refuse = pos, true }

func checkBlock() block[Check] {
	b := hookCheckBlock()
	b.fields = append(b.fields, freeKey("on-failure", "refuse: nothing is run and the report says why; warn: go on.", enumOf(refuseWord, warnWord),
		func(r *reader, n *node, c *Check) { readRefuse(r, n, &c.Refuse) }).or(refuseWord))
	b.name, b.example = "in a check", "\nkind: kernel-parameter\nname: amd_iommu\nwant: \"off\"\non-failure: warn\n"
	return b
}

// hookCheckBlock is a check without the word on what its failure means, which
// a hook has itself.
func hookCheckBlock() block[Check] {
	return block[Check]{
		name: "under check:", doc: "A condition of the box.", example: "\nkind: free-vram\nwant: 60GiB\n",
		fields: []field[Check]{
			freeKey("kind", "kernel-parameter: name=want on the kernel's command line (without want: name is there). governor: of all CPUs. numa-balancing: of the kernel. "+
				"power-limit: watts, of all GPUs. free-vram: at least want on every GPU. free-disk: at least want where the results lie, or at name. "+
				"file: name holds want. command: exits with 0.",
				enumOf(CheckKinds()...), func(r *reader, n *node, c *Check) {
					if v, ok := r.enum(n, enumOf(CheckKinds()...)); ok {
						c.Kind = v
					}
				}),
			textKey("name", "Kernel parameter, or path.", func(c *Check) *string { return &c.Name }),
			textKey("want", "What it must be, or at least be.", func(c *Check) *string { return &c.Want }).elseNote("governor: performance; numa-balancing: 0"),
			argvKey("command", "argv, for kind command.", func(c *Check) *[]string { return &c.Argv }),
		},
	}
}

// notifyMoments are what a notification may be about.
func notifyMoments() []string { return []string{"end", "first-failure"} }

func notifyBlock() block[Notify] {
	return block[Notify]{
		name: "in notify:", doc: "Exactly one of webhook and command. A notification that fails is noted in bench.log and never fails a run.",
		example: "\nwebhook: https://ntfy.example.org/our-bench\nformat: ntfy\non: [first-failure, end]\n",
		fields: []field[Notify]{
			freeKey("webhook", "Address that gets a POST. It is a secret: write ${env:NAME}.", simple(textShape),
				func(r *reader, n *node, no *Notify) { no.Webhook = EnvValue{Value: readURL(r, n), Secret: true} }),
			enumKey("format", "Body of the webhook: json (fields as docs/operations.md lists them), ntfy (text with Title and Priority headers), slack ({\"text\": ...}).",
				[]string{"json", "ntfy", "slack"}, func(n *Notify) *string { return &n.Format }).or("json"),
			argvKey("command", "argv of a program that gets the message on stdin and BENCH_* variables.", func(n *Notify) *[]string { return &n.Command }),
			freeKey("on", "When.", listOf(enumOf(notifyMoments()...)), readOn).or("[end, first-failure]"),
		},
	}
}

func readOn(r *reader, n *node, no *Notify) {
	if n.kind != list || len(n.items) == 0 {
		r.wrong(n, listOf(enumOf(notifyMoments()...)))
		return
	}
	for _, it := range n.items {
		v, ok := r.enum(it, enumOf(notifyMoments()...))
		if ok && slices.Contains(no.On, v) {
			r.fail(it.pos, "on lists %s twice", v)
		} else if ok {
			no.On = append(no.On, v)
		}
	}
}

// readHeaderMap reads HTTP headers, some of which may be secrets.
func readHeaderMap(r *reader, n *node) map[string]EnvValue {
	if n.kind != mapping {
		r.wrong(n, mapOf(simple(scalarShape)))
		return nil
	}
	headers := map[string]EnvValue{}
	for _, p := range n.pairs {
		if p.key == "" || strings.ContainsFunc(p.key, notToken) || strings.ContainsAny(p.value.text, "\r\n") {
			r.fail(p.pos, "%q is no HTTP header", p.key)
			continue
		}
		r.envValue(headers, p)
	}
	return headers
}
