package slurm_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/benchrig/bench/harness/slurm"
	"github.com/benchrig/bench/internal/slurmtest"
)

// on is a client that finds the cluster by its environment.
func on(c *slurmtest.Cluster) slurm.Client {
	return slurm.Client{Run: func(ctx context.Context, stdin string, argv ...string) (string, error) {
		cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
		cmd.Env, cmd.Stdin = c.Environ(), strings.NewReader(stdin)
		out, err := cmd.Output()
		return string(out), err
	}}
}

func TestClientOnACluster(t *testing.T) {
	cluster := slurmtest.Start(t)
	client := on(cluster)
	dir := t.TempDir()
	if n, err := client.MaxTasks(t.Context()); err != nil || n != 1000 {
		t.Fatalf("MaxTasks() = %d, %v, want 1000", n, err)
	}
	hostile := `it's "$HOME" * %A \`
	array := slurm.Array{
		Name: slurm.JobName("r1"), Tasks: 3, AtOnce: 2, Dir: dir, Output: filepath.Join(dir, "%a.out"),
		Options: []string{"--gres=gpu:1"}, Time: time.Hour,
		Setup: []string{"greeting=hello; export greeting"},
		Argv: []string{
			"/bin/sh", "-c",
			`echo "$greeting $1 gpu=$CUDA_VISIBLE_DEVICES"; if [ $SLURM_ARRAY_TASK_ID != 0 ]; then exec sleep 600; fi`,
			"sh", hostile,
		},
	}
	script, err := array.Script()
	if err != nil {
		t.Fatal(err)
	}
	id, err := client.Submit(t.Context(), script)
	if err != nil {
		t.Fatal(err)
	}
	// not ours
	other, err := client.Submit(t.Context(), strings.NewReplacer("bench-r1", "bench-r2", "%a.out",
		"%a.other").Replace(script))
	if err != nil {
		t.Fatal(err)
	}
	jobs := func() []slurm.Job {
		list, err := client.Jobs(t.Context(), array.Name, []string{id, other})
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	cluster.Await("the first job's end", func() bool {
		list := jobs()
		return len(list) == 2 && list[0].State == "RUNNING" && list[1].State == "RUNNING"
	})
	for _, job := range jobs() {
		if job.Array != id || job.Task == 0 || job.Node == "" {
			t.Errorf("Jobs() has %+v, want tasks 1 and 2 of %s on a node", job, id)
		}
	}
	out, err := os.ReadFile(filepath.Join(dir, "0.out"))
	if want := "hello " + hostile + " gpu=0\n"; err != nil || string(out) != want {
		t.Errorf("output of task 0 = %q, %v, want %q", out, err, want)
	}
	// Slurm drops a signal for a job whose script is only beginning.
	for _, file := range []string{"1.out", "2.out"} {
		cluster.Await(file, func() bool {
			out, err := os.ReadFile(filepath.Join(dir, file))
			return err == nil && bytes.HasSuffix(out, []byte("\n"))
		})
	}
	if err := client.Stop(t.Context(), array.Name, jobs()[:1]); err != nil {
		t.Fatal(err)
	}
	cluster.Await("one job stopped", func() bool { return len(jobs()) == 1 })
	if err := client.Cancel(t.Context(), array.Name, []string{id}, false); err != nil || len(jobs()) != 1 {
		t.Errorf("Cancel of what waits = %v, %d jobs run, want 1", err, len(jobs()))
	}
	if err := client.Cancel(t.Context(), array.Name, []string{id, other}, true); err != nil {
		t.Fatal(err)
	}
	cluster.Await("no job", func() bool { return len(jobs()) == 0 })
	if list, err := client.Jobs(t.Context(), "bench-r2", []string{other}); err != nil || len(list) != 2 {
		t.Errorf("jobs of the other run = %v, %v, want the 2 that run", list, err)
	}
}
