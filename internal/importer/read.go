package importer

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/benchrig/bench/internal/importer/lenient"
	"github.com/benchrig/bench/internal/importer/plain"
	"github.com/benchrig/bench/results"
)

// read reads one file by its content, or as the format that is asked for.
func read(s Source, format string) (results.ImportedFile, []*entry, error) {
	sum := sha256.Sum256(s.Data)
	file := results.ImportedFile{Name: s.Name, SHA256: hex.EncodeToString(sum[:]), Bytes: int64(len(s.Data))}
	if len(s.Data) > maxBytes {
		return file, nil, fmt.Errorf("%d bytes are more than %d; cut the log down to its results", len(s.Data),
			maxBytes)
	}

	if err := errorOfForm(s.Data); err != nil {
		return file, nil, err
	}

	text, encoding := plain.Decode(s.Data)
	file.Encoding = encoding
	entries, err := readAs(&file, s.Name, text, format)
	if err != nil {
		return file, nil, err
	}

	file.Results = len(entries)
	if len(file.Lines) > maxLines {
		file.Omitted += len(file.Lines) - maxLines
		file.Lines = mostInformative(file.Lines)
	}

	return file, entries, nil
}

// mostInformative are the lines to keep of too many: what is not understood first,
// then headings and commands, then what stands first.
func mostInformative(lines []results.ImportedLine) []results.ImportedLine {
	rank := map[results.LineKind]int{
		results.LineNotFigures: 0, results.LineCommand: 1, results.LineHeading: 2,
		results.LineNote: 3,
	}
	kept := slices.Clone(lines)
	slices.SortStableFunc(kept, func(a, b results.ImportedLine) int { return rank[a.Kind] - rank[b.Kind] })
	kept = slices.Clone(kept[:maxLines])
	slices.SortStableFunc(kept, func(a, b results.ImportedLine) int { return a.Line - b.Line })
	return kept
}

func readAs(file *results.ImportedFile, name string, text []byte, format string) ([]*entry, error) {
	trimmed := bytes.TrimSpace(text)
	switch {
	case len(trimmed) == 0:
		return nil, errors.New("it is empty")
	case isPerfCSV(trimmed) && (format == "" || format == formatPerf || format == formatCSV):
		e, rest := fromPerfCSV(name, text)
		file.Format, file.Lines = formatPerf, rest
		return []*entry{e}, nil
	case format == formatCSV || format == "" && isCSV(trimmed):
		entries, rest, err := fromCSV(name, text)
		file.Format, file.Lines = formatCSV, rest
		if err == nil && len(entries) > 0 && !slices.ContainsFunc(entries, (*entry).hasFigures) {
			err = errors.New("no column is a known figure: a CSV file of results has one result in each row, " +
				"under names such as output_throughput")
		}
		return entries, err
	case format == formatLlamaSQL || format == "" && insert.Match(lastInsert(trimmed)):
		lines, _ := plain.Lines(text)
		entries, rest := fromSQL(name, lines)
		file.Format, file.Lines = formatLlamaSQL, rest
		return entries, nil
	case format == formatText:
	case trimmed[0] == '{' || trimmed[0] == '[' || format != "":
		objects, err := lenient.ObjectsIn(text)
		if err == nil {
			return readObjects(file, name, objects, format)
		}
		if format == formatLlamaJSON {
			return readScattered(file, name, text)
		}
		if format != "" {
			return nil, err
		}
		if !bytes.Contains(text, []byte("Benchmark Result")) && !hasObjectLine(trimmed) && !hasScattered(text) {
			return nil, err
		}
	}

	if format == "" && hasScattered(text) {
		return readScattered(file, name, text)
	}

	lines, overwritten := plain.Lines(text)
	entries, kept, omitted := fromText(name, lines)
	file.Format, file.Lines, file.Omitted = formatText, kept, overwritten+omitted
	return entries, nil
}

// readObjects reads a file that is JSON as a whole. A format that was asked for
// must be that of at least one object.
func readObjects(file *results.ImportedFile, name string, objects []lenient.Object, format string) ([]*entry, error) {
	kind, entries, rest := fromObjects(name, objects, format)
	file.Format, file.Lines = kind, rest
	if len(entries) == 0 && len(objects) > 0 {
		if err := errorOfTool(objects[0]); err != nil {
			return nil, err
		}
	}
	if format == "" || len(entries) == 0 {
		return entries, nil
	}
	if !slices.ContainsFunc(entries, (*entry).hasFigures) {
		return nil, fmt.Errorf("it has no figure of format %s; see what it is without --format", format)
	}
	return entries, nil
}

// readScattered reads results that are within other text.
func readScattered(file *results.ImportedFile, name string, text []byte) ([]*entry, error) {
	kind, entries, rest, omitted := scattered(name, text)
	file.Format, file.Lines, file.Omitted = kind, rest, omitted
	return entries, nil
}

// hasObjectLine says that one of the lines is a JSON object by itself: a file
// whose last line was cut off, a log with results in it.
func hasObjectLine(text []byte) bool {
	for line := range bytes.Lines(text) {
		if isObjectLine(line) {
			return true
		}
	}
	return false
}

// lastInsert is the last line that begins an INSERT.
func lastInsert(text []byte) []byte {
	at := bytes.LastIndex(text, []byte("INSERT INTO"))
	if at < 0 {
		return nil
	}
	line, _, _ := bytes.Cut(text[at:], []byte("\n"))
	return line
}

// lastLine is the last line of a text that is not blank.
func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return plain.Shown(text[strings.LastIndexByte(text, '\n')+1:])
}
