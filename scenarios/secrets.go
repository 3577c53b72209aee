package scenarios

import (
	"slices"
	"strings"

	"github.com/benchrig/bench/scenarios/schema"
)

// hidden stands where a secret was.
const hidden = "***"

// minSecret is the length from which a secret value is listed for redaction:
// replacing shorter ones would garble every log.
const minSecret = 6

// secretName tells whether the name of an environment variable or a header
// says that its value is a secret. Tokenizers are none.
func secretName(name string) bool {
	name = strings.ReplaceAll(strings.ToUpper(name), "TOKENIZER", "")
	return slices.ContainsFunc([]string{"KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "AUTHORIZATION", "COOKIE"},
		func(w string) bool { return strings.Contains(name, w) })
}

// secretArg tells the same of an engine argument, where "tokens" are counted
// and not hidden.
func secretArg(name string) bool {
	name = schema.Kebab(name)
	return slices.ContainsFunc([]string{"api-key", "token", "secret", "password"},
		func(w string) bool { return name == w || strings.HasSuffix(name, "-"+w) })
}
