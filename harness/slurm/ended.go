package slurm

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Ended is what the cluster remembers of a job that has left the queue.
type Ended struct {
	Job      string // its own id
	State    string // as Slurm names it: FAILED, NODE_FAIL, CANCELLED and others
	Reason   string
	Node     string // "": it never had one
	ExitCode string // CODE:SIGNAL
}

// Ended asks for the jobs of an array, by their number. Those that the cluster has
// forgotten are left out: the controller keeps them for minutes, the accounting,
// where there is one, for longer.
func (c Client) Ended(ctx context.Context, array string) map[int]Ended {
	out, err := c.run(ctx, "", "scontrol", "show", "job", "--oneliner", array)
	if jobs := parseShown(out); err == nil && len(jobs) > 0 {
		return jobs
	}
	out, err = c.run(ctx, "", "sacct", "--noheader", "--parsable2", "--allocations", "--jobs="+array,
		"--format=JobID,JobIDRaw,State,ExitCode,NodeList")
	if err != nil {
		return nil
	}
	return parseAccounted(out)
}

// parseShown reads what scontrol prints: a job a line, as KEY=VALUE words.
func parseShown(out string) map[int]Ended {
	jobs := map[int]Ended{}
	for line := range strings.Lines(out) {
		fields := map[string]string{}
		for word := range strings.FieldsSeq(line) {
			if key, value, ok := strings.Cut(word, "="); ok && fields[key] == "" && value != "(null)" {
				fields[key] = value
			}
		}
		task, ok := taskID(fields["ArrayTaskId"])
		if !ok { // a line for several that wait
			continue
		}
		jobs[task] = Ended{
			Job: fields["JobId"], State: fields["JobState"], Reason: fields["Reason"], Node: fields["BatchHost"],
			ExitCode: fields["ExitCode"],
		}
	}
	return jobs
}

// parseAccounted reads what sacct prints: "ARRAY_TASK|ID|STATE|CODE:SIGNAL|NODES".
func parseAccounted(out string) map[int]Ended {
	const columns = 5
	jobs := map[int]Ended{}
	for line := range strings.Lines(out) {
		c := strings.Split(strings.TrimSpace(line), "|")
		if len(c) != columns {
			continue
		}

		_, text, _ := strings.Cut(c[0], "_")
		task, ok := taskID(text)
		if !ok {
			continue
		}

		state, _, _ := strings.Cut(c[2], " ") // "CANCELLED by 1000"
		node := c[4]
		if node == "None assigned" {
			node = ""
		}
		jobs[task] = Ended{Job: c[1], State: state, ExitCode: c[3], Node: node}
	}
	return jobs
}

// notWaiting is what scontrol says about jobs that run or have ended: none of them
// will start on another node any more.
var notWaiting = regexp.MustCompile(`no longer pending|Invalid job id|already finished`)

// Exclude keeps the jobs of arrays that still wait away from nodes.
func (c Client) Exclude(ctx context.Context, arrays, nodes []string) error {
	for _, array := range arrays {
		_, err := c.run(ctx, "", "scontrol", "update", "JobId="+array, "ExcNodeList="+strings.Join(nodes, ","))
		if err != nil && !notWaiting.MatchString(err.Error()) {
			return fmt.Errorf("exclude nodes: %w", err)
		}
	}
	return nil
}

// Others counts the jobs on a node that are not this one.
func (c Client) Others(ctx context.Context, node, job string) (int, error) {
	out, err := c.run(ctx, "", "squeue", "--noheader", "--array", "--nodelist="+node, "--states=RUNNING", "--format=%A")
	if err != nil {
		return 0, fmt.Errorf("ask for jobs on %s: %w", node, err)
	}
	others := 0
	for id := range strings.FieldsSeq(out) {
		if _, err := strconv.Atoi(id); err == nil && id != job {
			others++
		}
	}
	return others, nil
}
