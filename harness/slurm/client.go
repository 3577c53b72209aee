package slurm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/benchrig/bench/internal/output"
)

// Client speaks to the cluster. The zero value runs Slurm's programs from PATH.
type Client struct {
	// Run runs a program and returns what it prints; nil: os/exec.
	Run func(ctx context.Context, stdin string, argv ...string) (string, error)
}

// Job is one job of an array that is queued or runs.
type Job struct {
	ID     string // of the job itself
	Array  string // id of its array
	Task   int    // SLURM_ARRAY_TASK_ID
	State  string // as Slurm names it: PENDING, RUNNING, COMPLETING and others
	Node   string // "": none yet
	Reason string // why it waits; "None" where it does not
}

// Running reports whether the job has a node.
func (j Job) Running() bool { return j.State != "PENDING" }

// programTime bounds a program of Slurm's: a controller that does not answer
// makes them wait for minutes.
const programTime = 2 * time.Minute

func (c Client) run(ctx context.Context, stdin string, argv ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, programTime)
	defer cancel()

	if c.Run != nil {
		return c.Run(ctx, stdin, argv...)
	}

	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...) //nolint:gosec // Slurm's programs by name, arguments ours
	cmd.Stdin = strings.NewReader(stdin)
	var stdout bytes.Buffer
	var stderr output.Head
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &stdout, &stderr, time.Second
	err := cmd.Run()
	switch {
	case errors.Is(err, exec.ErrWaitDelay): // it succeeded, and a child of it keeps the pipe
	case errors.Is(err, exec.ErrNotFound):
		return "", fmt.Errorf("run %s: it is not on PATH; on: slurm needs Slurm's programs, as a login node has them",
			argv[0])
	case err != nil:
		return "", fmt.Errorf("run %s: %w: %s", argv[0], err, firstLines(stderr.String()))
	}

	return stdout.String(), nil
}

// firstLines are those of a program's complaint that say what is wrong.
func firstLines(text string) string {
	const most = 5
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[:min(most, len(lines))], "; ")
}

// Submit hands in a script and returns the id of its array.
func (c Client) Submit(ctx context.Context, script string) (string, error) {
	out, err := c.run(ctx, script, "sbatch", "--parsable")
	if err != nil {
		return "", fmt.Errorf("submit jobs: %w", err)
	}
	return submitted(out)
}

// Test asks the cluster whether it would take a script, without handing it in.
func (c Client) Test(ctx context.Context, script string) error {
	if _, err := c.run(ctx, script, "sbatch", "--test-only"); err != nil {
		return fmt.Errorf("the cluster would not take these jobs: %w", err)
	}
	return nil
}

// submitted reads "ID" or "ID;CLUSTER". Sites print notes of their own before.
func submitted(out string) (string, error) {
	lines := strings.Split(strings.TrimSpace(out), "\n")
	id, _, _ := strings.Cut(strings.TrimSpace(lines[len(lines)-1]), ";")
	if _, ok := taskID(id); !ok {
		return "", fmt.Errorf("submit jobs: sbatch printed %q, expected the number of a job", out)
	}
	return id, nil
}

// jobFormat are the columns of squeue that a Job is made of.
const jobFormat = "%F|%K|%A|%T|%N|%r"

// Jobs lists the jobs of that name which are among the arrays, queued or
// running. Jobs that have ended are not listed.
func (c Client) Jobs(ctx context.Context, name string, arrays []string) ([]Job, error) {
	if len(arrays) == 0 {
		return nil, nil
	}
	out, err := c.run(ctx, "", "squeue", "--noheader", "--array", "--name="+name, "--format="+jobFormat)
	if err != nil {
		return nil, fmt.Errorf("list jobs: %w", err)
	}
	return parseJobs(out, arrays), nil
}

func parseJobs(out string, arrays []string) []Job {
	var jobs []Job
	for line := range strings.Lines(out) {
		columns := strings.Split(strings.TrimRight(line, "\r\n"), "|")
		if len(columns) != strings.Count(jobFormat, "|")+1 {
			continue // a note of the site's
		}
		task, ok := taskID(columns[1])
		if !ok || !slices.Contains(arrays, columns[0]) {
			continue
		}
		jobs = append(jobs, Job{
			Array: columns[0], Task: task, ID: columns[2], State: columns[3], Node: columns[4],
			Reason: columns[5],
		})
	}
	return jobs
}

// Cancel takes jobs of that name and of these arrays out of the queue; with
// running it ends also those that run.
func (c Client) Cancel(ctx context.Context, name string, arrays []string, running bool) error {
	options := []string{"--name=" + name}
	if !running {
		options = append(options, "--state=PENDING")
	}
	return c.cancel(ctx, options, arrays)
}

// Stop asks the command of each running job to stop, as Ctrl-C would.
func (c Client) Stop(ctx context.Context, name string, jobs []Job) error {
	var ids []string
	for _, job := range jobs {
		ids = append(ids, job.Array+"_"+strconv.Itoa(job.Task))
	}
	return c.cancel(ctx, []string{"--name=" + name, "--batch", "--signal=TERM"}, ids)
}

// cancel is for jobs that may have ended meanwhile.
func (c Client) cancel(ctx context.Context, options, ids []string) error {
	const atOnce = 500 // ids in one command line
	for some := range slices.Chunk(ids, atOnce) {
		_, err := c.run(ctx, "", slices.Concat([]string{"scancel"}, options, some)...)
		if err != nil && !strings.Contains(err.Error(), "Invalid job id") &&
			!strings.Contains(err.Error(), "already complet") {
			return fmt.Errorf("cancel jobs: %w", err)
		}
	}
	return nil
}

// Node is a machine of the cluster.
type Node struct {
	Name    string
	Address string // at which Slurm reaches it: a name or an IP address
}

// Nodes are those of a list as Slurm writes it, such as n[1-2].
func (c Client) Nodes(ctx context.Context, list string) ([]Node, error) {
	out, err := c.run(ctx, "", "scontrol", "show", "node", "--oneliner", list)
	if err != nil {
		return nil, fmt.Errorf("ask for nodes %s: %w", list, err)
	}
	nodes := parseNodes(out)
	if len(nodes) == 0 {
		return nil, fmt.Errorf("look up nodes %s: scontrol show node does not list them", list)
	}
	return nodes, nil
}

func parseNodes(out string) []Node {
	var nodes []Node
	for line := range strings.Lines(out) {
		var n Node
		for word := range strings.FieldsSeq(line) {
			switch key, value, _ := strings.Cut(word, "="); {
			case key == "NodeName" && n.Name == "":
				n.Name = value
			case key == "NodeAddr" && n.Address == "":
				n.Address = value
			}
		}
		if n.Name != "" && n.Address != "" {
			nodes = append(nodes, n)
		}
	}

	return nodes
}

// Requeue puts a running job back into the queue. It is ended for that.
func (c Client) Requeue(ctx context.Context, id string) error {
	if _, err := c.run(ctx, "", "scontrol", "requeue", id); err != nil {
		return fmt.Errorf("queue job %s again: %w", id, err)
	}
	return nil
}

var maxArray = regexp.MustCompile(`(?m)^MaxArraySize\s*=\s*([0-9]+)\s*$`)

// MaxTasks is how many jobs one array may have.
func (c Client) MaxTasks(ctx context.Context) (int, error) {
	out, err := c.run(ctx, "", "scontrol", "show", "config")
	if err != nil {
		return 0, fmt.Errorf("ask the cluster: %w", err)
	}
	m := maxArray.FindStringSubmatch(out)
	if m == nil {
		return 0, errors.New("query the cluster: scontrol show config does not list MaxArraySize")
	}
	n, err := strconv.Atoi(m[1])
	if err != nil || n < 2 {
		return 0, fmt.Errorf("ask the cluster: MaxArraySize is %s: it allows no job arrays", m[1])
	}
	return n - 1, nil // the largest index is below it
}
