package slurm

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestScript(t *testing.T) {
	for _, test := range []struct {
		name  string
		array Array
		want  string
	}{
		{
			"the least",
			Array{Name: "bench-r", Tasks: 1, Dir: "/r", Output: "/r/%a", Argv: []string{"/bin/bench", "job", "/r", "g001"}},
			"#!/bin/bash\n#SBATCH --job-name=bench-r\n#SBATCH --array=0-0\n#SBATCH --nodes=1\n#SBATCH --ntasks=1\n#SBATCH --requeue\n#SBATCH --open-mode=append\n" +
				"#SBATCH --chdir=/r\n#SBATCH --output=/r/%a\nexec '/bin/bench' 'job' '/r' 'g001'\n",
		},
		{
			"several nodes",
			Array{Name: "bench-r", Tasks: 1, Nodes: 4, Dir: "/r", Output: "/r/%a", Argv: []string{"x"}},
			"#!/bin/bash\n#SBATCH --job-name=bench-r\n#SBATCH --array=0-0\n#SBATCH --nodes=4\n#SBATCH --ntasks-per-node=1\n#SBATCH --requeue\n#SBATCH --open-mode=append\n" +
				"#SBATCH --chdir=/r\n#SBATCH --output=/r/%a\nexec 'x'\n",
		},
		{
			"all of it",
			Array{
				Name: "bench-r", Tasks: 12, AtOnce: 2, After: "7", Dir: "/a b", Output: "/a b/%a", Argv: []string{"it's"}, Setup: []string{"module load rocm"},
				Options: []string{"--partition=p", "--account=a", "--qos=q", "--gres=gpu:8", "--constraint=x&y"}, Further: []string{"--exclusive"}, Time: 49*time.Hour + 90*time.Second, Grace: 2 * time.Minute,
			},
			"#!/bin/bash\n#SBATCH --job-name=bench-r\n#SBATCH --array=0-11%2\n#SBATCH --nodes=1\n#SBATCH --ntasks=1\n#SBATCH --requeue\n#SBATCH --open-mode=append\n" +
				"#SBATCH --chdir=\"/a b\"\n#SBATCH --output=\"/a b/%a\"\n#SBATCH --signal=B:USR1@120\n#SBATCH --partition=p\n#SBATCH --account=a\n#SBATCH --qos=q\n" +
				"#SBATCH --gres=gpu:8\n#SBATCH --constraint=x&y\n#SBATCH --time=2-01:01:30\n#SBATCH --dependency=afterany:7\n#SBATCH --exclusive\n" +
				"module load rocm\nexec 'it'\\''s'\n",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := test.array.Script()
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("Script() differs (-want +got):\n%s", diff)
			}
		})
	}
}

func TestScriptRefuses(t *testing.T) {
	for _, array := range []Array{
		{Name: "a\n#SBATCH --uid=0", Tasks: 1, Argv: []string{"x"}},
		{Name: "a", Tasks: 1, Dir: `/a"b`, Argv: []string{"x"}},
		{Name: "a", Tasks: 1},
	} {
		if script, err := array.Script(); err == nil {
			t.Errorf("Script(%+v) = %q, want an error", array, script)
		}
	}
}

func TestSubmitted(t *testing.T) {
	for _, test := range []struct {
		out, want string
		fails     bool
	}{
		{out: "17\n", want: "17"},
		{out: "17;cluster2\n", want: "17"},
		{out: "sbatch: note of the site\n18\n", want: "18"},
		{out: "Submitted batch job 3\n", fails: true},
		{out: "", fails: true},
	} {
		got, err := submitted(test.out)
		if got != test.want || (err != nil) != test.fails {
			t.Errorf("submitted(%q) = %q, %v, want %q, error %v", test.out, got, err, test.want, test.fails)
		}
	}
}

func TestJobs(t *testing.T) {
	out := "a note of the site\n1|0|2|RUNNING|n1|None\n1|1|3|PENDING||JobArrayTaskLimit\n9|N/A|9|RUNNING|n1|None\n5|0|6|RUNNING|n2|None\n"
	client := Client{Run: func(context.Context, string, ...string) (string, error) { return out, nil }}
	got, err := client.Jobs(t.Context(), "bench-r", []string{"1", "9"})
	want := []Job{{Array: "1", Task: 0, ID: "2", State: "RUNNING", Node: "n1", Reason: "None"}, {Array: "1", Task: 1, ID: "3", State: "PENDING", Reason: "JobArrayTaskLimit"}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("Jobs() = %v, %v; differs (-want +got):\n%s", got, err, diff)
	}
	if !got[0].Running() || got[1].Running() {
		t.Error("Running() = want true for the first only")
	}
}

func TestNodes(t *testing.T) {
	out := "NodeName=n1 Arch=x86_64 CPUAlloc=0 Gres=gpu:8 NodeAddr=10.0.0.1 NodeHostName=h1 Version=22.05.8 OS=Linux 6.1 #1 SMP\n\nnote of the site\n" +
		"NodeName=n2 Arch=x86_64 NodeAddr=gpu2 NodeHostName=gpu2 Comment=NodeAddr=x\n"
	var asked []string
	client := Client{Run: func(_ context.Context, _ string, argv ...string) (string, error) { asked = argv; return out, nil }}
	got, err := client.Nodes(t.Context(), "n[1-2]")
	if diff := cmp.Diff([]Node{{"n1", "10.0.0.1"}, {"n2", "gpu2"}}, got); diff != "" || err != nil {
		t.Errorf("Nodes() = %v, %v; differs (-want +got):\n%s", got, err, diff)
	}
	if line := strings.Join(asked, " "); line != "scontrol show node --oneliner n[1-2]" {
		t.Errorf("Nodes() ran %q", line)
	}
	out = "nothing\n"
	if _, err := client.Nodes(t.Context(), "n3"); err == nil || !strings.Contains(err.Error(), "n3") {
		t.Errorf("Nodes() of what is none = %v, want an error that names it", err)
	}
}

func TestMaxTasks(t *testing.T) {
	for _, test := range []struct {
		out  string
		want int
	}{{"A = b\nMaxArraySize            = 1001\nC = d\n", 1000}, {"MaxArraySize = 1\n", 0}, {"nothing\n", 0}} {
		client := Client{Run: func(context.Context, string, ...string) (string, error) { return test.out, nil }}
		if got, err := client.MaxTasks(t.Context()); got != test.want || (err == nil) != (test.want > 0) {
			t.Errorf("MaxTasks of %q = %d, %v, want %d", test.out, got, err, test.want)
		}
	}
}

func TestErrorsNameTheProgram(t *testing.T) {
	client := Client{Run: func(_ context.Context, _ string, argv ...string) (string, error) {
		return "", errors.New(argv[0] + " is ill")
	}}
	_, err := client.Submit(t.Context(), "x")
	if err == nil || !strings.Contains(err.Error(), "submit jobs: sbatch is ill") {
		t.Errorf("Submit = %v, want it to name sbatch", err)
	}
	t.Setenv("PATH", t.TempDir())
	if _, err := (Client{}).Submit(t.Context(), "x"); err == nil || !strings.Contains(err.Error(), "not on PATH") {
		t.Errorf("Submit without sbatch = %v, want what is missing", err)
	}
}

func FuzzJobs(f *testing.F) {
	f.Add("1|0|2|RUNNING|n1|None\n")
	f.Fuzz(func(t *testing.T, out string) {
		for _, job := range parseJobs(out, []string{"1"}) {
			if job.Array != "1" || job.Task < 0 {
				t.Errorf("parseJobs(%q) has %+v, of an array not asked for", out, job)
			}
		}
	})
}
