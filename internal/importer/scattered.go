package importer

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/benchrig/bench/internal/llamabench"
	"github.com/benchrig/bench/results"
)

// scattered finds results within other text: an object or an array that spans
// lines, after the messages of a program and before those of its end. The lines
// around it are read as text, in which an object that does not end is told.
func scattered(name string, text []byte) (format string, entries []*entry, rest []results.ImportedLine, omitted int) {
	text = llamabench.WithoutNaN(text)
	var objects []object
	around := bytes.Clone(text) // with the results blanked out
	for at := 0; at < len(text) && len(objects) <= maxEntries; {
		next := bytes.IndexAny(text[at:], "{[")
		if next < 0 {
			break
		}
		at += next

		found, length := objectsAt(text, at)
		if found == nil {
			at++
			continue
		}
		objects = append(objects, found...)
		blank(around[at : at+length])
		at += length
	}

	format, entries, rest = fromObjects(name, objects, "")
	lines, overwritten := linesOf(around)
	lines = slices.DeleteFunc(lines, func(l textLine) bool { return strings.Trim(l.text, " \t[],{}") == "" })
	others, kept, omitted := fromText(name, lines)
	return format, append(entries, others...), append(rest, kept...), overwritten + omitted
}

// objectsAt decodes the results that begin at an index, and how long they are;
// nil: none begin there.
func objectsAt(text []byte, at int) ([]object, int) {
	decoder := json.NewDecoder(bytes.NewReader(text[at:]))
	var raw json.RawMessage
	if decoder.Decode(&raw) != nil {
		return nil, 0
	}

	line := 1 + bytes.Count(text[:at], []byte("\n"))
	found, err := appendObjects(nil, raw, line)
	if err != nil {
		return nil, 0
	}

	for _, o := range found {
		if kindOf(o) == "" {
			return nil, 0
		}
	}

	return found, int(decoder.InputOffset())
}

// blank overwrites all but the ends of lines.
func blank(text []byte) {
	for i, c := range text {
		if c != '\n' {
			text[i] = ' '
		}
	}
}

// hasScattered says whether a text that is not JSON as a whole may hold results
// in it which are not lines by themselves.
func hasScattered(text []byte) bool {
	for line := range bytes.Lines(text) {
		if bytes.Contains(line, []byte(`"avg_ts"`)) && !isObjectLine(line) {
			return true
		}
	}
	return false
}

// isObjectLine says that a line is a JSON object by itself.
func isObjectLine(line []byte) bool {
	line = bytes.TrimSpace(line)
	return len(line) > 1 && line[0] == '{' && line[len(line)-1] == '}'
}

// errorOfTool names the tool of a file that is not read.
func errorOfTool(o object) error {
	tool := ""
	switch {
	case o.has("benchmarks", "metadata"), o.has("guidellm_version"):
		tool = "GuideLLM"
	case o.has("aiperf_version"), o.has("input_config", "request_throughput"):
		tool = "AIPerf or genai-perf"
	case o.has("results", "config"):
		tool = "llm-optimizer"
	case o.has("loadgen_version"):
		tool = "MLPerf loadgen"
	case o.has("metrics", "root_group"):
		tool = "k6"
	default:
		return nil
	}

	return fmt.Errorf("a file of %s, in a form that is not read; its keys are %s", tool,
		shown(fmt.Sprint(o.keys[:min(len(o.keys), 20)])))
}
