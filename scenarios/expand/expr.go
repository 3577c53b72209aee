package expand

import (
	"fmt"
	"regexp"
	"strings"
)

// piece is a part of a text: literal text, or the name inside ${}.
type piece struct {
	text string
	name bool
}

var (
	varName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]*$`)
	exprRef = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]*(\.[A-Za-z0-9_-]+)*$`)
	exprEnv = regexp.MustCompile(`^env:[A-Za-z_][A-Za-z0-9_]*$`)
)

// pieces splits a text at its ${name}; $${ is a literal ${.
func pieces(s string) ([]piece, error) {
	var out []piece
	var lit strings.Builder
	flush := func() {
		if lit.Len() > 0 {
			out = append(out, piece{text: lit.String()})
			lit.Reset()
		}
	}

	for {
		i := strings.Index(s, "${")
		if i < 0 {
			lit.WriteString(s)
			flush()
			return out, nil
		}
		if i > 0 && s[i-1] == '$' {
			lit.WriteString(s[:i-1] + "${")
			s = s[i+2:]
			continue
		}
		name, rest, closed := strings.Cut(s[i+2:], "}")
		if !closed {
			return nil, fmt.Errorf(`"${" without "}"; a literal "${" is written "$${"`)
		}
		if !exprRef.MatchString(name) && !exprEnv.MatchString(name) {
			return nil, fmt.Errorf("%q is not a valid name: write ${name}, ${name.part} or ${env:NAME}", "${"+name+"}")
		}
		lit.WriteString(s[:i])
		flush()
		out = append(out, piece{text: name, name: true})
		s = rest
	}
}
