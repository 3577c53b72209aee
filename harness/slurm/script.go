package slurm

import (
	"errors"
	"fmt"
	"path/filepath"
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
	Setup  []string // lines of shell before it; the first that fails ends the job
	Nodes  int      // of each job, the command runs on the first; 0: 1

	Exclude          []string      // nodes that get no job
	Options, Further []string      // of sbatch, before and after those that are made here
	Time             time.Duration // limit of a job; 0: the partition's
	// before that limit SIGUSR1 is sent to the command; 0: never
	Grace time.Duration
}

// NodesName is the folder, in that of a run, in which jobs note how they fared on
// their nodes.
const NodesName = "jobs/nodes"

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

	if len(a.Argv) == 0 {
		return "", errors.New("write job script: no command")
	}

	b.WriteString(a.checks())
	words := make([]string, len(a.Argv))
	for i, word := range a.Argv {
		words[i] = quoted(word)
	}

	fmt.Fprintf(&b, "exec %s\n", strings.Join(words, " "))
	return b.String(), nil
}

// checks are the lines before the command: what a bad node lacks is named, in the
// job's output and beside the run's nodes, and setup lines end the job when they
// fail.
func (a Array) checks() string {
	var b strings.Builder
	fmt.Fprintf(&b, `bench_run=%s
bench_fail() {
  echo "bench: job ${SLURM_JOB_ID} on ${SLURMD_NODENAME}: $1" >&2
  at="${bench_run}/%s/${SLURMD_NODENAME}"
  mkdir -p "$at" && echo "$1" >"$at/failed-${SLURM_ARRAY_JOB_ID}-${SLURM_ARRAY_TASK_ID}" || :
  exit 1
}
[ -w "${bench_run}" ] || bench_fail "the results folder cannot be written on this node: ${bench_run}"
`, quoted(a.Dir), NodesName)
	if filepath.IsAbs(a.Argv[0]) {
		fmt.Fprintf(&b, "bench_program=%s\n[ -x \"${bench_program}\" ] || "+
			"bench_fail \"bench is not there on this node: ${bench_program}\"\n", quoted(a.Argv[0]))
	}

	if len(a.Setup) == 0 {
		return b.String()
	}
	b.WriteString("set -eE\ntrap 'bench_fail \"slurm.setup line ${bench_line} failed with exit code $?: " +
		"${BASH_COMMAND}\"' ERR\n")
	for i, line := range a.Setup {
		fmt.Fprintf(&b, "bench_line=%d\n%s\n", i+1, line)
	}
	b.WriteString("trap - ERR\nset +eE\n")
	return b.String()
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

	if len(a.Exclude) > 0 {
		options = append(options, "--exclude="+strings.Join(a.Exclude, ","))
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
