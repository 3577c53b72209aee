package importer

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/benchrig/bench/internal/llamabench"
	"github.com/benchrig/bench/results"
)

// scattered finds results within other text: an object or an array that spans
// lines, after the messages of a program and before those of its end. The lines
// around it are kept as text; an object that does not end is told.
func scattered(name string, text []byte) (format string, entries []*entry, rest []results.ImportedLine) {
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
	lines, _ := linesOf(around)
	for _, l := range lines {
		kind := results.LineNote
		if startsResult(text, l) {
			kind = results.LineNotFigures
			l.text = "a result that is not complete: " + l.text
		}
		if strings.Trim(l.text, " \t[],{}") != "" {
			rest = appendLine(rest, l.no, kind, l.text)
		}
	}

	return format, entries, rest
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

// startsResult says that an object begins like a result on the line before, so
// that it was cut off.
func startsResult(_ []byte, l textLine) bool {
	return strings.Contains(l.text, `"build_commit"`)
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
// in it.
func hasScattered(text []byte) bool {
	return bytes.Contains(text, []byte(`"avg_ts"`)) && bytes.Contains(text, []byte(`"n_prompt"`))
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
