package table

import (
	"bytes"
	"testing"

	"github.com/parquet-go/parquet-go"
)

func FuzzParquet(f *testing.F) {
	f.Add(writeParquet(f, []turnsRow{{[]turnRow{{"human", "a b c d"}, {"gpt", "e f g h"}}}}))
	f.Add(writeParquet(f, []promptRow{{"a b", 1}, {"c", 2}}))
	f.Fuzz(func(t *testing.T, content []byte) {
		table, err := newParquetTable(bytes.NewReader(content), int64(len(content)))
		if err != nil || table.Rows() == 0 {
			return
		}
		for _, field := range table.Columns() {
			used := 0
			err := table.Each(t.Context(), field, []int{0}, func(row int, _ []Utterance) error {
				used++
				if row != 0 {
					t.Fatalf("row %d was not asked for", row)
				}
				return nil
			})
			if err == nil && used != 1 {
				t.Fatalf("%d rows used, want 1", used)
			}
		}
	})
}

func FuzzJSONTable(f *testing.F) {
	f.Add([]byte("{\"prompt\": \"a\"}\n{\"prompt\": null}"))
	f.Add([]byte(
		`[{"conversations": [{"from": "human", "value": "a"}]}, {"conversations": {"from": ["x"], "value": ["y"]}}]`))
	f.Fuzz(func(t *testing.T, content []byte) {
		table, err := indexJSON(t.Context(), bytes.NewReader(content))
		if err != nil {
			return
		}
		for _, field := range table.Columns() {
			for row := range table.Rows() {
				_ = table.Each(t.Context(), field, []int{row}, func(got int, said []Utterance) error {
					if got != row {
						t.Fatalf("row %d, asked for %d", got, row)
					}
					if n := len(Exchanges(said)); n > len(said) {
						t.Fatalf("%d exchanges of %d messages", n, len(said))
					}
					return nil
				})
			}
		}
	})
}

// Layouts of columns in parquet files.
type (
	turnRow struct {
		From  string `parquet:"from,optional"`
		Value string `parquet:"value,optional"`
	}
	turnsRow struct {
		Conversations []turnRow `parquet:"conversations"`
	}
	promptRow struct {
		Prompt string `parquet:"prompt,optional,snappy"`
		Number int64  `parquet:"number"`
	}
	wideIDs struct {
		N         int64   `parquet:"n"`
		TokInputs []int64 `parquet:"tok_inputs,list"`
	}
	narrowIDs struct {
		TokInputs []int32 `parquet:"tok_inputs"`
	}
	optionalIDs struct {
		Other []*int64 `parquet:"other,list,optional"`
	}
)

func writeParquet[T any](t testing.TB, rows []T, options ...parquet.WriterOption) []byte {
	t.Helper()
	var out bytes.Buffer
	w := parquet.NewGenericWriter[T](&out, options...)
	if _, err := w.Write(rows); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}
