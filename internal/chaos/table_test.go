package chaos

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/benchrig/bench/results"
)

// row is one line of the table of faults and outcomes.
type row struct {
	stage, kind, name string
	want, next        string // what becomes of the step, and of the one that follows
	says              string // part of the reason
}

func (f fault) row() row {
	want := string(cmp.Or(f.verdict, results.OK))
	if f.class != "" {
		want += ": " + string(f.class)
	}
	next := string(cmp.Or(f.good, results.OK))
	if f.why != "" {
		next += ": " + string(f.why)
	}
	return row{f.stage, f.kind, f.name, want, next, f.says}
}

func (o ordeal) row() row { return row{stage: "bench", kind: o.kind, name: o.name, want: o.want} }

// rows is the whole table.
func rows() []row {
	var all []row
	for _, f := range faults() {
		all = append(all, f.row())
	}
	for _, o := range ordeals() {
		all = append(all, o.row())
	}
	for _, o := range realOrdeals() {
		all = append(all, o.row())
	}
	return all
}

func title(r row) string {
	return r.stage + "/" + strings.NewReplacer(" ", "-", "/", "-", ",", "").Replace(r.name)
}

// chosen reports whether a row belongs to this run: the short form takes every
// third row of each stage and kind, the first included.
func chosen(r row) bool {
	const share = 3
	nth := 0
	for _, other := range rows() {
		switch {
		case other == r:
			return whole() || nth%share == 0
		case other.stage == r.stage && other.kind == r.kind:
			nth++
		}
	}
	return false
}

// printed is what the tests of this run saw.
var printed outcomes

type outcomes struct {
	mu   sync.Mutex
	seen map[row]string
}

func (o *outcomes) add(r row, seen string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.seen == nil {
		o.seen = map[row]string{}
	}
	o.seen[r] = seen
}

func (o *outcomes) text() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	var lines []string
	for _, r := range rows() {
		if seen, ran := o.seen[r]; ran {
			lines = append(lines, fmt.Sprintf("%-5s  %-5s  %-52s  %s", r.stage, r.kind, r.name, seen))
		}
	}
	return fmt.Sprintf("%d of %d faults\n%s\n", len(lines), len(rows()), strings.Join(lines, "\n"))
}

func TestTable(t *testing.T) {
	t.Parallel()
	all := rows()
	if len(all) < 80 {
		t.Errorf("%d faults, want 80 at least", len(all))
	}
	titles := map[string]bool{}
	short := 0
	for _, r := range all {
		if titles[title(r)] {
			t.Errorf("two faults are called %q", title(r))
		}
		titles[title(r)] = true
		if !slices.Contains(stages(), r.stage) || !slices.Contains(kinds(), r.kind) {
			t.Errorf("%s: stage %q, kind %q: want one of %v and one of %v", r.name, r.stage, r.kind, stages(), kinds())
		}
		if chosen(r) {
			short++
		}
	}
	for _, stage := range stages()[:5] { // of servers
		for _, kind := range kinds() {
			if !slices.ContainsFunc(all, func(r row) bool { return r.stage == stage && r.kind == kind }) {
				t.Errorf("no fault of kind %s at stage %s", kind, stage)
			}
		}
	}
	for _, word := range words() {
		if meanings()[word] == "" {
			t.Errorf("nothing says what %q means", word)
		}
	}
	if !whole() && short > len(all)/2 {
		t.Errorf("the short form has %d of %d faults, want half of them at most", short, len(all))
	}
}

func stages() []string {
	return []string{"spawn", "load", "ready", "serve", "stop", "bench", "engines"}
}
func kinds() []string { return []string{"crash", "hang", "lie", "slow", "flood", "leak"} }

const docs = "../../docs/chaos.md"

// TestDocs holds docs/chaos.md to the table; -update-docs writes it.
func TestDocs(t *testing.T) {
	t.Parallel()
	text := document()
	if *updateDocs {
		if err := os.WriteFile(docs, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(docs)
	if err != nil {
		t.Fatal(err)
	}
	if string(have) != text {
		t.Errorf("%s is not that of this table: go test ./internal/chaos -run TestDocs -update-docs", docs)
	}
}
