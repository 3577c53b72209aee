package text

import (
	"fmt"
	"slices"
	"strings"
)

// Few names the first four and counts the rest: "a, b, c, d and 3 more".
func Few(names []string) string {
	const shown = 4

	list := strings.Join(CleanAll(names[:min(len(names), shown)]), ", ")
	if more := len(names) - shown; more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}

	return list
}

// AppendNew appends s unless the list has it.
func AppendNew(list []string, s string) []string {
	if slices.Contains(list, s) {
		return list
	}

	return append(list, s)
}
