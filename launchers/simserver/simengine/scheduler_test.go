package simengine

import (
	"slices"
	"testing"
	"time"
)

// TestPriority: waiting requests are admitted by their priority, then by arrival; the
// last of the least urgent is preempted first and goes before those like it.
func TestPriority(t *testing.T) {
	settings, err := Config{MaxNumSeqs: 1}.Resolve()
	if err != nil {
		t.Fatal(err)
	}
	c := NewScheduler(settings)
	names := map[*Sequence]string{}
	for i, priority := range []int{5, 0, 5, 1, 0} {
		s := &Sequence{
			Prompt: []int32{1, 2, 3}, Spoken: []int32{7}, Answer: 1, Target: 1, Priority: priority, Out: NewStream(),
		}
		names[s] = string(rune('a' + i))
		c.Submit(s)
	}

	var order string
	for range 5 {
		b, _ := c.Plan()
		for _, it := range b.Items {
			order += names[it.Seq]
		}
		c.Commit(b, time.Unix(0, 0), time.Unix(1, 0))
	}
	if order != "bedac" {
		t.Errorf("admitted in the order %s, want bedac", order)
	}

	urgent, first, last := &Sequence{Priority: 0}, &Sequence{Priority: 9}, &Sequence{Priority: 9}
	waiting := []*Sequence{{Priority: 1}, {Priority: 9}}
	c.running, c.waiting = []*Sequence{first, last, urgent}, slices.Clone(waiting)
	if got := c.preemptYoungest(); got != last {
		t.Errorf("preempted priority %d, want the last one of priority 9", got.Priority)
	}
	if !slices.Equal(c.running, []*Sequence{first, urgent}) ||
		!slices.Equal(c.waiting, []*Sequence{waiting[0], last, waiting[1]}) {
		t.Error("the preempted request is not at the head of those of its priority")
	}
}
