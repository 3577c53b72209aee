package leftovers

import (
	"fmt"
	"strings"

	"github.com/benchrig/bench/internal/text"
)

// idLength is enough of a container's id for its engine.
const idLength = 12

// Lines describe the run for people.
func (out Run) Lines() []string {
	var lines []string
	if out.Skipped != "" {
		lines = append(lines, "left alone: "+out.Skipped)
	}

	for _, l := range out.Lives {
		lines = append(lines, l.lines()...)
	}

	for _, u := range out.Undos {
		line := fmt.Sprintf("hook %s: %s", u.Hook, strings.Join(u.Argv, " "))
		if u.Message != "" {
			line += ": " + u.Message
		}
		lines = append(lines, line)
	}

	if out.Error != "" {
		lines = append(lines, "error: "+out.Error)
	}
	if len(lines) == 0 {
		lines = append(lines, "nothing is left")
	}

	return lines
}

func (l Server) lines() []string {
	name := "processes of the run"
	if l.Life != "" {
		name = fmt.Sprintf("server %s replica %d", l.Life, l.Replica)
	}

	what := "nothing is left"
	var parts []string
	if len(l.Processes) > 0 {
		parts = append(parts, fmt.Sprintf("pids %s", strings.Trim(fmt.Sprint(l.Processes), "[]")))
	}
	if len(l.Containers) > 0 {
		parts = append(parts, "containers "+strings.Join(l.Containers, " "))
	}
	if len(parts) > 0 {
		what = strings.Join(parts, ", ") + l.outcome()
	} else if l.Rebooted {
		what += ": the machine was rebooted since"
	}

	lines := []string{name + ": " + what}
	for _, s := range l.Strangers {
		lines = append(lines, fmt.Sprintf("  left alone: pid %d: %s", s.PID, s.Why))
	}

	for _, c := range l.OtherContainers {
		lines = append(lines, fmt.Sprintf("  left alone: container %s has the label of this run and another name; "+
			"if it is yours to remove: %s rm -f %s", text.Clean(c.Name), c.Engine, c.ID[:min(idLength, len(c.ID))]))
	}

	if l.Proof != nil && len(l.Proof.ShmRemoved) > 0 {
		lines = append(lines, fmt.Sprintf("  removed from /dev/shm: %s", strings.Join(l.Proof.ShmRemoved, " ")))
	}
	if l.Proof != nil {
		for _, left := range l.Proof.ShmLeft {
			lines = append(lines, fmt.Sprintf("  left in shared memory: %s (%s); remove it with: rm %s", left.Path,
				left.Why, left.Path))
		}
	}

	if l.Error != "" {
		lines = append(lines, "  error: "+l.Error)
	}

	return lines
}

func (l Server) outcome() string {
	switch {
	case l.Proof == nil:
		return " still there"
	case !l.Proof.PIDsGone:
		return " not ended"
	}
	return fmt.Sprintf(" ended in %.1f s", l.Proof.StopS)
}
