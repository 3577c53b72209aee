package recipe

import (
	"maps"
	"slices"
	"strings"
)

// Redaction hides secret values in whatever is written or shown.
type Redaction struct{ replace func(string) string }

// minSecret keeps a short or empty "secret" from blackening every text.
const minSecret = 4

func NewRedaction(spec Spec) Redaction {
	secrets := slices.Concat(spec.Secrets, []string{spec.APIKey})
	return Redaction{Redactor(slices.DeleteFunc(secrets, TooShort))}
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

func (r Redaction) Text(s string) string { return r.replace(s) }

func (r Redaction) Texts(list []string) []string {
	var clean []string
	for _, s := range list {
		clean = append(clean, r.Text(s))
	}
	return clean
}

func (r Redaction) Values(m map[string]string) map[string]string {
	clean := maps.Clone(m)
	for name, value := range clean {
		clean[name] = r.Text(value)
	}
	return clean
}
