package pickle

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The files in testdata were written by real versions of pandas, by
// DataFrames with columns n, text, tok_inputs and x.
func TestColumn(t *testing.T) {
	all := [][]int{{1, 22, 333, 128000}, {}, {7, 8}, {65535}, {5, 6}, {-1, 300000}}
	files, err := filepath.Glob("testdata/*.pkl")
	if err != nil || len(files) < 20 {
		t.Fatalf("found %d files, %v", len(files), err)
	}
	for _, path := range files {
		name := strings.TrimSuffix(filepath.Base(path), ".pkl")
		t.Run(name, func(t *testing.T) {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			got, err := Column(data, "tok_inputs")
			want, problem := all, ""
			switch {
			case strings.HasSuffix(name, "-filtered"):
				want = all[3:]
			case strings.HasSuffix(name, "-only"):
				want = [][]int{{0, 1, 2, 3}, {1, 2, 3, 4}, {2, 3, 4, 5}}
			case strings.HasSuffix(name, "-other-column"):
				problem = `it has no column "tok_inputs"; there are ["ids"]`
			case strings.HasSuffix(name, "-plain-numbers"):
				problem = "its cells are not arrays"
			case strings.HasSuffix(name, "-text"):
				problem = "row 1: text in place of an array"
			}
			if problem != "" {
				if err == nil || !strings.Contains(err.Error(), problem) {
					t.Fatalf("Column = %v, %v; want an error with %q", got, err, problem)
				}
				return
			}
			if err != nil || !slices.EqualFunc(got, want, slices.Equal) {
				t.Errorf("Column = %v, %v; want %v", got, err, want)
			}
		})
	}
}

// Hostile pickles are refused where they name what is not on the list, and
// broken ones with what is wrong.
func TestRefused(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"os.system", "cos\nsystem\n(S'true'\ntR.", "it names os.system"},
		{
			"posix.system",
			"\x80\x04\x95\x1d\x00\x00\x00\x00\x00\x00\x00\x8c\x05posix\x8c\x06system\x93\x8c\x04true\x85R.",
			"it names posix.system",
		},
		{"eval", "\x80\x02c__builtin__\neval\nX\x01\x00\x00\x001\x85R.", "it names __builtin__.eval"},
		{
			"pandas that runs code", "\x80\x02cpandas.core.computation.eval\neval\n.",
			"it names pandas.core.computation.eval.eval",
		},
		{"numpy loads", "\x80\x02cnumpy\nload\n.", "it names numpy.load"},
		{"getattr", "\x80\x02c__builtin__\ngetattr\n.", "it names __builtin__.getattr"},
		{"extension registry", "\x80\x02\x82\x01.", "not one that a DataFrame of arrays needs"},
		{"persistent id", "\x80\x02X\x01\x00\x00\x00aQ.", "not one that a DataFrame of arrays needs"},
		{"instance", "(i__main__\nX\n.", "not one that a DataFrame of arrays needs"},
		{"empty", "", "ends in the middle"},
		{"only a stop", ".", "stack is empty"},
		{"a number", "\x80\x02K\x01.", "it contains 1, not a DataFrame"},
		{"a list", "\x80\x02].", "it contains a list, not a DataFrame"},
		{"text longer than the file", "\x80\x02X\xff\xff\xff\x7fabc.", "ends in the middle"},
		{"bytes longer than memory", "\x80\x05\x96\xff\xff\xff\xff\xff\xff\xff\x7fabc.", "ends in the middle"},
		{"memo never stored", "\x80\x02h\x05.", "memo 5 was never stored"},
		{"no mark", "\x80\x02K\x01t.", "no mark on the stack"},
		{"call of a number", "\x80\x02K\x01)R.", "a call of a value that is not a name"},
		{"no pickle", "PAR1\x00\x00", "not one that a DataFrame of arrays needs"},
		{"frame without state", "\x80\x02cpandas.core.frame\nDataFrame\n)\x81.", "the DataFrame has no state"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Column([]byte(tt.in), "tok_inputs")
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Column = %v, %v; want an error with %q", got, err, tt.want)
			}
		})
	}
}

// A list that holds itself must not be followed for ever.
func TestCycle(t *testing.T) {
	got, err := Column([]byte("\x80\x02]q\x00h\x00a."), "tok_inputs")
	if err == nil || !strings.Contains(err.Error(), "it contains a list, not a DataFrame") {
		t.Errorf("Column = %v, %v", got, err)
	}
}

func FuzzColumn(f *testing.F) {
	files, _ := filepath.Glob("testdata/*.pkl")
	for _, path := range files {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	bomb, _ := base64.StdEncoding.DecodeString("gAJdcQBoAGgAaABoAGgAhmgAhmgAhi4=")
	f.Add(bomb)
	f.Fuzz(func(t *testing.T, data []byte) {
		rows, err := Column(data, "tok_inputs")
		if err != nil {
			if rows != nil {
				t.Errorf("rows beside error %v", err)
			}
			return
		}
		ids := 0
		for _, row := range rows {
			ids += len(row)
		}
		if ids > 0 && len(rows) > len(data) {
			t.Errorf("%d rows out of %d bytes", len(rows), len(data))
		}
	})
}
