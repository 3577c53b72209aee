package harness

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrig/bench/metrics/catalog"
	"github.com/benchrig/bench/metrics/search"
	"github.com/benchrig/bench/results"
)

// fill sets every field of a value, as deep as it goes.
func fill(v reflect.Value, n *int) {
	*n++
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), n)
	case reflect.Struct:
		for _, field := range v.Fields() {
			fill(field, n)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			fill(v.Index(i), n)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(key, n)
		fill(value, n)
		v.SetMapIndex(key, value)
	case reflect.String:
		v.SetString("text")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(*n))
	case reflect.Uint64:
		v.SetUint(uint64(*n))
	case reflect.Float64:
		v.SetFloat(float64(*n))
	default: // results have no other kinds
	}
}

// TestLedgerKeepsWhatDecides: the part of a result that stays in memory has every
// figure that the whole has, and is much smaller.
func TestLedgerKeepsWhatDecides(t *testing.T) {
	whole, n := &results.Result{}, 0
	fill(reflect.ValueOf(whole).Elem(), &n)
	whole.Verdict, whole.Imported = results.OK, nil // a run measures
	part := whatDecides(whole)

	known := 0
	all := catalog.All(catalog.Pass, catalog.Latency, catalog.Hardware, catalog.Heat, catalog.Energy, catalog.Cost,
		catalog.Shares)
	for _, figure := range append(all, catalog.FiguresOf([]*results.Result{whole})...) {
		want, got := figure.Of(whole), figure.Of(part)
		if want != nil {
			known++
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-whole +kept): %s", figure.Name, diff)
		}
	}
	if known < 30 {
		t.Errorf("%d figures are known of a result that has all, want more", known)
	}

	for _, verdict := range []results.Verdict{results.OK, results.Failed} {
		whole.Verdict = verdict
		policy := results.SearchPolicy{Targets: []results.Condition{{Figure: "p99_ttft_s", Op: "<=", Value: 1}}}
		want := search.ProbesOf(policy, []*results.Result{whole})
		if diff := cmp.Diff(want, search.ProbesOf(policy, []*results.Result{whatDecides(whole)})); diff != "" {
			t.Errorf("probe of a step that is %s (-whole +kept): %s", verdict, diff)
		}
	}

	size := func(r *results.Result) int {
		text, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		return len(text)
	}
	if size(part)*3 > 2*size(whole) {
		t.Errorf("%d of %d bytes are kept, want less than two thirds", size(part), size(whole))
	}
}
