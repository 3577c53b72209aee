package chart

import (
	"fmt"
	"strings"
)

// says puts a timeline into words: how long it was, what each lane holds, and
// every failure, the first dozen.
func (s TimelineSpec) says(axis Axis, xs *span) []string {
	if xs.empty() {
		return []string{"Nothing happened."}
	}

	out := []string{"From the first to the last: " + Seconds.words(xs.hi-xs.lo) + "."}
	var failures []string
	for _, lane := range s.Lanes {
		out = append(out, lane.words())
		for _, sp := range lane.Spans {
			if sp.Class == Bad {
				failures = append(failures, s.moment(orWord(sp.Title, sp.words()), sp.FromS))
			}
		}
		for _, m := range lane.Marks {
			if m.Class == Bad {
				failures = append(failures, s.moment(orWord(m.Title, m.Label), m.AtS))
			}
		}
	}

	if len(failures) > 0 {
		out = append(out, "Failures: "+list(failures, 12)+".")
	}

	return append(out, panelsWords(axis, s.Curves)...)
}

func (s TimelineSpec) moment(what string, atS float64) string {
	return what + " at " + Seconds.words(atS)
}

// words counts a lane's spans by class.
func (l Lane) words() string {
	counts := map[Class]int{}
	var order []Class
	for _, sp := range l.Spans {
		if counts[sp.Class] == 0 {
			order = append(order, sp.Class)
		}
		counts[sp.Class]++
	}

	var parts []string
	for _, class := range order {
		if class != Plain {
			parts = append(parts, fmt.Sprintf("%d %s", counts[class], class))
		}
	}

	words := orWord(l.Name, "Lane") + ": " + count(len(l.Spans), "span", "spans")
	if len(parts) > 0 {
		words += " (" + strings.Join(parts, ", ") + ")"
	}

	if len(l.Marks) > 0 {
		words += ", " + count(len(l.Marks), "mark", "marks")
	}

	return words + "."
}
