package container

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The device files of AMD's GPUs are open to groups, which are named in ways that
// differ by engine.
func TestGroups(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		engine string
		host   Host
		want   string
	}{
		{docker, Host{}, "--group-add video"},
		{docker, Host{DeviceGroups: []int{39, 109}}, "--group-add 39 --group-add 109"},
		{docker, Host{Rootless: true, DeviceGroups: []int{109}}, "--group-add 109"},
		{podman, Host{DeviceGroups: []int{109}}, "--group-add 109"},
		{podman, Host{Rootless: true, DeviceGroups: []int{109}}, "--group-add keep-groups"},
	} {
		if got := strings.Join(c.host.groups(c.engine), " "); got != c.want {
			t.Errorf("groups(%s) of %+v = %q, want %q", c.engine, c.host, got, c.want)
		}
	}
}

// Each group counts once, and root's is not added.
func TestDeviceGroups(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root gives files to other groups")
	}
	dir := t.TempDir()
	for name, group := range map[string]int{"kfd": 109, "card0": 44, "renderD128": 109, "renderD129": 0} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chown(path, 0, group); err != nil {
			t.Fatal(err)
		}
	}

	got := deviceGroups(filepath.Join(dir, "kfd"), dir)
	if want := []int{44, 109}; !slices.Equal(got, want) {
		t.Errorf("deviceGroups = %v, want %v", got, want)
	}
}

// Podman knows NVIDIA's GPUs by the names of a CDI specification; an index in a
// scheduler's job is another GPU of the machine.
func TestNVIDIANames(t *testing.T) {
	t.Parallel()
	uuids := []string{"GPU-aa", "GPU-bb"}
	both := CDI{Found: true, UUIDs: []string{"GPU-00", "GPU-aa", "GPU-bb"}}
	indices := CDI{Found: true}
	for _, c := range []struct {
		name, engine string
		devices      []string
		host         Host
		want         string // in the command line
		refused      string
	}{
		{"podman", podman, uuids, Host{CDI: both}, "--device nvidia.com/gpu=GPU-aa --device nvidia.com/gpu=GPU-bb", ""},
		{"podman, whose specification cannot be read", podman, uuids, Host{}, "nvidia.com/gpu=GPU-aa", ""},
		{"podman with indices only", podman, uuids, Host{CDI: indices}, "--device nvidia.com/gpu=0", ""},
		{"podman, UUIDs unknown", podman, nil, Host{CDI: both}, "--device nvidia.com/gpu=1", ""},
		{"podman in a job", podman, uuids, Host{CDI: both, InJob: true}, "nvidia.com/gpu=GPU-bb", ""},
		{"podman with indices only in a job", podman, uuids, Host{CDI: indices, InJob: true}, "", "nvidia-ctk"},
		{"podman in a job, UUIDs unknown", podman, nil, Host{CDI: both, InJob: true}, "", "UUIDs of GPUs [0 1]"},
		{"docker in a job", docker, uuids, Host{InJob: true}, `"device=GPU-aa,GPU-bb"`, ""},
		{"docker in a job, UUIDs unknown", docker, nil, Host{InJob: true}, "", "UUIDs of GPUs [0 1]"},
		{"docker, UUIDs unknown", docker, nil, Host{}, `"device=0,1"`, ""},
	} {
		job := Job{
			Options: Options{Image: "i", Engine: c.engine}, Vendor: vendorNVIDIA, GPUs: []int{0, 1}, Devices: c.devices,
			Host: c.host,
		}
		recipe, err := job.Recipe()
		if c.refused != "" {
			if err == nil || !strings.Contains(err.Error(), c.refused) {
				t.Errorf("%s: error %v, want one that says %q", c.name, err, c.refused)
			}
			continue
		}
		if got := strings.Join(recipe.Argv, " "); err != nil || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, %v, want %q in it", c.name, got, err, c.want)
		}
	}
}

// The forms in which nvidia-ctk writes specifications.
func TestReadCDI(t *testing.T) {
	t.Parallel()
	yaml, json, other := t.TempDir(), t.TempDir(), t.TempDir()
	for path, text := range map[string]string{
		filepath.Join(yaml, "nvidia.yaml"): "cdiVersion: 0.5.0\nkind: nvidia.com/gpu\ndevices:\n- name: \"0\"\n" +
			"- name: GPU-4ae3e4a3-2c9d-4b18-8c2a-000000000000\n- name: all\n",
		filepath.Join(json, "nvidia.json"): `{"kind":"nvidia.com/gpu","devices":[{"name":"MIG-1/2","x":1},{"name":"1"}]}`,
		filepath.Join(other, "x.yaml"):     "kind: example.com/net\ndevices:\n- name: GPU-no\n",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}

	want := []string{"GPU-4ae3e4a3-2c9d-4b18-8c2a-000000000000", "MIG-1/2"}
	if got := readCDI(yaml, json, other); !got.Found || !slices.Equal(got.UUIDs, want) {
		t.Errorf("readCDI() = %+v, want %v", got, want)
	}
	for _, folders := range [][]string{{other}, {"/no/such/folder"}, nil} {
		if got := readCDI(folders...); got.Found || got.UUIDs != nil {
			t.Errorf("readCDI(%v) = %+v, want nothing", folders, got)
		}
	}
}
