package pattern

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode"
)

// maxExpression bounds the length of a regular expression in bytes.
const maxExpression = 1 << 14

var (
	countedRepeat = regexp.MustCompile(`^\{[0-9]{1,4}(,[0-9]{0,4})?\}`)
	propertyName  = regexp.MustCompile(`^[pP]\{([A-Za-z_]{1,32})\}`)
	fourHex       = regexp.MustCompile(`^u[0-9A-Fa-f]{4}`)
)

// checkExpression accepts the part of the language that Oniguruma, which
// tokenizer files are written for, and our engine read alike. It walks an
// expression once; what it does not know is an error.
func checkExpression(expr string) error {
	if len(expr) > maxExpression {
		return fmt.Errorf("longer than %d bytes", maxExpression)
	}

	repeatable := false // the part before is not a repeat itself
	for rest := expr; rest != ""; {
		size, repeat, err := expressionPart(rest)
		if err != nil {
			return err
		}
		if repeat && !repeatable {
			return fmt.Errorf("repeat of a repeat at %q", rest)
		}
		// One question mark after an open repeat makes it lazy.
		if repeat && strings.HasPrefix(rest[size:], "?") {
			if rest[0] == '{' && !strings.Contains(rest[:size], ",") {
				return fmt.Errorf("optional repeat at %q", rest)
			}
			size++
		}
		repeatable = !repeat
		rest = rest[size:]
	}

	return nil
}

// expressionPart measures what expr begins with.
func expressionPart(expr string) (size int, repeat bool, err error) {
	switch expr[0] {
	case '\\':
		size, err = escapeLen(expr)
		return size, false, err
	case '[':
		size, err = classLen(expr)
		return size, false, err
	case '(':
		size, err = groupOpenLen(expr)
		return size, false, err
	case '*', '+', '?':
		return 1, true, nil
	case '{':
		if counted := countedRepeat.FindString(expr); counted != "" {
			return len(counted), true, nil
		}
		return 0, false, fmt.Errorf("brace at %q", expr)
	case '^', '$':
		return 0, false, fmt.Errorf("anchor %q", expr[:1])
	}

	return 1, false, nil
}

// escapeLen measures a backslash and what belongs to it.
func escapeLen(expr string) (int, error) {
	rest := expr[1:]
	if rest == "" {
		return 0, errors.New("backslash at the end")
	}
	if m := propertyName.FindStringSubmatch(rest); m != nil {
		if !knownProperty(m[1]) {
			return 0, fmt.Errorf("character property %q", m[1])
		}
		return 1 + len(m[0]), nil
	}

	if m := fourHex.FindString(rest); m != "" {
		return 1 + len(m), nil
	}

	switch c := rest[0]; {
	case strings.IndexByte("rntfsSdD", c) >= 0:
		return 2, nil
	case c < 0x80 && !unicode.IsLetter(rune(c)) && !unicode.IsDigit(rune(c)) && c > ' ':
		return 2, nil
	}

	return 0, fmt.Errorf("escape %q", expr[:2])
}

// knownProperty accepts general categories and scripts by their usual names.
func knownProperty(name string) bool {
	if _, script := unicode.Scripts[name]; script {
		return true
	}
	_, category := unicode.Categories[name]
	return category && name[0] != 'C' && name != "LC"
}

// classLen measures a class in brackets; classes in classes are refused.
func classLen(expr string) (int, error) {
	at := 1
	if strings.HasPrefix(expr[at:], "^") {
		at++
	}
	if strings.HasPrefix(expr[at:], "]") {
		return 0, errors.New("empty class")
	}

	for at < len(expr) {
		switch expr[at] {
		case ']':
			return at + 1, nil
		case '[':
			return 0, errors.New("class in a class")
		case '\\':
			size, err := escapeLen(expr[at:])
			if err != nil {
				return 0, err
			}
			at += size
			continue
		case '&':
			if strings.HasPrefix(expr[at:], "&&") {
				return 0, errors.New("class intersection")
			}
		}
		at++
	}

	return 0, errors.New("class without end")
}

// groupOpenLen measures the opening of a group.
func groupOpenLen(expr string) (int, error) {
	if !strings.HasPrefix(expr, "(?") {
		return 1, nil
	}
	for _, open := range []string{"(?:", "(?i:", "(?=", "(?!", "(?<=", "(?<!", "(?>"} {
		if strings.HasPrefix(expr, open) {
			return len(open), nil
		}
	}
	return 0, fmt.Errorf("group %q", expr[:min(4, len(expr))])
}
