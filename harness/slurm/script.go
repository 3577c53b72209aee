package slurm

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Array is a job array: the same command in several jobs, told apart by
// SLURM_ARRAY_TASK_ID, which counts from 0.
type Array struct {
	Name   string   // of its jobs; see JobName
	Tasks  int      // number of jobs
	AtOnce int      // jobs that may run at the same time; 0: no limit
	After  string   // id of an array that must have ended; "": none
	Dir    string   // absolute: jobs run there
	Output string   // absolute path of the jobs' output, with sbatch's %A and %a
	Argv   []string // the command
	Setup  []string // lines of shell before it
	Nodes  int      // of each job, the command runs on the first; 0: 1

	Options, Further []string      // of sbatch, before and after those that are made here
	Time             time.Duration // limit of a job; 0: the partition's
	// before that limit SIGUSR1 is sent to the command; 0: never
	Grace time.Duration
}

// JobName is by what Slurm knows the jobs of a run.
func JobName(run string) string { return "bench-" + run }

// Script is what sbatch is given.
func (a Array) Script() (string, error) {
	var b strings.Builder
	b.WriteString("#!/bin/bash\n")
	for _, option := range a.options() {
		if strings.ContainsFunc(option, func(c rune) bool { return c < ' ' || c == 0x7f || c == '"' || c == '\\' }) {
			return "", fmt.Errorf("write job script: %q cannot be an option of sbatch: it has a control character, "+
				"quote or backslash", option)
		}
		name, value, ok := strings.Cut(option, "=")
		if ok && strings.ContainsAny(value, " '#") {
			option = name + `="` + value + `"`
		}
		fmt.Fprintf(&b, "#SBATCH %s\n", option)
	}

	for _, line := range a.Setup {
		b.WriteString(line + "\n")
	}

	if len(a.Argv) == 0 {
		return "", errors.New("write job script: no command")
	}

	words := make([]string, len(a.Argv))
	for i, word := range a.Argv {
		words[i] = quoted(word)
	}

	fmt.Fprintf(&b, "exec %s\n", strings.Join(words, " "))
	return b.String(), nil
}

// options are those of sbatch, in the order of the script.
func (a Array) options() []string {
	array := fmt.Sprintf("--array=0-%d", a.Tasks-1)
	if a.AtOnce > 0 {
		array += fmt.Sprintf("%%%d", a.AtOnce)
	}

	size := []string{"--nodes=1", "--ntasks=1"}
	if a.Nodes > 1 {
		size = []string{fmt.Sprintf("--nodes=%d", a.Nodes), "--ntasks-per-node=1"}
	}

	options := slices.Concat([]string{"--job-name=" + a.Name, array}, size,
		[]string{"--requeue", "--open-mode=append", "--chdir=" + a.Dir, "--output=" + a.Output})
	if a.Grace > 0 {
		options = append(options, fmt.Sprintf("--signal=B:USR1@%d", int(a.Grace.Seconds())))
	}

	options = append(options, a.Options...)
	if a.Time > 0 {
		options = append(options, "--time="+limit(a.Time))
	}

	if a.After != "" {
		options = append(options, "--dependency=afterany:"+a.After)
	}

	return append(options, a.Further...)
}

// limit is a time as sbatch reads it: days-hours:minutes:seconds.
func limit(d time.Duration) string {
	const hoursOfDay = 24
	s := int(d.Round(time.Second).Seconds())
	hours := s / int(time.Hour/time.Second)
	return fmt.Sprintf("%d-%02d:%02d:%02d", hours/hoursOfDay, hours%hoursOfDay, s/60%60, s%60)
}

// quoted is a word that a shell reads back as it is.
func quoted(word string) string {
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// taskID is the number that Slurm gives a job of an array.
func taskID(text string) (int, bool) {
	n, err := strconv.Atoi(text)
	return n, err == nil && n >= 0
}
