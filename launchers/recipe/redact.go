package recipe

import (
	"maps"
	"slices"

	"github.com/benchrig/bench/internal/secrets"
)

// Redaction hides secret values in whatever is written or shown.
type Redaction struct{ replace func(string) string }

// minSecret keeps a short or empty "secret" from blackening every text.
const minSecret = 4

// NewRedaction hides the secrets and the API key of a spec, except those that are too short.
func NewRedaction(spec Spec) Redaction {
	values := slices.Concat(spec.Secrets, []string{spec.APIKey})
	return Redaction{Redactor(slices.DeleteFunc(values, TooShort))}
}

// Redactor gives a function that replaces every secret in a text by "***", in
// whatever form it appears. An empty secret is ignored.
func Redactor(values []string) func(string) string { return secrets.NewRedactor(values).Text }

// Text is s with every secret replaced by "***".
func (r Redaction) Text(s string) string { return r.replace(s) }

// Texts is a copy of the list with every secret replaced; nil if the list is empty.
func (r Redaction) Texts(list []string) []string { return HideEach(r.replace, list) }

// HideEach is a copy of the list in which hide was applied to each text; nil if the list
// is empty.
func HideEach(hide func(string) string, list []string) []string {
	var hidden []string
	for _, s := range list {
		hidden = append(hidden, hide(s))
	}
	return hidden
}

// Lines is Texts for lines that follow each other, so that a secret may be on two.
func (r Redaction) Lines(list []string) []string { return secrets.Lines(list, r.Text) }

// Values is a copy of the map with every secret in its values replaced. Keys stay as they are.
func (r Redaction) Values(m map[string]string) map[string]string {
	clean := maps.Clone(m)
	for name, value := range clean {
		clean[name] = r.Text(value)
	}
	return clean
}
