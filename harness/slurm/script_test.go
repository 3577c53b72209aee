package slurm

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
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
			Array{Name: "bench-r", Tasks: 1, Dir: "/r", Output: "/r/%a", Argv: []string{
				"/bin/bench", "job",
				"/r", "g001",
			}},
			"#!/bin/bash\n#SBATCH --job-name=bench-r\n#SBATCH --array=0-0\n#SBATCH --nodes=1\n#SBATCH --ntasks=1\n" +
				"#SBATCH --requeue\n#SBATCH --open-mode=append\n" +
				"#SBATCH --chdir=/r\n#SBATCH --output=/r/%a\nexec '/bin/bench' 'job' '/r' 'g001'\n",
		},
		{
			"several nodes",
			Array{Name: "bench-r", Tasks: 1, Nodes: 4, Dir: "/r", Output: "/r/%a", Argv: []string{"x"}},
			"#!/bin/bash\n#SBATCH --job-name=bench-r\n#SBATCH --array=0-0\n#SBATCH --nodes=4\n" +
				"#SBATCH --ntasks-per-node=1\n#SBATCH --requeue\n#SBATCH --open-mode=append\n" +
				"#SBATCH --chdir=/r\n#SBATCH --output=/r/%a\nexec 'x'\n",
		},
		{
			"all of it",
			Array{
				Name: "bench-r", Tasks: 12, AtOnce: 2, After: "7", Dir: "/a b", Output: "/a b/%a",
				Argv: []string{"it's"}, Setup: []string{"module load rocm"},
				Options: []string{"--partition=p", "--account=a", "--qos=q", "--gres=gpu:8", "--constraint=x&y"},
				Further: []string{"--reservation=x"}, Exclude: []string{"n1", "n7"}, Time: 49*time.Hour +
					90*time.Second, Grace: 2 * time.Minute,
			},
			"#!/bin/bash\n#SBATCH --job-name=bench-r\n#SBATCH --array=0-11%2\n#SBATCH --nodes=1\n" +
				"#SBATCH --ntasks=1\n#SBATCH --requeue\n#SBATCH --open-mode=append\n" +
				"#SBATCH --chdir=\"/a b\"\n#SBATCH --output=\"/a b/%a\"\n#SBATCH --signal=B:USR1@120\n" +
				"#SBATCH --partition=p\n#SBATCH --account=a\n#SBATCH --qos=q\n" +
				"#SBATCH --gres=gpu:8\n#SBATCH --constraint=x&y\n#SBATCH --time=2-01:01:30\n" +
				"#SBATCH --exclude=n1,n7\n#SBATCH --dependency=afterany:7\n#SBATCH --reservation=x\n" +
				"exec 'it'\\''s'\n",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := test.array.Script()
			if err != nil {
				t.Fatal(err)
			}
			got = strings.Replace(got, test.array.checks(), "", 1)
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
	out := "a note of the site\n1|0|2|RUNNING|n1|None\n1|1|3|PENDING||JobArrayTaskLimit\n9|N/A|9|RUNNING|n1|None\n" +
		"5|0|6|RUNNING|n2|None\n"
	client := Client{Run: func(context.Context, string, ...string) (string, error) { return out, nil }}
	got, err := client.Jobs(t.Context(), "bench-r", []string{"1", "9"})
	want := []Job{
		{Array: "1", Task: 0, ID: "2", State: "RUNNING", Node: "n1", Reason: "None"},
		{Array: "1", Task: 1, ID: "3", State: "PENDING", Reason: "JobArrayTaskLimit"},
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("Jobs() = %v, %v; differs (-want +got):\n%s", got, err, diff)
	}
	if !got[0].Running() || got[1].Running() {
		t.Error("Running() = want true for the first only")
	}
}

func TestNodes(t *testing.T) {
	out := "NodeName=n1 Arch=x86_64 CPUAlloc=0 Gres=gpu:8 NodeAddr=10.0.0.1 NodeHostName=h1 Version=22.05.8 " +
		"OS=Linux 6.1 #1 SMP\n\nnote of the site\n" +
		"NodeName=n2 Arch=x86_64 NodeAddr=gpu2 NodeHostName=gpu2 Comment=NodeAddr=x\n"
	var asked []string
	client := Client{Run: func(_ context.Context, _ string, argv ...string) (string, error) {
		asked = argv
		return out, nil
	}}
	got, err := client.Nodes(t.Context(), "n[1-2]")
	if diff := cmp.Diff([]Node{{"n1", "10.0.0.1"}, {"n2", "gpu2"}}, got); diff != "" || err != nil {
		t.Errorf("Nodes() = %v, %v; differs (-want +got):\n%s", got, err, diff)
	}
	if line := strings.Join(asked, " "); line != "scontrol show node --oneliner n[1-2]" {
		t.Errorf("Nodes() ran %q", line)
	}
	out = "nothing\n"
	if _, err := client.Nodes(t.Context(), "n3"); err == nil || !strings.Contains(err.Error(), "n3") {
		t.Errorf("Nodes() of an invalid list = %v, want an error that names it", err)
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

// What keeps a job from its work is named in its output, and counts against its
// node; a line of setup that fails ends it.
func TestScriptNamesWhatIsMissing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "it's a run")
	if err := os.MkdirAll(filepath.Join(dir, "jobs"), 0o750); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		argv  []string
		setup []string
		want  string // end of the output
		fails string // beside the node
	}{
		{"nothing", []string{"/bin/echo", "here"}, []string{"set +u", "false || true"}, "here\n", ""},
		{
			"the program",
			[]string{"/no/such bench"},
			nil, "bench is not there on this node: /no/such bench\n",
			"bench is not there",
		},
		{
			"a line of setup",
			[]string{"/bin/echo", "here"},
			[]string{"true", "nosuchprogram --x", "echo never"},
			"slurm.setup line 2 failed with exit code 127: nosuchprogram --x\n", "slurm.setup line 2 failed",
		},
		{
			"a function of setup",
			[]string{"/bin/echo", "here"},
			[]string{"module() { return 3; }", "module load rocm"},
			"slurm.setup line 2 failed with exit code 3: return 3\n", "slurm.setup line 2 failed",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			script, err := Array{Name: "a", Tasks: 1, Dir: dir, Output: "o", Argv: c.argv, Setup: c.setup}.Script()
			if err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command("bash")
			cmd.Stdin = strings.NewReader(script)
			cmd.Env = append(os.Environ(), "SLURM_JOB_ID=8", "SLURM_ARRAY_JOB_ID=7", "SLURM_ARRAY_TASK_ID=1",
				"SLURMD_NODENAME=n1")
			out, err := cmd.CombinedOutput()
			if (err != nil) != (c.fails != "") || !strings.HasSuffix(string(out), c.want) {
				t.Errorf("the script printed %q, %v, want %q at its end", out, err, c.want)
			}

			noted := filepath.Join(dir, NodesName, "n1", "failed-7-1")
			text, _ := os.ReadFile(noted)
			if (len(text) > 0) != (c.fails != "") || !strings.Contains(string(text), c.fails) {
				t.Errorf("beside the node: %q, want %q", text, c.fails)
			}
			_ = os.Remove(noted)
		})
	}
}

func TestEnded(t *testing.T) {
	shown := "JobId=11 ArrayJobId=10 ArrayTaskId=0 JobName=b UserId=root(0) JobState=FAILED Reason=NonZeroExitCode " +
		"ExitCode=3:0 BatchHost=n1 NodeList=n1\n" +
		"JobId=12 ArrayJobId=10 ArrayTaskId=1 JobState=NODE_FAIL Reason=NodeDown ExitCode=0:9 NodeList=(null)\n" +
		"JobId=10 ArrayJobId=10 ArrayTaskId=2-5 JobState=PENDING\n"
	accounted := "10_0|11|CANCELLED by 0|0:15|n2\n10_1|12|OUT_OF_MEMORY|0:125|None assigned\nnote of the site\n"
	for _, c := range []struct {
		name, scontrol, sacct string
		want                  map[int]Ended
	}{
		{
			"the controller knows", shown, "",
			map[int]Ended{
				0: {Job: "11", State: "FAILED", Reason: "NonZeroExitCode", Node: "n1", ExitCode: "3:0"},
				1: {Job: "12", State: "NODE_FAIL", Reason: "NodeDown", ExitCode: "0:9"},
			},
		},
		{
			"the accounting knows", "", accounted,
			map[int]Ended{
				0: {Job: "11", State: "CANCELLED", Node: "n2", ExitCode: "0:15"},
				1: {Job: "12", State: "OUT_OF_MEMORY", ExitCode: "0:125"},
			},
		},
		{"nobody knows", "", "", nil},
	} {
		client := Client{Run: func(_ context.Context, _ string, argv ...string) (string, error) {
			out := map[string]string{"scontrol": c.scontrol, "sacct": c.sacct}[argv[0]]
			if out == "" {
				return "", errors.New("slurm_load_jobs error: Invalid job id specified")
			}
			return out, nil
		}}
		if diff := cmp.Diff(c.want, client.Ended(t.Context(), "10")); diff != "" {
			t.Errorf("%s: Ended() differs (-want +got):\n%s", c.name, diff)
		}
	}
}
