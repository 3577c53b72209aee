package fakegpu

import (
	"context"
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func newMachine(t *testing.T, n int) *Machine {
	t.Helper()
	machine, err := New(t.TempDir(), n)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = machine.Close() })
	return machine
}

func read(t *testing.T, machine *Machine, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(machine.Root(), name))
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(data))
}

func TestMemoryOfProcesses(t *testing.T) {
	machine := newMachine(t, 2)
	used := func() string { return read(t, machine, "sys/class/drm/card2/device/mem_info_vram_used") }
	if err := machine.HoldVRAM(77, 1, 1000); err != nil {
		t.Fatal(err)
	}
	if err := machine.HoldVRAM(78, 1, 500); err != nil {
		t.Fatal(err)
	}
	if got, want := used(), "298649052"; got != want {
		t.Errorf("memory in use = %s, want %s", got, want)
	}
	if got := read(t, machine, "sys/class/kfd/kfd/proc/77/vram_11001"); got != "1000" {
		t.Errorf("memory of the process = %s, want 1000", got)
	}
	if err := machine.Release(77); err != nil {
		t.Fatal(err)
	}
	if got, want := used(), "298648052"; got != want {
		t.Errorf("memory in use after Release = %s, want %s", got, want)
	}
	if _, err := os.Stat(filepath.Join(machine.Root(), "sys/class/kfd/kfd/proc/77")); !os.IsNotExist(err) {
		t.Errorf("the process is still listed: %v", err)
	}
}

// A reader that keeps a file open sees new values, and never an empty file.
func TestSetWritesInPlace(t *testing.T) {
	machine := newMachine(t, 1)
	file, err := os.Open(filepath.Join(machine.Root(), hwmon(0), "power1_input"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		done <- machine.Play(ctx, 0, 100*time.Microsecond, func(at time.Duration) Values {
			return Values{PowerW: math.Pow(10, float64(at.Microseconds()/100%6))}
		})
	}()
	seen := map[string]bool{}
	for deadline := time.Now().Add(200 * time.Millisecond); time.Now().Before(deadline); {
		buffer := make([]byte, 64)
		n, _ := file.ReadAt(buffer, 0)
		line, _, _ := strings.Cut(string(buffer[:n]), "\n")
		if line == "" || strings.Trim(line, "0123456789") != "" {
			t.Fatalf("read %q while values change", buffer[:n])
		}
		seen[line] = true
	}
	cancel()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if len(seen) < 2 {
		t.Errorf("a reader saw %d values, want several", len(seen))
	}
}

func TestThrottleCountersGrow(t *testing.T) {
	machine := newMachine(t, 1)
	v := Idle()
	v.Throttle = []string{"ppt"}
	if err := machine.Set(0, v); err != nil {
		t.Fatal(err)
	}
	table, err := os.ReadFile(filepath.Join(machine.Root(), pciFolder(0), "gpu_metrics"))
	if err != nil {
		t.Fatal(err)
	}
	if got := binary.LittleEndian.Uint32(table[48:]); got != 100 || len(table) != 2208 {
		t.Errorf("cycles under the power cap = %d in %d bytes, want 100 in 2208", got, len(table))
	}
}

func TestCurve(t *testing.T) {
	curve := Curve{{0, 100}, {time.Second, 300}, {time.Second, 500}, {3 * time.Second, 500}}
	for at, want := range map[time.Duration]float64{
		-time.Second: 100, 500 * time.Millisecond: 200, time.Second: 500,
		9 * time.Second: 500,
	} {
		if got := curve.PowerW(at); got != want {
			t.Errorf("PowerW(%s) = %g, want %g", at, got, want)
		}
	}
	tests := []struct {
		from, to time.Duration
		want     float64
	}{
		{0, time.Second, 200},
		{0, 3 * time.Second, 1200},
		{500 * time.Millisecond, 4 * time.Second, 125 + 1500},
		{-time.Second, 0, 100},
		{time.Second, time.Second, 0},
	}
	for _, test := range tests {
		if got := curve.EnergyJ(test.from, test.to); math.Abs(got-test.want) > 1e-9 {
			t.Errorf("EnergyJ(%s, %s) = %g, want %g", test.from, test.to, got, test.want)
		}
	}
}

func TestTooManyGPUs(t *testing.T) {
	if _, err := New(t.TempDir(), 9); err == nil {
		t.Error("New with 9 GPUs gave no error")
	}
}
