package capture

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrig/bench/gpu"
	"github.com/benchrig/bench/gpu/device"
	"github.com/benchrig/bench/internal/fakegpu"
	"github.com/benchrig/bench/results"
)

// captureMachine is a machine with an AMD card in sysfs and an nvidia-smi, both full
// of what is nobody's business.
func captureMachine(t *testing.T) string {
	t.Helper()
	fakegpu.Tools(t, map[string]string{"nvidia-smi": `
case "$*" in
"") echo "| NVIDIA-SMI 590.48.01    CUDA Version: 13.1 |"; echo "Serial Number : 1652922013245";;
-L) echo "GPU 0: NVIDIA H100 (UUID: GPU-5a1c9f3e-1111-2222-3333-444455556666)";;
*query-gpu=index,uuid,name,pci*noheader*) echo "0, GPU-5a1c9f3e-1111-2222-3333-444455556666, NVIDIA H100, 00000000:00:09.0, 81559";;
*--query-gpu*) printf 'index, uuid, memory.used [MiB], power.draw [W]\n0, GPU-5a1c9f3e-1111-2222-3333-444455556666, 100 MiB, 70.5 W\n';;
*compute-apps*) printf 'gpu_uuid, pid, process_name, used_gpu_memory [MiB]\nGPU-5a1c9f3e-1111-2222-3333-444455556666, 7, /home/alice/venv/python, 90 MiB\n';;
*) echo "unknown option" >&2; exit 2;;
esac`})
	return fakegpu.Tree(t, fakegpu.Join(
		fakegpu.Card(1, "0000:05:00.0", map[string]string{
			"vendor": "0x1002", "mem_info_vram_total": "206141652992", "mem_info_vram_used": "298647552",
			"unique_id":     "a1b2c3d4e5f60718",
			"serial_number": "692251001234", "gpu_busy_percent": "7", "hwmon/hwmon3/power1_average": "140000000",
			"hwmon/hwmon3/temp1_input": "38000",
		}),
		map[string]string{"sys/devices/pci0000:00/0000:05:00.0/gpu_metrics": "\x80\x00\x01\x03\xff\xff\x00"},
		fakegpu.Node(1,
			"simd_count 1216\nlocation_id 1280\ndomain 0\ngfx_target_version 90402\nunique_id 11651590505119483672\n",
			""),
	))
}

func TestCapture(t *testing.T) {
	root := captureMachine(t)
	folder := filepath.Join(t.TempDir(), "new")
	got, err := Write(t.Context(), device.Options{Root: root}, folder)
	if err != nil {
		t.Fatalf("Capture: %v", err)
	}
	for _, tool := range []string{"amd-smi", "rocm-smi"} {
		if !slices.ContainsFunc(got.Missing, func(m string) bool { return strings.HasPrefix(m, tool+":") }) {
			t.Errorf("missing = %q, want %s among it", got.Missing, tool)
		}
	}
	if want := []string{"UUID: 1", "name of a user: 1", "serial number: 1", "unique id: 1"}; !slices.Equal(got.Removed,
		want) {
		t.Errorf("removed = %q, want %q", got.Removed, want)
	}
	all := readFolder(t, folder)
	for name, data := range all {
		for _, secret := range []string{
			"5a1c9f3e", "44445555", "a1b2c3d4e5f60718", "A1B2C3D4", "11651590505119483672",
			"1652922013245", "692251001234", "alice",
		} {
			if bytes.Contains(data, []byte(secret)) {
				t.Errorf("%s holds %q:\n%s", name, secret, data)
			}
		}
	}
	if got := string(all["files/sys/devices/pci0000:00/0000:05:00.0/gpu_metrics"]); got != "\x80\x00\x01\x03\xff\xff\x00" {
		t.Errorf("gpu_metrics = %q, want the same bytes", got)
	}
	if got := string(all["nvidia-smi/compute-apps.stdout"]); !strings.Contains(got,
		"GPU-00000001-0000-0000-0000-000000000001, 7, /home/user/venv/python, 90 MiB") {
		t.Errorf("compute-apps = %q", got)
	}
	var index Index
	if err := json.Unmarshal(all[IndexName], &index); err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(index.Commands, func(c Command) bool { return slices.Contains(c.Argv, "--help-query-gpu") })
	if at < 0 || index.Commands[at].Exit != 2 || string(all[index.Commands[at].Stderr]) != "unknown option\n" {
		t.Errorf("commands = %s, want a failure of --help-query-gpu", fakegpu.JSON(t, index.Commands))
	}
	var samplers []string
	for _, reading := range index.Readings {
		samplers = append(samplers, reading.Sampler)
	}
	if want := gpu.SamplerNames(); !slices.Equal(samplers, want) {
		t.Errorf("readings by %q, want by %q", samplers, want)
	}
}

// The copied files stand for the machine: read from them, a GPU says the same.
func TestCaptureReplays(t *testing.T) {
	root := captureMachine(t)
	folder := filepath.Join(t.TempDir(), "new")
	if _, err := Write(t.Context(), device.Options{Root: root}, folder); err != nil {
		t.Fatalf("Capture: %v", err)
	}
	read := func(root string) []results.GPUReading {
		options := device.Options{Root: root}
		machine, err := gpu.Detect(t.Context(), options)
		if err != nil {
			t.Fatal(err)
		}
		samplers, _, err := gpu.Samplers(t.Context(), options, machine, "sysfs")
		if err != nil {
			t.Fatalf("Samplers: %v", err)
		}
		fakegpu.CloseAfter(t, samplers[0])
		readings, err := samplers[0].Read(t.Context())
		if err != nil {
			t.Fatalf("Read: %v", err)
		}
		var out []results.GPUReading
		for _, reading := range readings {
			reading.Device = ""
			out = append(out, reading.GPUReading)
		}
		return out
	}
	before, after := read(root), read(filepath.Join(folder, "files"))
	if diff := cmp.Diff(before, after); diff != "" || len(after) != 1 || after[0].PowerW == nil {
		t.Errorf("readings of the copy differ (-box +copy):\n%s", diff)
	}
}

func TestCaptureOfNothing(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	folder := t.TempDir()
	got, err := Write(t.Context(), device.Options{Root: t.TempDir()}, folder)
	if err != nil || len(got.Commands)+len(got.Files)+len(got.Readings) != 0 || len(got.Missing) != 4 {
		t.Errorf("Capture of nothing = %s, %v", fakegpu.JSON(t, got), err)
	}
	if _, err := Write(t.Context(), device.Options{Root: t.TempDir()}, folder); err == nil ||
		!strings.Contains(err.Error(), "not empty") {
		t.Errorf("Capture into a full folder: error %v", err)
	}
}

func readFolder(t *testing.T, folder string) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	err := filepath.WalkDir(folder, func(path string, entry os.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		all[strings.TrimPrefix(path, folder+"/")] = data
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestReplacer(t *testing.T) {
	tests := []struct{ in, want string }{
		{`"Unique ID": "0xa1b2c3d4e5f60718"`, `"Unique ID": "0x0000000000000001"`},
		{`"uuid": "86ff74a1-0000-1000-80dc-ddefa2a60fbc"`, `"uuid": "00000001-0000-0000-0000-000000000001"`},
		{`"product_serial": "PCB0912345"`, `"product_serial": "0000000001"`},
		{`"product_serial": "N/A", "total": 100000`, `"product_serial": "N/A", "total": 100000`},
		{"GPU-a1b2c3d4e5f60718 and A1B2C3D4E5F60718", "GPU-0000000000000001 and 0000000000000001"},
		{"unique_id 11651590505119483672\nsize 12", "unique_id 1\nsize 12"},
		{"unique_id 0\n", "unique_id 0\n"},
		{
			"Serial Number                         : 1652922013245\n",
			"Serial Number                         : 0000000000001\n",
		},
		{"/home/alice/x /home/user/y", "/home/user/x /home/user/y"},
		{"GPU-00000000-0000-0000-0000-000000000000", "GPU-00000000-0000-0000-0000-000000000000"},
	}
	for _, test := range tests {
		r := newReplacer(map[string][]byte{"a": []byte(test.in)})
		if got := string(r.replace([]byte(test.in))); got != test.want {
			t.Errorf("replace(%q) = %q, want %q", test.in, got, test.want)
		}
	}
}

// No UUID survives, and replacing twice changes nothing more.
func FuzzReplacer(f *testing.F) {
	f.Add(`"uuid": "86ff74a1-0000-1000-80dc-ddefa2a60fbc", "Unique ID": "0xa1b2c3d4e5f60718"`)
	f.Add("Serial Number : 1652922013245\n/home/a/b")
	f.Fuzz(func(t *testing.T, text string) {
		if strings.ContainsRune(text, 0) {
			return
		}
		found := uuidPattern.FindAllString(text, -1)
		out := string(newReplacer(map[string][]byte{"a": []byte(text)}).replace([]byte(text)))
		for _, uuid := range found {
			if strings.Trim(uuid, "0-") != "" && !strings.HasSuffix(uuid, "-0000-0000-0000-00000000000"+
				uuid[len(uuid)-1:]) && strings.Contains(out, uuid) {
				t.Errorf("%q survives in %q", uuid, out)
			}
		}
	})
}
