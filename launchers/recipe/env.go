package recipe

import (
	"maps"
	"slices"
	"strings"

	"github.com/benchrig/bench/internal/secrets"
	"github.com/benchrig/bench/launchers/process"
)

// HygieneUnset are variables of our own environment that would silently
// change a server: defaults of engines, a distributed launcher around us,
// proxies. A trailing * stands for all names with that beginning.
func HygieneUnset() []string {
	return []string{
		"LLAMA_ARG_*", "VLLM_*", "MASTER_ADDR", "MASTER_PORT", "RANK", "WORLD_SIZE",
		"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "FTP_PROXY", "http_proxy", "https_proxy", "all_proxy", "ftp_proxy",
		process.CookieVariable,
	}
}

// HygieneSet are variables set for every server unless the recipe decides on
// them: plain unbuffered logs, and an environment that stays readable in /proc
// after the server renames its processes.
func HygieneSet() map[string]string {
	return map[string]string{"SPT_NOENV": "1", "PYTHONUNBUFFERED": "1", "NO_COLOR": "1"}
}

// Environment builds a server's environment from the inherited one. set is
// what was added or changed, for the record.
func Environment(inherited []string, spec Spec, command Command) (env []string, set map[string]string) {
	set = HygieneSet()
	for _, name := range spec.Unset {
		delete(set, name)
	}

	maps.Copy(set, command.Env)
	for _, entry := range inherited {
		if name, value, ok := strings.Cut(entry, "="); ok && slices.Contains(spec.Inherit, name) {
			set[name] = value
		}
	}

	maps.Copy(set, spec.Env)
	unset := slices.Concat(HygieneUnset(), command.Unset, spec.Unset)
	for _, entry := range inherited {
		name, _, ok := strings.Cut(entry, "=")
		if _, replaced := set[name]; ok && !replaced && !MatchesAny(name, unset) {
			env = append(env, entry)
		}
	}

	env = append(env, Assignments(set)...)
	for _, name := range spec.Inherit {
		_, byHand := spec.Env[name]
		// An address may hold a password.
		if value, kept := set[name]; kept && !byHand && (secrets.IsName(name) || strings.Contains(value, "@")) {
			set[name] = "***"
		}
	}

	return env, set
}

// Assignments are variables as NAME=VALUE, in the order of their names.
func Assignments(variables map[string]string) []string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(variables)) {
		all = append(all, name+"="+variables[name])
	}
	return all
}

// MatchesAny reports whether a pattern names the variable; a trailing * stands
// for any rest.
func MatchesAny(name string, patterns []string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		beginning, open := strings.CutSuffix(pattern, "*")
		return name == pattern || open && strings.HasPrefix(name, beginning)
	})
}

// TooShort reports whether a secret has too few bytes to be redacted from texts.
func TooShort(secret string) bool { return len(secret) < minSecret }

// Dropped lists, sorted, the variables of environ that the command's environment neither keeps nor sets.
func Dropped(environ []string, spec Spec, command Command) []string {
	kept, set := Environment(environ, spec, command)
	var names []string
	for _, entry := range environ {
		name, _, ok := strings.Cut(entry, "=")
		if _, replaced := set[name]; ok && name != "" && !replaced && !slices.Contains(kept, entry) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
