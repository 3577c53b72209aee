package versus

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/benchrig/bench/launchers/engines"
)

// chosenByBench are flags whose values bench picks anew for each start.
var chosenByBench = []string{"--host", "--port"}

// flagName is the name that a flag is compared by.
func flagName(launcher, name string) string {
	if strings.HasPrefix(name, "--") {
		name = strings.ReplaceAll(name, "_", "-")
	}
	if kind, known := engines.Lookup(launcher); known {
		return cmp.Or(kind.Spellings[name], name)
	}

	return name
}

// sameNumber writes a number in one way: 0.960 is 0.96, and 8.0 is 8. What is
// no plain decimal number stays as it is.
func sameNumber(value string) string {
	if value == "" || strings.Trim(value, "+-.0123456789") != "" {
		return value
	}
	v, err := strconv.ParseFloat(value, 64)
	if err != nil || strings.Trim(value, "+-0123456789") == "" { // whole numbers may be too long for a float
		return value
	}

	return strconv.FormatFloat(v, 'f', -1, 64)
}
