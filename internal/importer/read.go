package importer

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"github.com/benchrig/bench/internal/importer/clients"
	"github.com/benchrig/bench/internal/importer/lenient"
	"github.com/benchrig/bench/internal/importer/plain"
	"github.com/benchrig/bench/internal/importer/stated"
	"github.com/benchrig/bench/results"
)

// content is what was read of a file.
type content struct {
	format  string
	entries []*stated.Entry
	lines   []results.ImportedLine // that are not figures
	omitted int                    // lines that are not kept
}

// add appends what another part of the file holds.
func (c *content) add(other content) {
	c.entries, c.lines = append(c.entries, other.entries...), append(c.lines, other.lines...)
	c.omitted += other.omitted
}

// reject keeps a line that reads like a result and is not one.
func (c *content) reject(no int, text string) {
	c.lines = stated.AppendLine(c.lines, no, results.LineNotFigures, text)
}

// read reads one file by its content, or in the format that is asked for.
func read(s Source, format string) (results.ImportedFile, []*stated.Entry, error) {
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
	c, err := readAs(s.Name, text, format)
	if err != nil {
		return file, nil, err
	}

	file.Encoding, file.Format, file.Results = encoding, c.format, len(c.entries)
	file.Lines, file.Omitted = c.lines, c.omitted
	if len(file.Lines) > maxLines {
		file.Omitted += len(file.Lines) - maxLines
		file.Lines = mostInformative(file.Lines)
	}

	return file, c.entries, nil
}

// mostInformative returns the maxLines lines to keep of too many: first those that were
// not understood, then commands, then headings, and the earlier ones of a kind first.
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

// readAs reads the text of a file. The order of the checks decides where a text could
// be of several formats.
func readAs(name string, text []byte, format string) (content, error) {
	trimmed := bytes.TrimSpace(text)
	switch {
	case len(trimmed) == 0:
		return content{}, errors.New("it is empty")
	case clients.IsPerfCSV(trimmed) && (format == "" || format == clients.Perf || format == formatCSV):
		e, rest := clients.FromPerfCSV(name, text)
		if !e.HasFigures() {
			return content{}, errors.New("a CSV file of AIPerf or genai-perf without a figure")
		}
		return content{format: clients.Perf, entries: []*stated.Entry{e}, lines: rest}, nil
	case format == formatCSV || format == "" && isCSV(trimmed):
		c, err := fromCSV(name, text)
		if err == nil && len(c.entries) > 0 && !slices.ContainsFunc(c.entries, (*stated.Entry).HasFigures) {
			err = errors.New("no column is a known figure: a CSV file of results has one result in each row, " +
				"under names such as output_throughput")
		}
		return c, err
	case format == formatLlamaSQL || format == "" && insert.Match(lastInsert(trimmed)):
		lines, _ := plain.Lines(text)
		return fromSQL(name, lines), nil
	case format == formatText:
	case trimmed[0] == '{' || trimmed[0] == '[' || format != "":
		objects, err := lenient.ObjectsIn(text)
		switch {
		case err == nil:
			return readObjects(name, objects, format)
		case format == formatLlamaJSON:
			return scattered(name, text), nil
		case format != "",
			!bytes.Contains(text, []byte("Benchmark Result")) && !hasObjectLine(trimmed) && !hasScattered(text):
			return content{}, err
		}
	}

	if format == "" && hasScattered(text) {
		return scattered(name, text), nil
	}

	lines, overwritten := plain.Lines(text)
	c := fromText(name, lines)
	c.omitted += overwritten
	return c, nil
}

// readObjects reads a file that is JSON as a whole. A format that is asked for must
// be that of at least one object.
func readObjects(name string, objects []lenient.Object, format string) (content, error) {
	c := fromObjects(name, objects, format)
	if len(c.entries) == 0 && len(objects) > 0 {
		if err := clients.Unread(objects[0]); err != nil {
			return content{}, err
		}
	}
	if format != "" && len(c.entries) > 0 && !slices.ContainsFunc(c.entries, (*stated.Entry).HasFigures) {
		return content{}, fmt.Errorf("it has no figure of format %s; see what it is without --format", format)
	}
	return c, nil
}

// hasObjectLine reports whether a line is a JSON object by itself, as in a file whose
// last line was cut off, or in a log.
func hasObjectLine(text []byte) bool {
	for line := range bytes.Lines(text) {
		if isObjectLine(line) {
			return true
		}
	}
	return false
}

// lastInsert returns the last line that begins an INSERT.
func lastInsert(text []byte) []byte {
	at := bytes.LastIndex(text, []byte("INSERT INTO"))
	if at < 0 {
		return nil
	}
	line, _, _ := bytes.Cut(text[at:], []byte("\n"))
	return line
}
