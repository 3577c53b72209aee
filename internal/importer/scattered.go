package importer

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/benchrig/bench/internal/importer/lenient"
	"github.com/benchrig/bench/internal/importer/plain"
	"github.com/benchrig/bench/internal/nanjson"
)

// scattered finds results within other text: an object or an array that spans lines,
// after the messages of a program and before those of its end. The lines around it
// are read as text, as is an object that does not end.
func scattered(name string, text []byte) content {
	text = nanjson.ToNull(text)
	var objects []lenient.Object
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

	c := fromObjects(name, objects, "")
	lines, overwritten := plain.Lines(around)
	lines = slices.DeleteFunc(lines, func(l plain.Line) bool { return strings.Trim(l.Text, " \t[],{}") == "" })
	c.add(fromText(name, lines))
	c.omitted += overwritten
	return c
}

// objectsAt returns the results that begin at an index, and their length in bytes;
// nil: none begin there.
func objectsAt(text []byte, at int) ([]lenient.Object, int) {
	decoder := json.NewDecoder(bytes.NewReader(text[at:]))
	var raw json.RawMessage
	if decoder.Decode(&raw) != nil {
		return nil, 0
	}

	line := 1 + bytes.Count(text[:at], []byte("\n"))
	found, err := lenient.AppendObjects(nil, raw, line)
	if err != nil {
		return nil, 0
	}

	if slices.ContainsFunc(found, func(o lenient.Object) bool { return kindOf(o) == "" }) {
		return nil, 0
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

// hasScattered reports whether a text that is not JSON as a whole may hold results that
// are not lines by themselves.
func hasScattered(text []byte) bool {
	for line := range bytes.Lines(text) {
		if bytes.Contains(line, []byte(`"avg_ts"`)) && !isObjectLine(line) {
			return true
		}
	}
	return false
}

// isObjectLine reports whether a line is a JSON object by itself.
func isObjectLine(line []byte) bool {
	line = bytes.TrimSpace(line)
	return len(line) > 1 && line[0] == '{' && line[len(line)-1] == '}'
}

// errorOfForm returns an error that names a file which holds no result as it stands, by
// how it begins; nil: it may hold one.
func errorOfForm(data []byte) error {
	has := func(beginning string) bool { return bytes.HasPrefix(data, []byte(beginning)) }
	switch {
	case has("version https://git-lfs"):
		return errors.New("a Git LFS pointer, not the file itself; fetch the file with git lfs pull")
	case has("\x1f\x8b"):
		return errors.New("a file compressed with gzip; unpack it with gunzip")
	case has("\x28\xb5\x2f\xfd"):
		return errors.New("a file compressed with zstd; unpack it with unzstd")
	case has("PK\x03\x04"):
		return errors.New("a zip archive; unpack it, or give it to bench report or bench compare if it is a bundle")
	case has("Run Info,Run Info,"):
		return errors.New("a CSV file of GuideLLM, which is not read; import its JSON report")
	}

	beginning := data[:min(len(data), 1<<10)]
	if !bytes.HasPrefix(data, []byte("{")) && bytes.Contains(beginning, []byte("\n  guidellm_version:")) {
		return errors.New("a YAML file of GuideLLM, which is not read; import its JSON report")
	}
	return nil
}
