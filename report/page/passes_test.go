package page

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/benchrig/bench/results"
)

// A small compressed file can hold billions of records: no more are read than the result
// can have counted.
func TestFarMoreRecordsThanTheResultCounts(t *testing.T) {
	const line = `{"index":0,"replica":0,"intended_s":0,"sent_s":0,"end_s":1,"chunk_s":[0.5,1],"chunk_kinds":"tt"}`
	r := &results.Result{Figures: &results.Figures{Asked: 10, DurationS: 1}}
	for lines, damaged := range map[int]bool{12: false, r.MostRecords(): false, r.MostRecords() + 100: true} {
		dir := t.TempDir()
		records := strings.Repeat(line+"\n", lines)
		if err := os.WriteFile(filepath.Join(dir, results.RequestsName), []byte(records), 0o644); err != nil {
			t.Fatal(err)
		}
		p, err := readPass(dir, r, budgetFor(1))
		if (err != nil) != damaged || p.total != min(lines, r.MostRecords()) {
			t.Errorf("readPass() of %d records = %d, %v, want damaged: %t", lines, p.total, err, damaged)
		}
	}
}
