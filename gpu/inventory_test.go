package gpu

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrig/bench/gpu/device"
	"github.com/benchrig/bench/internal/fakegpu"
)

func TestDetectWithoutGPUs(t *testing.T) {
	got, err := Detect(t.Context(), device.Options{Root: t.TempDir(), RunTool: fakegpu.NoTool})
	if err != nil {
		t.Fatalf("Detect: %v", err)
	}
	want := Inventory{GPUs: []device.Device{}, Drivers: map[string]string{}, Sources: []string{}, Notes: []string{}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Detect of an empty box differs (-want +got):\n%s", diff)
	}
	if got.Vendor() != "" || got.Count() != 0 {
		t.Errorf("Vendor, Count of an empty box = %q, %d, want none", got.Vendor(), got.Count())
	}
	text, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"gpus":[],"drivers":{},"sources":[],"cuda":null,"rocm":null,"notes":[]}`; string(text) != want {
		t.Errorf("JSON = %s, want %s", text, want)
	}
}

// Whatever this machine has, asking must neither fail nor end the process.
func TestDetectThisMachine(t *testing.T) {
	machine, err := Detect(t.Context(), device.Options{})
	if err != nil {
		t.Fatalf("Detect: %v", err)
	}
	for i, device := range machine.Of(machine.Vendor()) {
		if device.Index != i {
			t.Errorf("device %d has index %d", i, device.Index)
		}
	}
}

func TestDetectCanceled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Detect(ctx, device.Options{Root: t.TempDir(), RunTool: fakegpu.NoTool}); !errors.Is(err,
		context.Canceled) {
		t.Errorf("Detect with a canceled context: error %v, want %v", err, context.Canceled)
	}
}

func TestDetectNVIDIA(t *testing.T) {
	root := fakegpu.Tree(t, map[string]string{
		"proc/driver/nvidia/version": "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  590.48.01  Release " +
			"Build\nGCC version: 12\n",
	})
	rows := "1, GPU-b, NVIDIA H100 80GB HBM3, 00000000:C1:00.0, 81559\n" +
		"0, GPU-a, NVIDIA H100 80GB HBM3, 00000000:41:00.0, 81559\n"
	got, err := Detect(t.Context(), device.Options{Root: root, RunTool: fakegpu.SMISaying(rows, nil)})
	if err != nil {
		t.Fatalf("Detect: %v", err)
	}
	want := Inventory{
		GPUs: []device.Device{
			{
				Index: 0, Vendor: device.NVIDIA, Name: "NVIDIA H100 80GB HBM3", UUID: "GPU-a", PCI: "0000:41:00.0",
				VRAMBytes: new(int64(81559 << 20)),
			},
			{
				Index: 1, Vendor: device.NVIDIA, Name: "NVIDIA H100 80GB HBM3", UUID: "GPU-b", PCI: "0000:c1:00.0",
				VRAMBytes: new(int64(81559 << 20)),
			},
		},
		Drivers: map[string]string{device.NVIDIA: "590.48.01"},
		Sources: []string{"nvidia-smi"},
		Notes:   []string{},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Detect differs (-want +got):\n%s", diff)
	}
}

// A driver that does not answer makes a note, not an error: the machine may be
// meant to run on CPU.
func TestDetectBrokenDriver(t *testing.T) {
	tests := []struct {
		out  string
		err  error
		note string
	}{
		{
			capture(t, "nvidia-smi-error-no-driver-reconstructed.txt"), errors.New("exit status 9"),
			"couldn't communicate with the NVIDIA driver",
		},
		{
			capture(t, "nvidia-smi-error-driver-library-mismatch-reconstructed.txt"), errors.New("exit status 18"),
			"Driver/library version mismatch",
		},
		{capture(t, "nvidia-smi-error-driver-library-mismatch-reconstructed.txt"), nil, "is not a row of a device"},
		{"", context.DeadlineExceeded, "deadline exceeded"},
	}
	for _, test := range tests {
		machine, err := Detect(t.Context(), device.Options{
			Root:    t.TempDir(),
			RunTool: fakegpu.SMISaying(test.out, test.err),
		})
		if err != nil || len(machine.GPUs) != 0 {
			t.Errorf("Detect = %v, %v, want no device and no error", machine.GPUs, err)
		}
		if notes := strings.Join(machine.Notes, "\n"); !strings.Contains(notes, test.note) {
			t.Errorf("notes = %q, want one with %q", notes, test.note)
		}
	}
}

func TestVendorOfMixedBoxes(t *testing.T) {
	d := func(vendor string, vram int64) device.Device {
		d := device.Device{Vendor: vendor}
		if vram > 0 {
			d.VRAMBytes = &vram
		}
		return d
	}
	tests := []struct {
		name    string
		devices []device.Device
		want    string
		count   int
	}{
		{
			"card beside a GPU in the CPU",
			[]device.Device{d(device.NVIDIA, 24<<30), d(device.AMD, 512<<20)},
			device.NVIDIA, 1,
		},
		{"small card beside big ones", []device.Device{
			d(device.NVIDIA, 8<<30), d(device.AMD, 192<<30),
			d(device.AMD, 192<<30),
		}, device.AMD, 2},
		{"unified memory", []device.Device{d(device.NVIDIA, 0)}, device.NVIDIA, 1},
		{"only AMD, memory unknown", []device.Device{d(device.AMD, 0)}, device.AMD, 1},
	}
	for _, test := range tests {
		machine := Inventory{GPUs: test.devices}
		if got := machine.Vendor(); got != test.want || machine.Count() != test.count {
			t.Errorf("%s: Vendor, Count = %q, %d, want %q, %d", test.name, got, machine.Count(), test.want, test.count)
		}
	}
}

func TestNVIDIAVersion(t *testing.T) {
	tests := map[string]string{
		"NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.183.01  Sun May 12": "535.183.01",
		"NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  590.48":        "590.48",
		"GCC": "",
		"":    "",
	}
	for text, want := range tests {
		if got := nvidiaVersion(text); got != want {
			t.Errorf("nvidiaVersion(%q) = %q, want %q", text, got, want)
		}
	}
}
