package keys

import (
	"net/url"
	"strings"

	"github.com/benchrig/bench/internal/secrets"
	"github.com/benchrig/bench/scenarios"
	"github.com/benchrig/bench/scenarios/schema"
)

// readArgs reads arguments by name.
func readArgs(r *schema.Reader, n *schema.Node) (out []scenarios.Arg) {
	if n.Kind != schema.Mapping {
		r.Wrong(n, schema.AnyMap())
		return nil
	}

	first := map[string]string{}
	for _, p := range n.Pairs {
		name := scenarios.ArgName(p.Key)
		switch was, twice := first[name]; {
		case name == "" || strings.ContainsAny(p.Key, " \t\n="):
			r.Fail(p.Pos, "%q is not an argument name: give the bare name as key and the value beside it", p.Key)
			continue
		case twice && was != p.Key:
			r.Fail(p.Pos, "%q and %q are the same argument", was, p.Key)
			continue
		}
		first[name] = p.Key
		if p.Value.Kind == schema.Null && p.Value.Bare {
			r.Fail(p.Value.Pos, "argument %s has no value: write true for a bare switch, null to leave it out", p.Key)
		}
		if p.Value.Kind == schema.Null || p.Value.Kind == schema.Broken {
			continue
		}
		out = append(out, scenarios.Arg{Name: p.Key, Value: p.Value.Value(), Pos: p.Pos})
	}

	reportWholeAndParts(r, out)

	return out
}

// reportWholeAndParts reports an argument that is given as a whole and, with
// dots in its name, in parts: an engine would take one of the two.
func reportWholeAndParts(r *schema.Reader, args []scenarios.Arg) {
	whole := map[string]string{}
	for _, a := range args {
		if name := scenarios.ArgName(a.Name); !strings.Contains(name, ".") {
			whole[name] = a.Name
		}
	}

	for _, a := range args {
		head, _, dotted := strings.Cut(scenarios.ArgName(a.Name), ".")
		if key, both := whole[head]; dotted && both {
			r.Fail(a.Pos, "%q is a part of %q, which is given as a whole: write one of the two, or %s: null beside "+
				"the parts", a.Name, key, key)
		}
	}
}

func readEnv(r *schema.Reader, n *schema.Node) map[string]scenarios.EnvValue {
	if n.Kind != schema.Mapping {
		r.Wrong(n, schema.MapOf(schema.Simple(schema.ScalarShape)))
		return nil
	}

	env := map[string]scenarios.EnvValue{}
	for _, p := range n.Pairs {
		if !envName.MatchString(p.Key) {
			r.Fail(p.Pos, "%q is not a valid name of an environment variable", p.Key)
			continue
		}
		if p.Value.Kind == schema.Null {
			if p.Value.Bare {
				r.Fail(p.Value.Pos, `%s has no value: write "" for an empty one, null to unset it`, p.Key)
			}
			env[p.Key] = scenarios.EnvValue{Unset: true}
			continue
		}
		if p.Value.Scalar() && p.Value.Text == inherit {
			env[p.Key] = scenarios.EnvValue{Inherit: true}
			continue
		}
		readEnvValue(r, env, p)
	}

	return env
}

// inherit, as the value of a variable, keeps one that bench would not pass on.
const inherit = "inherit"

// readEnvValue reads one named value that may be a secret.
func readEnvValue(r *schema.Reader, into map[string]scenarios.EnvValue, p schema.Pair) {
	v := p.Value
	if !v.Scalar() {
		if v.Kind != schema.Broken {
			r.Fail(v.Pos, "%s is %s, expected %s", p.Key, v.Shown(), schema.Simple(schema.ScalarShape).Words())
		}
		return
	}
	if strings.ContainsRune(v.Text, 0) {
		r.Fail(v.Pos, "%s contains a NUL byte", p.Key)
		return
	}
	into[p.Key] = scenarios.EnvValue{Value: v.Text, Secret: v.Secret || secrets.IsName(p.Key)}
}

func readAPIKey(r *schema.Reader, n *schema.Node, s *scenarios.Server) {
	if v, ok := r.Text(n); ok {
		s.APIKey = scenarios.EnvValue{Value: v, Secret: true}
	}
}

// readBaseURL accepts http and https addresses without credentials; slashes at
// the end are dropped.
func readBaseURL(r *schema.Reader, n *schema.Node, s *scenarios.Server) {
	raw, ok := r.Text(n)
	if !ok {
		return
	}

	u, err := url.Parse(raw)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		r.Fail(n.Pos, "base-url is %s, expected an address such as http://127.0.0.1:8000", n.Shown())
	case u.User != nil:
		r.Fail(n.Pos, "base-url contains a user name: give credentials as api-key: ${env:NAME}")
	case u.RawQuery != "" || u.Fragment != "":
		r.Fail(n.Pos, "base-url is %s, expected an address without ? and #", n.Shown())
	case strings.HasSuffix(strings.TrimRight(u.Path, "/"), "/v1"):
		r.Fail(n.Pos, "base-url is %s: leave out /v1, the endpoint adds it", n.Shown())
	default:
		s.BaseURL = strings.TrimRight(raw, "/")
	}
}

func readGPUs(r *schema.Reader, n *schema.Node, s *scenarios.Server) {
	switch {
	case n.Kind == schema.Number:
		if v, ok := r.Whole(n, schema.WholeIn(schema.Between(1, 1024))); ok {
			s.GPUs.Count = int(v)
		}
	case n.Kind == schema.Text && n.Text == "none":
		s.GPUs.None = true
	case n.Kind == schema.List && len(n.Items) > 0:
		seen := map[int]bool{}
		for _, it := range n.Items {
			v, ok := r.Whole(it, schema.WholeIn(schema.Between(0, 1023)))
			if ok && seen[int(v)] {
				r.Fail(it.Pos, "GPU %d is listed twice", v)
			}
			if ok {
				seen[int(v)] = true
				s.GPUs.List = append(s.GPUs.List, int(v))
			}
		}
	default:
		r.Fail(n.Pos, "gpus is %s, expected a number of GPUs, a list of device indices, or none", n.Shown())
	}
}
