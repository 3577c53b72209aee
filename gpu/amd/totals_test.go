package amd

import (
	"context"
	"os/exec"
	"testing"

	"github.com/benchrig/bench/gpu/device"
	"github.com/benchrig/bench/internal/fakegpu"
)

// Where the driver's files do not say how much memory a GPU has, the tools do.
func TestAddTotals(t *testing.T) {
	root := fakegpu.Tree(t, fakegpu.Join(
		fakegpu.Node(1, "simd_count 1216\nlocation_id 1280\ndomain 0\ngfx_target_version 90402\nunique_id 255\n", ""),
		fakegpu.Node(2, "simd_count 1216\nlocation_id 9728\ndomain 0\ngfx_target_version 90402\nunique_id 254\n", ""),
	))
	smi := map[string]string{
		"list":   `[{"gpu":0,"bdf":"0000:05:00.0"},{"gpu":1,"bdf":"0000:26:00.0"}]`,
		"metric": `[{"gpu":0,"mem_usage":{"total_vram":{"value":196592,"unit":"MB"}}},{"gpu":1,"mem_usage":{"total_vram":{"value":"N/A","unit":"MB"}}}]`,
	}
	rocm := `{"card0":{"PCI Bus":"0000:05:00.0","VRAM Total Memory (B)":"1"},"card1":{"PCI Bus":"0000:26:00.0","VRAM Total Memory (B)":"206141652992"}}`
	run := func(_ context.Context, argv []string) ([]byte, error) {
		switch {
		case argv[0] == "amd-smi" && smi[argv[1]] != "":
			return []byte(smi[argv[1]]), nil
		case argv[0] == "rocm-smi":
			return []byte(rocm), nil
		}
		return nil, &exec.Error{Name: argv[0], Err: exec.ErrNotFound}
	}

	devices, _ := Devices(root)
	if len(devices) != 2 || devices[0].VRAMBytes != nil {
		t.Fatalf("devices %s, want two without their memory", fakegpu.JSON(t, devices))
	}
	AddTotals(t.Context(), device.Options{Root: root, RunTool: run}, devices)
	for i, want := range []int64{196592 << 20, 206141652992} {
		if got := devices[i].VRAMBytes; got == nil || *got != want {
			t.Errorf("GPU %d has %s bytes, want %d", i, fakegpu.JSON(t, got), want)
		}
	}

	devices, _ = Devices(root)
	AddTotals(t.Context(), device.Options{Root: root, RunTool: fakegpu.NoTool}, devices)
	if devices[0].VRAMBytes != nil {
		t.Errorf("GPU 0 has %d bytes by nobody's word", *devices[0].VRAMBytes)
	}
}

// An energy counter of an MI250 passes 1e15 uJ after 15 days.
func TestLargeEnergyCounter(t *testing.T) {
	cards, err := parseROCmCards([]byte(`{"card0":{"Accumulated Energy (uJ)":"1234567890123456.0"}}`), new(noteList))
	if err != nil || cards[0].EnergyJ == nil || *cards[0].EnergyJ != 1234567890.123456 {
		t.Errorf("energy %s, %v, want 1234567890.123456 J", fakegpu.JSON(t, cards), err)
	}
}
