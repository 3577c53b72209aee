package table

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"
)

func FuzzTokInputsLine(f *testing.F) {
	for _, line := range []string{
		`[1, 2]`, `{"tok_inputs": [1, 2147483647]}`, `{"tok_inputs": [null]}`, `[[1]]`,
		`[1e2]`, `{"tok_inputs": {"tok_inputs": [1]}}`,
	} {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		ids, err := parseIDs(line, "tok_inputs")
		if err != nil {
			return
		}
		again, err := json.Marshal(ids)
		if err != nil {
			t.Fatal(err)
		}
		if back, err := parseIDs(again, "tok_inputs"); err != nil || !slices.Equal(back, ids) {
			t.Errorf("parseIDs(%q) = %v, %v, want %v", again, back, err, ids)
		}
	})
}

func FuzzTokInputsParquet(f *testing.F) {
	two := int64(2)
	f.Add(writeParquet(f, []wideIDs{{1, []int64{1, 2, 3}}, {2, nil}}))
	f.Add(writeParquet(f, []narrowIDs{{[]int32{5}}}))
	f.Add(writeParquet(f, []optionalIDs{{[]*int64{&two, nil}}}))
	f.Fuzz(func(t *testing.T, content []byte) {
		table, err := newParquetTable(bytes.NewReader(content), int64(len(content)))
		if err != nil || table.Rows() == 0 {
			return
		}
		for _, field := range table.Columns() {
			column, err := table.idColumn(field)
			if err != nil {
				continue
			}
			if rows, err := column.IDs(t.Context(), []int{0}); err == nil && len(rows) != 1 {
				t.Fatalf("%d rows, want 1", len(rows))
			}
		}
	})
}
