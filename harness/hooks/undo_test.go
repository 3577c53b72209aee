package hooks

import (
	"strings"
	"testing"

	"github.com/benchrig/bench/results"
)

func hookEvent(kind results.EventKind, name, life, step string, undo ...string) results.Event {
	return results.Event{
		Kind: kind, Life: life, Step: step, Message: "/dir",
		Hook: &results.HookRecord{Level: "variant", Name: name}, Undo: undo,
	}
}

func TestOpenUndos(t *testing.T) {
	started, finished, undone := results.HookStarted, results.HookFinished, results.HookUndone
	for _, tc := range []struct {
		name   string
		events []results.Event
		want   string
	}{
		{"none", nil, ""},
		{"no undo", []results.Event{hookEvent(started, "a", "01", "")}, ""},
		{"two, last first", []results.Event{hookEvent(started, "a", "01", "", "x"), hookEvent(finished, "a", "01", "",
			"x"), hookEvent(started, "b", "01", "", "y")}, "b:y a:x"},
		{"one undone", []results.Event{
			hookEvent(started, "a", "01", "", "x"), hookEvent(started, "b", "01", "", "y"),
			hookEvent(undone, "b", "01", "", "y"),
		}, "a:x"},
		{"of another life", []results.Event{hookEvent(started, "a", "01", "", "x"), hookEvent(undone, "a", "02", "",
			"x")}, "a:x"},
		{"twice started, once undone", []results.Event{
			hookEvent(started, "a", "01", "", "x"),
			hookEvent(started, "a", "01", "", "x"), hookEvent(undone, "a", "01", "", "x"),
		}, "a:x"},
		{"undone without a start", []results.Event{hookEvent(undone, "a", "01", "", "x")}, ""},
		{"other events", []results.Event{
			{Kind: results.LifeSpawned},
			hookEvent(started, "a", "01", "s", "x", "z"),
			{Kind: results.RunResumed},
		}, "a:x z"},
	} {
		var got []string
		for _, u := range OpenUndos(tc.events) {
			got = append(got, u.Name+":"+strings.Join(u.Argv, " "))
			if u.Dir != "/dir" || u.Level != "variant" {
				t.Errorf("%s: undo %+v lacks its folder or level", tc.name, u)
			}
		}
		if s := strings.Join(got, " "); s != tc.want {
			t.Errorf("%s: OpenUndos = %q, want %q", tc.name, s, tc.want)
		}
	}
}

func TestPutBack(t *testing.T) {
	r := newRunner(t)
	u := Undo{Level: "run", Name: "p", Dir: r.Dir, Argv: []string{"/bin/sh", "-c", "pwd"}}
	got := r.PutBack(t.Context(), u)
	if got.Kind != results.HookUndone || !got.Hook.OK || got.Hook.Message != r.Dir || got.Hook.When != "undo" {
		t.Errorf("PutBack = %+v, %+v, want it run in its folder", got, got.Hook)
	}
	if open := OpenUndos([]results.Event{{
		Kind: results.HookStarted, Message: u.Dir, Undo: u.Argv,
		Hook: &results.HookRecord{Level: "run", Name: "p"},
	}, got}); len(open) != 0 {
		t.Errorf("OpenUndos after PutBack = %+v, want none", open)
	}
	hiddenArg := r.PutBack(t.Context(), Undo{Level: "run", Name: "p", Argv: []string{"tool", "--key=***"}})
	if hiddenArg.Hook.OK || !strings.Contains(hiddenArg.Hook.Message, "by hand") {
		t.Errorf("PutBack(redacted) = %+v, want a refusal", hiddenArg.Hook)
	}
}
