package leftovers

import (
	"crypto/rand"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/benchrig/bench/harness/state"
	"github.com/benchrig/bench/internal/fakecontainer"
	"github.com/benchrig/bench/internal/fakeengine"
	"github.com/benchrig/bench/launchers/cleanup"
	"github.com/benchrig/bench/results"
)

func TestMain(m *testing.M) {
	fakecontainer.Main()
	fakeengine.Main()
	os.Exit(m.Run())
}

// docker is a fake engine and what its clients need.
type docker struct {
	t   *testing.T
	bin string // folder of the client
	dir string // of the engine's state
}

func newDocker(t *testing.T) docker {
	t.Helper()
	d := docker{t, t.TempDir(), t.TempDir()}
	d.install(fakecontainer.Config{})

	return d
}

func (d docker) install(config fakecontainer.Config) {
	d.t.Helper()
	config.Dir = d.dir
	if err := fakecontainer.Install(d.bin, "docker", config); err != nil {
		d.t.Fatal(err)
	}
}

func (d docker) environ() []string { return append(os.Environ(), "PATH="+d.bin+":/usr/bin:/bin") }

// run starts a container of a run.
func (d docker) run(name, run string) {
	d.t.Helper()
	cmd := exec.Command(filepath.Join(d.bin, "docker"), "run", "-d", "--name", name,
		"--label", "benchrig.run="+run, "--label", "benchrig.cookie="+run+".1",
		"-e", fakeengine.Config{Silent: true}.Env(), "-e", "GORACE="+fakeengine.PromptExit, "image:1")
	cmd.Env = d.environ()
	if out, err := cmd.CombinedOutput(); err != nil {
		d.t.Fatalf("%v: %s", err, out)
	}
	d.t.Cleanup(func() {
		rm := exec.Command(filepath.Join(d.bin, "docker"), "rm", "-f", name)
		rm.Env = d.environ()
		_ = rm.Run()
	})
}

func (d docker) containers() int {
	boxes, _ := filepath.Glob(filepath.Join(d.dir, "*", "box.json"))

	return len(boxes)
}

// Whatever is wrong with a run's folder, its containers are found by their
// label; the run is forgotten only when all of it is known to be gone.
func TestContainersAreNeverForgotten(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		damage func(t *testing.T, dir string, d docker)
		ended  bool // the container
		kept   bool // the run in the register
		says   string
	}{
		{"the folder is gone", func(t *testing.T, dir string, _ docker) {
			if err := os.RemoveAll(dir); err != nil {
				t.Fatal(err)
			}
		}, true, false, "container of-an-image-of-ours has the label of this run and another name; if it is yours to " +
			"remove: docker rm -f "},
		{"the journal cannot be read", func(t *testing.T, dir string, _ docker) {
			if err := os.Mkdir(filepath.Join(dir, results.JournalName), 0o755); err != nil {
				t.Fatal(err)
			}
		}, true, false, "container of-an-image-of-ours has the label of this run and another name; if it is yours to " +
			"remove: docker rm -f "},
		{"the folder is a file", func(t *testing.T, dir string, _ docker) {
			if err := os.RemoveAll(dir); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(dir, nil, 0o644); err != nil {
				t.Fatal(err)
			}
		}, true, false, "container of-an-image-of-ours has the label of this run and another name; if it is yours to " +
			"remove: docker rm -f "},
		{"the engine does not answer", func(t *testing.T, dir string, d docker) {
			if err := os.RemoveAll(dir); err != nil {
				t.Fatal(err)
			}
			d.install(fakecontainer.Config{Fail: map[string]string{"ps": "Cannot connect to the Docker daemon"}})
		}, false, true, "Cannot connect"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			register, err := state.Open(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			d, dir, cookie := newDocker(t), filepath.Join(t.TempDir(), "run"), rand.Text()
			if err := os.Mkdir(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			run := state.Run{Dir: dir, Cookie: cookie, Engines: []string{"docker"}}
			if err := register.Register(run); err != nil {
				t.Fatal(err)
			}
			d.run("bench-"+cookie[:12]+"-01-a-0", cookie)
			d.run("of-an-image-of-ours", cookie) // docker commit keeps labels
			d.run("anothers", rand.Text())
			c.damage(t, dir, d)

			cleaner := &Cleaner{State: register, With: cleanup.Cleaner{Environ: d.environ()}}
			done := cleaner.Clean(t.Context(), run.Dir)
			t.Cleanup(func() { d.install(fakecontainer.Config{}) })
			want := 3
			if c.ended {
				want = 2
			}
			if d.containers() != want {
				t.Errorf("%d containers are left, want %d; clean says %q", d.containers(), want, done.Lines())
			}
			if _, kept := register.Lookup(dir); kept != c.kept || done.Failed() != c.kept {
				t.Errorf("in the register: %v, failed %v, want %v: %q", kept, done.Failed(), c.kept, done.Lines())
			}
			if text := strings.Join(done.Lines(), "\n"); !strings.Contains(text, c.says) {
				t.Errorf("clean says %q, want %q in it", text, c.says)
			}
		})
	}
}
