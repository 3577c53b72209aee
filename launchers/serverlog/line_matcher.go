package serverlog

import (
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"

	"github.com/benchrig/bench/launchers/logs"
)

// lineMatcher runs a regular expression over lines of which hardly any
// matches: it looks for texts first without one of which no line can match.
type lineMatcher struct {
	pattern *regexp.Regexp
	needles []string // in lower case; nil: every line is tried
}

// newLineMatcher makes one; without a pattern it matches no line.
func newLineMatcher(pattern *regexp.Regexp) lineMatcher {
	m := lineMatcher{pattern: pattern}
	if pattern == nil {
		return m
	}
	if parsed, err := syntax.Parse(pattern.String(), syntax.Perl); err == nil {
		m.needles = needles(parsed.Simplify())
	}
	return m
}

// matches reports whether a line matches, which is given in lower case too.
func (m lineMatcher) matches(line, lower string) bool {
	return m.pattern != nil && m.may(lower) && m.pattern.MatchString(line)
}

// may reports whether a line, given in lower case, can match at all.
func (m lineMatcher) may(lower string) bool {
	return m.needles == nil || slices.ContainsFunc(m.needles,
		func(needle string) bool { return strings.Contains(lower, needle) })
}

// needles are texts of which at least one is in every text that the expression
// matches; nil if there are none worth looking for.
func needles(re *syntax.Regexp) []string {
	switch re.Op {
	case syntax.OpLiteral:
		const worth = 3
		if len(re.Rune) < worth {
			return nil
		}

		return []string{strings.ToLower(string(re.Rune))}
	case syntax.OpCapture, syntax.OpPlus:
		return needles(re.Sub[0])
	case syntax.OpConcat:
		var best []string
		for _, sub := range re.Sub {
			if found := needles(sub); found != nil && (best == nil || shortest(found) > shortest(best)) {
				best = found
			}
		}

		return best
	case syntax.OpAlternate:
		var all []string
		for _, sub := range re.Sub {
			found := needles(sub)
			if found == nil {
				return nil
			}
			all = append(all, found...)
		}

		return all
	default:
		return nil
	}
}

func shortest(texts []string) int {
	least := len(texts[0])
	for _, text := range texts {
		least = min(least, len(text))
	}
	return least
}

// matchers are the expressions of known lines, made ready for many lines.
type matchers struct {
	requestLog, waiting lineMatcher
	fatal, milestones   []lineMatcher
}

func newMatchers(known logs.Lines) *matchers {
	m := matchers{requestLog: newLineMatcher(known.Requests), waiting: newLineMatcher(known.Waiting)}
	for _, line := range known.Fatal {
		m.fatal = append(m.fatal, newLineMatcher(line.Pattern))
	}
	for _, line := range known.Milestones {
		m.milestones = append(m.milestones, newLineMatcher(line.Pattern))
	}
	return &m
}
