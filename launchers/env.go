package launchers

import (
	"maps"
	"slices"
	"strings"

	"github.com/benchrig/bench/launchers/process"
)

// inheritedHygiene are variables of our own environment that would silently
// change a server: defaults of engines, a distributed launcher around us,
// proxies. A trailing * stands for all names with that beginning.
func inheritedHygiene() []string {
	return []string{
		"LLAMA_ARG_*", "VLLM_*", "MASTER_ADDR", "MASTER_PORT", "RANK", "WORLD_SIZE",
		"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "FTP_PROXY", "http_proxy", "https_proxy", "all_proxy", "ftp_proxy",
		process.CookieVariable,
	}
}

// hygiene are variables set for every server unless the recipe decides on
// them: plain unbuffered logs, and an environment that stays readable in /proc
// after the server renames its processes.
func hygiene() map[string]string {
	return map[string]string{"SPT_NOENV": "1", "PYTHONUNBUFFERED": "1", "NO_COLOR": "1"}
}

// Hygiene is what every server's environment gets and does not inherit unless
// its recipe decides otherwise. A name that ends in * stands for all with that
// beginning.
func Hygiene() (set map[string]string, unset []string) { return hygiene(), inheritedHygiene() }

// environment builds a server's environment from the inherited one. set is
// what was added or changed, for the record.
func environment(inherited []string, spec Spec, command Command) (env []string, set map[string]string) {
	set = hygiene()
	for _, name := range spec.Unset {
		delete(set, name)
	}
	maps.Copy(set, command.Env)
	maps.Copy(set, spec.Env)
	unset := slices.Concat(inheritedHygiene(), command.Unset, spec.Unset)
	for _, entry := range inherited {
		name, _, ok := strings.Cut(entry, "=")
		if _, replaced := set[name]; ok && !replaced && !matchesAny(name, unset) {
			env = append(env, entry)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(set)) {
		env = append(env, name+"="+set[name])
	}
	return env, set
}

// matchesAny reports whether a pattern names the variable; a trailing * stands
// for any rest.
func matchesAny(name string, patterns []string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		beginning, open := strings.CutSuffix(pattern, "*")
		return name == pattern || open && strings.HasPrefix(name, beginning)
	})
}

// redactor hides secret values in whatever is written or shown.
type redactor struct{ replace func(string) string }

// minSecret keeps a short or empty "secret" from blackening every text.
const minSecret = 4

func tooShort(secret string) bool { return len(secret) < minSecret }

func newRedactor(spec Spec) redactor {
	secrets := slices.Concat(spec.Secrets, []string{spec.APIKey})
	return redactor{Redactor(slices.DeleteFunc(secrets, tooShort))}
}

// Redactor gives a function that replaces every secret in a text by "***". An
// empty secret is none.
func Redactor(secrets []string) func(string) string {
	// The longest first, in case one is the beginning of another.
	sorted := slices.SortedFunc(slices.Values(secrets), func(a, b string) int { return len(b) - len(a) })
	var pairs []string
	for _, secret := range sorted {
		if secret != "" {
			pairs = append(pairs, secret, "***")
		}
	}
	return strings.NewReplacer(pairs...).Replace
}

func (r redactor) text(s string) string { return r.replace(s) }

func (r redactor) texts(list []string) []string {
	var clean []string
	for _, s := range list {
		clean = append(clean, r.text(s))
	}
	return clean
}

func (r redactor) values(m map[string]string) map[string]string {
	clean := maps.Clone(m)
	for name, value := range clean {
		clean[name] = r.text(value)
	}
	return clean
}
