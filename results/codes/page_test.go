package codes

import (
	"fmt"
	"io"
)

// markdown writes docs/codes.md: every code under an anchor of its name.
func markdown(w io.Writer) error {
	const head = `# Codes of warnings and failures

Reports name warnings and failures by a code. ` + "`bench explain CODE`" + ` prints the entry of a code, ` +
		"`bench explain`" + ` lists all codes.

| severity | meaning |
|---|---|
| fails | there are no figures, or the step is not ranked |
| disqualifies | the figures are shown as suspect and never ranked |
| limits | some figures are less reliable than they seem; the text says which |
| informs | the step is valid; the text says what to know about it |

This page is generated: ` + "`go test ./results/codes -update`" + ` writes it.
`
	if _, err := io.WriteString(w, head); err != nil {
		return err
	}

	fmt.Fprint(w, "\n## Terms\n")
	for _, t := range terms() {
		fmt.Fprintf(w, "\n### %s\n\n%s\n", t.Name, t.Meaning)
	}

	for _, part := range []struct {
		title   string
		entries []Entry
	}{{"Warnings", Warnings()}, {"Failures", Failures()}} {
		fmt.Fprintf(w, "\n## %s\n", part.title)
		for _, e := range part.entries {
			fmt.Fprintf(w, "\n### %s\n\n%s: %s %s\n\nWhat to do: %s\n", e.Code, e.Severity, e.Meaning, e.Why, e.Do)
		}
	}

	return nil
}
