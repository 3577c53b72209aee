package look

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrig/bench/harness/doctor"
	"github.com/benchrig/bench/harness/machine"
	"github.com/benchrig/bench/harness/state"
)

func TestDoctorSeesRunsOfTheBox(t *testing.T) {
	root := t.TempDir()
	e := machine.Process{Lookup: func(name string) (string, bool) { return root, name == "BENCH_STATE_DIR" }}
	machine, err := e.OpenState()
	if err != nil {
		t.Fatal(err)
	}
	left, running := filepath.Join(root, "left"), filepath.Join(root, "running")
	for _, dir := range []string{left, running} {
		if err := machine.Register(state.Run{Dir: dir, Cookie: "c"}); err != nil {
			t.Fatal(err)
		}
	}
	lock, err := machine.Lock(running)
	if err != nil {
		t.Fatal(err)
	}
	var v doctor.View
	if err := (&Look{Process: e}).state(&v); err != nil {
		t.Fatal(err)
	}
	if v.Busy == "" {
		t.Error("Busy is empty while the machine is locked")
	}
	if diff := cmp.Diff([]string{left}, v.Leftovers); diff != "" {
		t.Errorf("leftovers beside a run that is going on (-want +got):\n%s", diff)
	}
	if err := lock.Release(); err != nil {
		t.Fatal(err)
	}
	v = doctor.View{}
	if err := (&Look{Process: e}).state(&v); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{left, running}, v.Leftovers); diff != "" || v.Busy != "" {
		t.Errorf("leftovers of an idle box (-want +got), busy %q:\n%s", v.Busy, diff)
	}
}

func TestVersionOf(t *testing.T) {
	for said, want := range map[string]string{
		"":                               "",
		"28.0.4":                         "28.0.4",
		"text-generation-launcher 3.3.4": "3.3.4",
		"Warning: no server\nclient version is 0.12.3":    "0.12.3",
		"ggml: found\nversion: 4589 (abc)\nbuilt with cc": "4589 (abc)",
	} {
		if got := versionOf(said); got != want {
			t.Errorf("versionOf(%q) = %q, want %q", said, got, want)
		}
	}
}

func TestPythonVersion(t *testing.T) {
	root := t.TempDir()
	for _, dir := range []string{"env/bin", "env/lib/python3.12/site-packages/vllm-0.11.0+rocm.dist-info", "usr/bin"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	program, link := filepath.Join(root, "env/bin/vllm"), filepath.Join(root, "usr/bin/vllm")
	if err := os.WriteFile(program, nil, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(program, link); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{program, link} {
		if got := pythonVersion(path, "vllm"); got != "0.11.0+rocm" {
			t.Errorf("pythonVersion(%s) = %q, want 0.11.0+rocm", path, got)
		}
	}
	if got := pythonVersion(program, "sglang"); got != "" {
		t.Errorf("pythonVersion of a package that is not there = %q, want none", got)
	}
}
