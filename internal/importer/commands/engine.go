package commands

import (
	"regexp"
	"strings"

	"github.com/benchrig/bench/launchers/engines"
)

// EngineNamed returns the kind of server that a cell names; "": none that is known.
func EngineNamed(text string) string {
	for _, kind := range engines.All() {
		if kind.Title != "" && (strings.EqualFold(text, kind.Title) || strings.EqualFold(text, kind.Name)) {
			return kind.Name
		}
	}
	return ""
}

var engineWords = regexp.MustCompile(`[A-Za-z][A-Za-z.-]*[A-Za-z]`)

// EngineIn returns the one kind of server that a heading such as "fp16 llama.cpp"
// names; "": none, or several.
func EngineIn(text string) string {
	found := ""
	for _, word := range engineWords.FindAllString(text, -1) {
		switch name := EngineNamed(word); {
		case name == "" || name == found:
		case found != "":
			return ""
		default:
			found = name
		}
	}
	return found
}
