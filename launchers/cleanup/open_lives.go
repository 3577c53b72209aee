package cleanup

import (
	"slices"

	"github.com/benchrig/bench/results"
)

// OpenLife is a server of which a journal does not say that it is gone: the
// program that wrote it was killed, or could not prove it.
type OpenLife struct {
	Life    string
	Replica int
	Process results.Process // as far as the journal knows it
}

// OpenLives finds the servers that a run may have left behind, in the order in
// which they were started.
func OpenLives(events []results.Event) []OpenLife {
	var open []OpenLife
	for _, e := range events {
		i := lastLife(open, e.Life, e.Replica)
		switch {
		case e.Kind == results.LifeStarting:
			open = append(open, OpenLife{Life: e.Life, Replica: e.Replica})
			open[len(open)-1].note(e.Process)
		case i < 0: // not a life's, or that of one that has ended
		case e.Kind == results.LifeSpawned:
			open[i].note(e.Process)
		case e.Kind == results.LifeGrown && e.Process != nil:
			open[i].Process.Members = append(open[i].Process.Members, e.Process.Members...)
			open[i].Process.ShmFiles = append(open[i].Process.ShmFiles, e.Process.ShmFiles...)
		case ends(e, open[i]):
			open = slices.Delete(open, i, i+1)
		}
	}

	return open
}

func lastLife(open []OpenLife, life string, replica int) int {
	for i, l := range slices.Backward(open) {
		if l.Life == life && l.Replica == replica {
			return i
		}
	}
	return -1
}

// ends reports whether an event says that nothing of a server is left.
func ends(e results.Event, life OpenLife) bool {
	switch e.Kind {
	case results.LifeFailed: // a start that came to nothing has no stop
		return !life.spawned() && (e.Failure == nil || e.Failure.Class != results.FailNoProof)
	case results.LifeStopped:
		return e.Proof != nil && nothingLeft(*e.Proof)
	default:
		return false
	}
}

// nothingLeft reports whether a proof says that nothing of ours is left. A
// port that a stranger took meanwhile is nothing of ours.
func nothingLeft(proof results.Proof) bool {
	proof.PortFree = true
	return proof.Clean()
}

// note takes over what an event says; the one after the spawn does not repeat
// what was seen before it.
func (l *OpenLife) note(p *results.Process) {
	if p == nil {
		return
	}
	before := l.Process
	l.Process = *p
	if p.VRAM == nil {
		l.Process.VRAM = before.VRAM
	}
	if p.Private == "" {
		l.Process.Private = before.Private
	}
	if p.GraceS == 0 {
		l.Process.GraceS, l.Process.OrphanGraceS = before.GraceS, before.OrphanGraceS
	}
	if p.Container == nil {
		l.Process.Container = before.Container
	}
}

func (l OpenLife) spawned() bool {
	return l.Process.PID != 0 || l.Process.Container != nil && l.Process.Container.ID != ""
}
