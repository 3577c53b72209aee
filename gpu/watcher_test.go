package gpu

import (
	"context"
	"errors"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrig/bench/gpu/device"
	"github.com/benchrig/bench/internal/fakegpu"
	"github.com/benchrig/bench/results"
)

const zeroUUID = "GPU-00000000-0000-0000-0000-000000000000"

func TestWatcherNVIDIA(t *testing.T) {
	root := fakegpu.Tree(t, map[string]string{
		"proc/11327/comm": "memhog\n", "proc/11328/comm": "memhog\n",
		"proc/11345/comm": "gpu_burn\n",
	})
	calls := 0
	run := func(_ context.Context, argv []string) ([]byte, error) {
		switch {
		case strings.HasPrefix(argv[1], "--query-gpu="):
			calls++
			return []byte(capture(t, "nvidia-smi-h100-590.48.01-load.csv")), nil
		case strings.HasPrefix(argv[1], "--query-compute-apps="):
			return []byte(capture(t, "nvidia-smi-h100-590.48.01-compute-apps-load.csv")), nil
		}
		return nil, errors.New("exit status 2")
	}
	machine := Inventory{GPUs: []device.Device{{Vendor: device.NVIDIA, UUID: zeroUUID, PCI: "0000:00:09.0"}}}
	w := NewWatcher(device.Options{Root: root, RunTool: run}, machine)
	fakegpu.CloseAfter(t, w)
	for range 2 {
		used, err := w.Used(t.Context())
		if want := map[string]int64{zeroUUID: 19818 << 20}; err != nil || !cmp.Equal(used, want) {
			t.Errorf("Used = %v, %v, want %v", used, err, want)
		}
	}
	holders, err := w.Holders(t.Context())
	want := []results.GPUHolder{
		{PID: 11327, Device: zeroUUID, Bytes: new(int64(2566 << 20)), Name: "memhog"},
		{PID: 11328, Device: zeroUUID, Bytes: new(int64(1542 << 20)), Name: "memhog"},
		{PID: 11345, Device: zeroUUID, Bytes: new(int64(15690 << 20)), Name: "gpu_burn"},
	}
	if diff := cmp.Diff(want, holders); diff != "" || err != nil {
		t.Errorf("Holders differs, error %v (-want +got):\n%s", err, diff)
	}
	if notes := w.Notes(); len(notes) != 0 {
		t.Errorf("notes = %q, want none", notes)
	}
}

// In a container the driver's numbers of processes are the host's: they are
// reported, with those that have a device open here, and a note.
func TestWatcherInContainer(t *testing.T) {
	root := fakegpu.Tree(t, map[string]string{
		"proc/7/comm": "VLLM::EngineCor\n", "proc/7/fd/3": "->/dev/nvidia-uvm", "proc/7/fd/0": "->/dev/null",
		"proc/8/comm": "nvidia-smi\n", "proc/8/fd/3": "->/dev/nvidia0",
		"proc/9/comm": "bash\n", "proc/9/fd/3": "->/dev/nvidiactl",
	})
	run := func(context.Context, []string) ([]byte, error) {
		return []byte(capture(t, "nvidia-smi-rtx4080super-595.71.05-compute-apps-load.csv")), nil
	}
	w := NewWatcher(device.Options{Root: root, RunTool: run},
		Inventory{GPUs: []device.Device{{Vendor: device.NVIDIA, UUID: zeroUUID}}})
	holders, err := w.Holders(t.Context())
	if err != nil || len(holders) != 4 {
		t.Fatalf("Holders = %s, %v, want three of the driver and one of ours", fakegpu.JSON(t, holders), err)
	}
	if diff := cmp.Diff(results.GPUHolder{PID: 7, Name: "VLLM::EngineCor"}, holders[3]); diff != "" {
		t.Errorf("holder differs (-want +got):\n%s", diff)
	}
	if notes := w.Notes(); len(notes) != 1 || !strings.Contains(notes[0], "those of the host") {
		t.Errorf("notes = %q, want one on containers", notes)
	}
}

// Without an answer of the driver, open device files tell who is there.
func TestWatcherLastResort(t *testing.T) {
	root := fakegpu.Tree(t, map[string]string{
		"proc/7/comm": "llama-server\n", "proc/7/fd/9": "->/dev/dri/renderD128",
		"proc/8/comm": "python3\n", "proc/8/fd/3": "->/dev/kfd",
		"proc/9/comm": "Xorg\n", "proc/9/fd/3": "->/dev/dri/card0",
		// render nodes of a GPU that is asked for, and of the desktop's
		"proc/10/comm": "vkcube\n", "proc/10/fd/3": "->/dev/dri/renderD129",
		"sys/class/drm/renderD129/device": "->../../../0000:03:00.0",
		"proc/11/comm":                    "compositor\n", "proc/11/fd/3": "->/dev/dri/renderD130",
		"sys/class/drm/renderD130/device": "->../../../0000:00:02.0",
		"proc/self/comm":                  "x\n",
	})
	w := NewWatcher(device.Options{Root: root, RunTool: fakegpu.NoTool},
		Inventory{GPUs: []device.Device{{Vendor: device.NVIDIA, PCI: "0000:03:00.0"}}})
	holders, err := w.Holders(t.Context())
	slices.SortFunc(holders, func(a, b results.GPUHolder) int { return a.PID - b.PID })
	want := []results.GPUHolder{
		{PID: 7, Name: "llama-server"},
		{PID: 8, Name: "python3"},
		{PID: 10, Name: "vkcube", Device: "0000:03:00.0"},
	}
	if diff := cmp.Diff(want, holders); diff != "" || err != nil {
		t.Errorf("Holders differs, error %v (-want +got):\n%s", err, diff)
	}
	if notes := w.Notes(); len(notes) != 1 || !strings.Contains(notes[0], "open device files only") {
		t.Errorf("notes = %q, want one on device files", notes)
	}
	if used, err := w.Used(t.Context()); err == nil {
		t.Errorf("Used without any source = %v, want an error", used)
	}
}

// An APU's model is in memory that it shares with the CPU.
func TestMemoryOf(t *testing.T) {
	reading := func(vram, gtt *int64) device.Reading {
		return device.Reading{GPUReading: results.GPUReading{Device: "a", VRAMUsedBytes: vram, GTTUsedBytes: gtt}}
	}
	tests := []struct {
		reading device.Reading
		unified bool
		want    int64
		ok      bool
	}{
		{reading(new(int64(100)), new(int64(5000))), true, 5100, true},
		{reading(new(int64(100)), new(int64(5000))), false, 100, true},
		{reading(new(int64(100)), nil), true, 100, true},
		{reading(nil, nil), false, 0, false},
	}
	for _, test := range tests {
		got, ok := memoryOf(test.reading, []device.Device{{UUID: "a", Unified: test.unified}})
		if got != test.want || ok != test.ok {
			t.Errorf("memoryOf(%s, unified %t) = %d, %t, want %d, %t", fakegpu.JSON(t, test.reading), test.unified, got,
				ok, test.want, test.ok)
		}
	}
}

// The processes of this machine can be looked at.
func TestDeviceFilesOfThisMachine(t *testing.T) {
	holders, err := deviceFiles(t.Context(), "", nil)
	if err != nil {
		t.Fatalf("deviceFiles: %v", err)
	}
	for _, h := range holders {
		if _, err := os.Stat("/proc/" + strconv.Itoa(h.PID)); h.PID == os.Getpid() && err == nil {
			t.Errorf("this test is listed: %+v", h)
		}
	}
}
