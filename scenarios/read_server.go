package scenarios

import (
	"net/url"
	"strings"
)

// argName is the name under which all spellings of an engine argument meet.
// What follows a dot, a path into a JSON option, is kept.
func argName(name string) string {
	head, path, dotted := strings.Cut(strings.TrimLeft(name, "-"), ".")
	head = strings.ReplaceAll(head, "_", "-")
	if dotted {
		return head + "." + path
	}
	return head
}

func readArgs(r *reader, n *node, s *Server) { s.Args = r.args(n) }

// args reads arguments by name.
func (r *reader) args(n *node) (out []Arg) {
	if n.kind != mapping {
		r.wrong(n, mapOf(simple(anyShape)))
		return nil
	}
	first := map[string]string{}
	for _, p := range n.pairs {
		name := argName(p.key)
		switch was, twice := first[name]; {
		case name == "" || strings.ContainsAny(p.key, " \t\n="):
			r.fail(p.pos, "%q is no argument name: give the bare name as key and the value beside it", p.key)
			continue
		case twice && was != p.key:
			r.fail(p.pos, "%q and %q are the same argument", was, p.key)
			continue
		}
		first[name] = p.key
		if p.value.kind == null && p.value.bare {
			r.fail(p.value.pos, "argument %s has no value: write true for a bare switch, null to leave it out", p.key)
		}
		if p.value.kind == null || p.value.kind == broken {
			continue
		}
		out = append(out, Arg{Name: p.key, Value: p.value.value(), Pos: p.pos})
	}
	return out
}

func readEnv(r *reader, n *node) map[string]EnvValue {
	if n.kind != mapping {
		r.wrong(n, mapOf(simple(scalarShape)))
		return nil
	}
	env := map[string]EnvValue{}
	for _, p := range n.pairs {
		if !envName.MatchString(p.key) {
			r.fail(p.pos, "%q is no name of an environment variable", p.key)
			continue
		}
		if p.value.kind == null {
			if p.value.bare {
				r.fail(p.value.pos, `%s has no value: write "" for an empty one, null to unset it`, p.key)
			}
			env[p.key] = EnvValue{Unset: true}
			continue
		}
		r.envValue(env, p)
	}
	return env
}

// envValue reads one named value that may be a secret.
func (r *reader) envValue(into map[string]EnvValue, p pair) {
	v := p.value
	if !v.scalar() {
		if v.kind != broken {
			r.fail(v.pos, "%s is %s, expected %s", p.key, v.shown(), simple(scalarShape).words())
		}
		return
	}
	if strings.ContainsRune(v.text, 0) {
		r.fail(v.pos, "%s holds a NUL byte", p.key)
		return
	}
	into[p.key] = EnvValue{Value: v.text, Secret: v.secret || secretName(p.key)}
}

func readAPIKey(r *reader, n *node, s *Server) {
	if v, ok := r.text(n); ok {
		s.APIKey = EnvValue{Value: v, Secret: true}
	}
}

// readBaseURL accepts http and https addresses without credentials; slashes at
// the end are dropped.
func readBaseURL(r *reader, n *node, s *Server) {
	raw, ok := r.text(n)
	if !ok {
		return
	}
	u, err := url.Parse(raw)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		r.fail(n.pos, "base-url is %s, expected an address such as http://127.0.0.1:8000", n.shown())
	case u.User != nil:
		r.fail(n.pos, "base-url holds a user name: give credentials as api-key: ${env:NAME}")
	case u.RawQuery != "" || u.Fragment != "":
		r.fail(n.pos, "base-url is %s, expected an address without ? and #", n.shown())
	case strings.HasSuffix(strings.TrimRight(u.Path, "/"), "/v1"):
		r.fail(n.pos, "base-url is %s: leave /v1 away, the endpoint adds it", n.shown())
	default:
		s.BaseURL = strings.TrimRight(raw, "/")
	}
}

func readGPUs(r *reader, n *node, s *Server) {
	switch {
	case n.kind == number:
		if v, ok := r.whole(n, wholeIn(between(1, 1024))); ok {
			s.GPUs.Count = int(v)
		}
	case n.kind == text && n.text == "none":
		s.GPUs.None = true
	case n.kind == list && len(n.items) > 0:
		seen := map[int]bool{}
		for _, it := range n.items {
			v, ok := r.whole(it, wholeIn(between(0, 1023)))
			if ok && seen[int(v)] {
				r.fail(it.pos, "GPU %d is listed twice", v)
			}
			if ok {
				seen[int(v)] = true
				s.GPUs.List = append(s.GPUs.List, int(v))
			}
		}
	default:
		r.fail(n.pos, "gpus is %s, expected a number of GPUs, a list of device indices, or none", n.shown())
	}
}
