package importer

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/benchrig/bench/internal/llamabench"
	"github.com/benchrig/bench/results"
)

// fromTests makes results of llama-bench's JSON objects: tests of one model and
// one set of settings are one run of the program.
func fromTests(name string, objects []object) []*entry {
	var all []*entry
	groups := map[string]*entry{}
	for _, o := range objects {
		var line bytes.Buffer
		line.WriteByte('{')
		for i, key := range o.keys {
			if i > 0 {
				line.WriteByte(',')
			}
			fmt.Fprintf(&line, "%s:%s", quoted(key), o.values[key])
		}
		line.WriteByte('}')
		rows, err := llamabench.Parse(line.Bytes())
		if err != nil {
			rows = nil
		}
		key := fmt.Sprintf("%s %s %s %s", o.text("model_filename"), brief(o.values["flash_attn"]), brief(o.values["n_ubatch"]), brief(o.values["n_gpu_layers"]))
		e := groups[key]
		if e == nil {
			e = newEntry(name, formatLlamaJSON, o.line)
			e.origin.Told = settingNames()
			groups[key] = e
			all = append(all, e)
		}
		for _, again := range o.twice {
			e.warn(results.WarnImportedUnusable, "a key stands twice, and the last counts: %s", shown(again))
		}
		for _, row := range rows {
			benched := benchRow(row)
			for _, key := range []string{"test_time", "avg_ns", "stddev_ns", "samples_ts"} { // what a row has no field for
				if raw, ok := o.values[key]; ok {
					benched.Rest[key] = brief(raw)
				}
			}
			e.rows = append(e.rows, benched)
			e.model = modelOfRow(benched)
		}
		if len(rows) == 0 {
			e.warn(results.WarnImportedUnusable, "line %d: a test that cannot be read: %s", o.line, shown(brief(line.Bytes())))
		}
	}
	return slices.DeleteFunc(all, func(e *entry) bool { return e.rows == nil && len(e.warnings) == 0 })
}

func modelOfRow(r results.LlamaBenchRow) string {
	if r.File == "" {
		return r.Model
	}
	return strings.TrimSuffix(path.Base(r.File), ".gguf")
}

func benchRow(r llamabench.Row) results.LlamaBenchRow {
	rest := maps.Clone(r.Rest)
	if rest == nil {
		rest = map[string]string{}
	}
	return results.LlamaBenchRow{
		Test: r.Test(), Build: r.Build, CPU: r.CPU, GPU: r.GPU, Backend: r.Backend, File: r.File, Model: r.Model, SizeBytes: r.SizeBytes,
		Parameters: r.Parameters, Threads: r.Threads, GPULayers: r.GPULayers, Batch: r.Batch, MicroBatch: r.MicroBatch, FlashAttn: r.FlashAttn,
		Prompt: r.Prompt, Generated: r.Generated, Depth: r.Depth, TokensPerS: r.TokensPerS, TokensPerSD: r.TokensPerSD, SamplesS: r.SamplesS, Rest: rest,
	}
}

// objectOfCells makes an object of a row of a CSV file or an INSERT, whose
// values are text.
func objectOfCells(heads, cells []string, line int) object {
	o := object{values: map[string]jsonText{}, line: line}
	for i, head := range heads {
		if i >= len(cells) || o.has(head) {
			continue
		}
		o.keys = append(o.keys, head)
		if number.MatchString(cells[i]) && head != "build_commit" && head != "tensor_split" && head != "cpu_mask" {
			o.values[head] = jsonText(cells[i])
			continue
		}
		o.values[head] = quoted(cells[i])
	}
	return o
}

var insert = regexp.MustCompile(`(?i)^\s*INSERT INTO\s+\S+\s*\(([^)]*)\)\s*VALUES\s*\((.*)\);\s*$`)

// fromSQL reads llama-bench -o sql.
func fromSQL(name string, lines []textLine) (entries []*entry, rest []results.ImportedLine) {
	var objects []object
	for _, l := range lines {
		m := insert.FindStringSubmatch(l.text)
		if m == nil {
			rest = appendLine(rest, l.no, results.LineNote, l.text)
			continue
		}
		reader := csv.NewReader(strings.NewReader(strings.ReplaceAll(m[2], "'", `"`)))
		reader.TrimLeadingSpace = true
		cells, err := reader.Read()
		heads := strings.Split(strings.ReplaceAll(m[1], " ", ""), ",")
		if err != nil || len(cells) != len(heads) {
			rest = appendLine(rest, l.no, results.LineNotFigures, l.text)
			continue
		}
		o := objectOfCells(heads, cells, l.no)
		if kindOf(o) != formatLlamaJSON {
			rest = appendLine(rest, l.no, results.LineNotFigures, l.text)
			continue
		}
		objects = append(objects, o)
	}
	entries = fromTests(name, objects)
	for _, e := range entries {
		e.origin.Format = formatLlamaSQL
	}
	return entries, rest
}

func appendLine(rest []results.ImportedLine, no int, kind results.LineKind, text string) []results.ImportedLine {
	if text = shown(text); strings.TrimSpace(text) == "" {
		return rest
	}
	return append(rest, results.ImportedLine{Line: no, Kind: kind, Text: text})
}
