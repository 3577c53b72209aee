package schema

import (
	"fmt"
	"strings"
)

// Section is one block of the reference.
type Section struct {
	Title string
	Info  *BlockInfo
	Skip  map[string]bool // keys that stand in another section
}

// WriteSection writes one block of a reference: its table of keys and its
// example.
func WriteSection(b *strings.Builder, s Section) {
	fmt.Fprintf(b, "\n## %s\n\n%s\n\n", s.Title, s.Info.Doc)
	b.WriteString("| key | type | default | meaning |\n|---|---|---|---|\n")
	for _, k := range s.Info.Keys {
		if s.Skip[k.Key] {
			continue
		}
		fmt.Fprintf(b, "| `%s` | %s | %s | %s |\n", k.Key, cell(k.Shape.Words()), cell(defaultText(k)), cell(k.Doc))
	}
	fmt.Fprintf(b, "\n```yaml\n%s```\n", strings.TrimPrefix(s.Info.Example, "\n"))
}

func defaultText(k Info) string {
	switch {
	case k.required:
		return "required"
	case k.def != "":
		return "`" + k.def + "`"
	}
	return k.Note
}

func cell(s string) string { return strings.ReplaceAll(s, "|", `\|`) }
