package page

import (
	"os"
	"path/filepath"
	"slices"
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

// The same holds for telemetry, which a pass has for as long as it lasts, and for lines
// that no chart is drawn from.
func TestFarMoreLinesThanAPassLeaves(t *testing.T) {
	r := &results.Result{
		Client: &results.ClientReport{}, Telemetry: &results.Telemetry{}, Figures: &results.Figures{Asked: 10},
	}
	for _, tt := range []struct {
		name, line, want string
		most             int
	}{
		{results.TelemetryName, `{"at_s":1,"gpu":{"device":"a","power_w":100}}`, "read telemetry: ", r.MostReadings()},
		{results.TelemetryName, "x", "read telemetry: ", r.MostReadings()},
		{results.RequestsName, `{"probe":true}`, "read records: ", r.MostRecords()},
	} {
		for _, more := range []bool{false, true} {
			lines := tt.most
			if more {
				lines++
			}
			dir := t.TempDir()
			content := strings.Repeat(tt.line+"\n", lines)
			if err := os.WriteFile(filepath.Join(dir, tt.name), []byte(content), 0o644); err != nil {
				t.Fatal(err)
			}
			p, err := readPass(dir, r, budgetFor(1))
			if got := slices.ContainsFunc(damageOf(p, err), func(s string) bool {
				return strings.HasPrefix(s, tt.want)
			}); got != more {
				t.Errorf("damage of %d lines %s: %q, want %q: %t", lines, tt.line, damageOf(p, err), tt.want, more)
			}
		}
	}
}

// TestUnreadableTelemetry: what is missing from the curves is said.
func TestUnreadableTelemetry(t *testing.T) {
	dir := t.TempDir()
	content := "x\n" + `{"at_s":1,"gpu":{"device":"a","power_w":100}}` + "\n"
	if err := os.WriteFile(filepath.Join(dir, results.TelemetryName), []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	p, err := readPass(dir, &results.Result{}, budgetFor(1))
	want := []string{"1 line of its telemetry cannot be read"}
	if got := damageOf(p, err); !slices.Equal(got, want) || len(p.devices) != 1 {
		t.Errorf("damage %q, curves of %d devices, want %q and 1", got, len(p.devices), want)
	}
}
