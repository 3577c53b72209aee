package parquet

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	reader "github.com/parquet-go/parquet-go"
)

type row struct {
	Name  *string  `parquet:"name,optional"`
	Count *int64   `parquet:"count,optional"`
	Size  *float64 `parquet:"size_s,optional"`
	OK    *bool    `parquet:"ok,optional"`
}

func columns() []Column {
	return []Column{{"name", Text}, {"count", Whole}, {"size_s", Float}, {"ok", Truth}}
}

// TestReadBack writes rows with and without nulls, over more than one group, and
// reads them with another program's reader.
func TestReadBack(t *testing.T) {
	const rows = groupRows + 17
	var file bytes.Buffer
	w, err := NewWriter(&file, "test", columns())
	if err != nil {
		t.Fatal(err)
	}
	for i := range rows {
		var size *float64
		if i%3 == 0 {
			size = new(float64(i) / 2)
		}
		var count any = i - 5
		if i%7 == 0 {
			count = nil
		}
		if err := w.Row(fmt.Sprint("é", i%10), count, size, i%5 == 0); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}

	got, err := reader.Read[row](bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil || len(got) != rows {
		t.Fatalf("%d rows, %v; want %d", len(got), err, rows)
	}
	for i, r := range got {
		ok := *r.Name == fmt.Sprint("é", i%10) && *r.OK == (i%5 == 0) &&
			(r.Count == nil) == (i%7 == 0) && (r.Count == nil || *r.Count == int64(i-5)) &&
			(r.Size == nil) == (i%3 != 0) && (r.Size == nil || *r.Size == float64(i)/2)
		if !ok {
			t.Fatalf("row %d is %+v", i, r)
		}
	}
}

func TestNoRows(t *testing.T) {
	var file bytes.Buffer
	w, err := NewWriter(&file, "test", columns())
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if got, err := reader.Read[row](bytes.NewReader(file.Bytes()), int64(file.Len())); err != nil || len(got) != 0 {
		t.Errorf("%d rows, %v; want none", len(got), err)
	}
}

func TestWrongValues(t *testing.T) {
	w, err := NewWriter(&bytes.Buffer{}, "test", columns())
	if err != nil {
		t.Fatal(err)
	}
	err = w.Row("a", "b", 1.0, true)
	if err == nil || !strings.Contains(err.Error(), "column count does not take a string") {
		t.Errorf("error %v", err)
	}
	if err := w.Row("a"); err == nil || !strings.Contains(err.Error(), "1 values for 4 columns") {
		t.Errorf("error %v", err)
	}
}
