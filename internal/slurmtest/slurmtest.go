// Package slurmtest starts a Slurm cluster for tests: munged, slurmctld and two
// slurmd on this machine, in a folder of their own.
//
// It needs root and Debian's packages slurm-wlm and munge. Everything that it
// starts is ended with the test.
package slurmtest

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/benchrig/bench/internal/freeport"
	"github.com/benchrig/bench/internal/proc"
)

// Cluster is a cluster of the nodes n1 and n2, each with two pretended GPUs.
type Cluster struct {
	Dir  string // its folder
	Conf string // value for SLURM_CONF
	t    *testing.T
}

const startTime = 30 * time.Second

// Start starts a cluster, or skips the test where there can be none.
func Start(t *testing.T) *Cluster {
	t.Helper()
	for _, program := range []string{"munged", "slurmctld", "slurmd", "sbatch"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("no %s: the packages slurm-wlm and munge are not installed", program)
		}
	}

	if os.Getuid() != 0 {
		t.Skip("a cluster for tests needs root")
	}

	dir, err := os.MkdirTemp("/tmp", "slurm") //nolint:usetesting // short: the path of a socket has 108 bytes
	if err != nil {
		t.Fatal(err)
	}

	c := &Cluster{Dir: dir, Conf: filepath.Join(dir, "slurm.conf"), t: t}
	t.Cleanup(c.stop)
	c.configure()
	if err := c.start(); err != nil {
		t.Skipf("no cluster can be started here: %v", err)
	}

	return c
}

// start starts the daemons and waits for both nodes.
func (c *Cluster) start() error {
	if err := c.run("munged", "--force", "--key-file="+c.path("munge.key"), "--socket="+c.path("munge.sock"),
		"--pid-file="+c.path("munged.pid"), "--log-file="+c.path("munged.log"),
		"--seed-file="+c.path("munge.seed")); err != nil {
		return err
	}
	for _, argv := range [][]string{{"slurmctld"}, {"slurmd", "-N", "n1"}, {"slurmd", "-N", "n2"}} {
		if err := c.run(argv...); err != nil {
			return err
		}
	}
	return c.await("both nodes idle", func() bool {
		out, err := c.Output("sinfo", "--noheader", "--Node", "--partition=main", "--format=%T")
		return err == nil && out == "idle\nidle\n"
	})
}

func (c *Cluster) path(name string) string { return filepath.Join(c.Dir, name) }

const conf = `ClusterName=test
SlurmctldHost=%[1]s(127.0.0.1)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=%[2]s/munge.sock
CredType=cred/munge
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SchedulerType=sched/backfill
SchedulerParameters=batch_sched_delay=0,sched_interval=1
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
JobAcctGatherType=jobacct_gather/none
ReturnToService=2
GresTypes=gpu
SlurmctldPort=%[3]d
SlurmdParameters=config_overrides
StateSaveLocation=%[2]s/state
SlurmdSpoolDir=%[2]s/spool-%%n
SlurmctldPidFile=%[2]s/slurmctld.pid
SlurmdPidFile=%[2]s/slurmd-%%n.pid
SlurmctldLogFile=%[2]s/slurmctld.log
SlurmdLogFile=%[2]s/slurmd-%%n.log
KillWait=10
SlurmdTimeout=10
MaxArraySize=1001
NodeName=n1 NodeHostname=%[1]s NodeAddr=127.0.0.1 Port=%[4]d CPUs=2 RealMemory=1000 State=UNKNOWN Gres=gpu:2
NodeName=n2 NodeHostname=%[1]s NodeAddr=127.0.0.2 Port=%[5]d CPUs=2 RealMemory=1000 State=UNKNOWN Gres=gpu:2
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
PartitionName=closed Nodes=ALL MaxTime=INFINITE State=DOWN
`

func (c *Cluster) configure() {
	c.t.Helper()
	host, err := os.Hostname()
	if err != nil {
		c.t.Fatal(err)
	}

	const keyBytes = 1024
	key := make([]byte, keyBytes)
	_, _ = rand.Read(key) // never fails: see crypto/rand
	files := map[string]string{
		"munge.key": string(key),
		"slurm.conf": fmt.Sprintf(conf, host, c.Dir, freeport.Take(c.t, 1), freeport.Take(c.t, 1),
			freeport.Take(c.t, 1)),
		"gres.conf": "NodeName=n1,n2 Name=gpu File=/dev/null\nNodeName=n1,n2 Name=gpu File=/dev/zero\n",
	}

	for name, text := range files {
		if err := os.WriteFile(c.path(name), []byte(text), 0o400); err != nil {
			c.t.Fatal(err)
		}
	}

	for _, name := range []string{"state", "spool-n1", "spool-n2"} {
		if err := os.Mkdir(c.path(name), 0o700); err != nil {
			c.t.Fatal(err)
		}
	}
}

// StartNode starts the slurmd of a node.
func (c *Cluster) StartNode(node string) {
	c.t.Helper()
	if err := c.run("slurmd", "-N", node); err != nil {
		c.t.Fatal(err)
	}
}

// KillNode ends the slurmd of a node as a power cut would. Its jobs continue until
// the cluster has noticed.
func (c *Cluster) KillNode(node string) {
	c.t.Helper()
	pid := c.pid("slurmd-" + node + ".pid")
	if pid == 0 { // as a target, 0 is everything around this process
		c.t.Fatalf("no slurmd of node %s is known", node)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		c.t.Fatal(err)
	}
}

func (c *Cluster) pid(file string) int {
	text, err := os.ReadFile(c.path(file))
	if err != nil {
		return 0
	}
	pid, _ := strconv.Atoi(strings.TrimSpace(string(text)))
	return pid
}

// lives reports whether a process is there and no zombie, which nobody may reap
// in a container.
func lives(pid int) bool {
	_, ok := proc.System.StartTime(pid)
	return ok
}

// Environ is an environment in which Slurm's programs find the cluster.
func (c *Cluster) Environ() []string { return append(os.Environ(), "SLURM_CONF="+c.Conf) }

// Output runs one of Slurm's programs.
func (c *Cluster) Output(argv ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), startTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env = c.Environ()
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	return out.String(), err
}

func (c *Cluster) run(argv ...string) error {
	if out, err := c.Output(argv...); err != nil {
		return fmt.Errorf("%v: %w: %s", argv, err, out)
	}
	return nil
}

// Await waits until done says so.
func (c *Cluster) Await(what string, done func() bool) {
	c.t.Helper()
	if err := c.await(what, done); err != nil {
		c.t.Fatal(err)
	}
}

func (c *Cluster) await(what string, done func() bool) error {
	const poll, most = 100 * time.Millisecond, 90 * time.Second
	for deadline := time.Now().Add(most); !done(); time.Sleep(poll) {
		if time.Now().After(deadline) {
			log, _ := os.ReadFile(c.path("slurmctld.log")) // whatever there is of it
			return fmt.Errorf("waited %s for: %s\n%s", most, what, log)
		}
	}
	return nil
}

// stop cancels all jobs and ends the daemons, the controller last.
func (c *Cluster) stop() {
	if c.pid("slurmctld.pid") != 0 {
		_, _ = c.Output("scancel", "--user=root") // what is left is killed with its daemon
		c.Await("no job left", func() bool {
			out, err := c.Output("squeue", "--noheader")
			return err != nil || out == ""
		})
	}

	for _, file := range []string{"slurmd-n1.pid", "slurmd-n2.pid", "slurmctld.pid", "munged.pid"} {
		pid := c.pid(file)
		if pid == 0 {
			continue
		}
		_ = syscall.Kill(pid, syscall.SIGTERM)
		c.Await(file+" gone", func() bool { return !lives(pid) })
	}

	if err := os.RemoveAll(c.Dir); err != nil {
		c.t.Error(err)
	}
}
