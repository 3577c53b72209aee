//go:build linux && cgo

package nvidia

import (
	"encoding/binary"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/NVIDIA/go-nvml/pkg/nvml"
	"github.com/google/go-cmp/cmp"

	"github.com/benchrig/bench/gpu/device"
	"github.com/benchrig/bench/internal/fakegpu"
	"github.com/benchrig/bench/results"
)

// fakeGPU answers for a driver. Calls that it does not have end the test by a
// nil pointer, as a missing symbol ends a process.
type fakeGPU struct {
	nvml.Device
	code    nvml.Return // of everything that is read
	fields  map[uint32]nvml.FieldValue
	v2      nvml.Return
	mig     []nvml.Device
	name    string
	running []nvml.ProcessInfo
}

func (g *fakeGPU) GetName() (string, nvml.Return) { return g.name, nvml.SUCCESS }
func (g *fakeGPU) GetUUID() (string, nvml.Return) { return "GPU-1", nvml.SUCCESS }

func (g *fakeGPU) GetPciInfo() (nvml.PciInfo, nvml.Return) {
	return nvml.PciInfo{Bus: 0xc1}, nvml.SUCCESS
}

func (g *fakeGPU) GetMemoryInfo() (nvml.Memory, nvml.Return) {
	return nvml.Memory{Total: 80 << 30, Used: 3 << 30}, g.code
}

func (g *fakeGPU) GetMemoryInfo_v2() (nvml.Memory_v2, nvml.Return) {
	if g.v2 != nvml.SUCCESS {
		return nvml.Memory_v2{}, g.v2
	}
	return nvml.Memory_v2{Total: 80 << 30, Used: 2 << 30, Reserved: 1 << 30}, g.code
}

func (g *fakeGPU) GetFieldValues(values []nvml.FieldValue) nvml.Return {
	for i := range values {
		value, ok := g.fields[values[i].FieldId]
		if !ok {
			value.NvmlReturn = uint32(nvml.ERROR_NOT_SUPPORTED)
		}
		value.FieldId = values[i].FieldId
		values[i] = value
	}
	return nvml.SUCCESS
}

func (g *fakeGPU) GetPowerUsage() (uint32, nvml.Return)                { return 631950, g.code }
func (g *fakeGPU) GetTotalEnergyConsumption() (uint64, nvml.Return)    { return 5000500, g.code }
func (g *fakeGPU) GetEnforcedPowerLimit() (uint32, nvml.Return)        { return 700000, g.code }
func (g *fakeGPU) GetCurrentClocksEventReasons() (uint64, nvml.Return) { return 0x5, g.code }

func (g *fakeGPU) GetCurrentClocksThrottleReasons() (uint64, nvml.Return) { return 0x21, g.code }

func (g *fakeGPU) GetUtilizationRates() (nvml.Utilization, nvml.Return) {
	return nvml.Utilization{Gpu: 100, Memory: 11}, g.code
}

func (g *fakeGPU) GetClockInfo(kind nvml.ClockType) (uint32, nvml.Return) {
	if kind == nvml.CLOCK_MEM {
		return 2619, g.code
	}
	return 1980, g.code
}

func (g *fakeGPU) GetTemperature(nvml.TemperatureSensors) (uint32, nvml.Return) { return 59, g.code }

func (g *fakeGPU) GetCudaComputeCapability() (int, int, nvml.Return) { return 9, 0, g.code }

func (g *fakeGPU) GetVbiosVersion() (string, nvml.Return) { return "96.00.89", g.code }

func (g *fakeGPU) GetPowerManagementDefaultLimit() (uint32, nvml.Return) { return 700000, g.code }

func (g *fakeGPU) GetComputeMode() (nvml.ComputeMode, nvml.Return) {
	return nvml.COMPUTEMODE_EXCLUSIVE_PROCESS, g.code
}

func (g *fakeGPU) GetPersistenceMode() (nvml.EnableState, nvml.Return) {
	return nvml.FEATURE_ENABLED, g.code
}
func (g *fakeGPU) GetMaxMigDeviceCount() (int, nvml.Return) { return 7, g.code }

func (g *fakeGPU) GetPowerManagementLimitConstraints() (low, high uint32, code nvml.Return) {
	return 200000, 700000, g.code
}

func (g *fakeGPU) GetEccMode() (now, pending nvml.EnableState, code nvml.Return) {
	return nvml.FEATURE_DISABLED, nvml.FEATURE_ENABLED, g.code
}

func (g *fakeGPU) GetMigMode() (now, pending int, code nvml.Return) {
	if len(g.mig) > 0 {
		return nvml.DEVICE_MIG_ENABLE, nvml.DEVICE_MIG_ENABLE, nvml.SUCCESS
	}
	return 0, 0, g.code
}

func (g *fakeGPU) GetMigDeviceHandleByIndex(i int) (nvml.Device, nvml.Return) {
	if i >= len(g.mig) {
		return nil, nvml.ERROR_NOT_FOUND
	}
	return g.mig[i], nvml.SUCCESS
}

func (g *fakeGPU) GetComputeRunningProcesses() ([]nvml.ProcessInfo, nvml.Return) {
	return g.running, g.code
}

func uintField(n uint32) nvml.FieldValue {
	v := nvml.FieldValue{ValueType: uint32(nvml.VALUE_TYPE_UNSIGNED_INT)}
	binary.NativeEndian.PutUint32(v.Value[:], n)
	return v
}

// sessionOf is an open library that has all symbols but those named.
func sessionOf(gpu *fakeGPU, missing ...string) *nvmlSession {
	return &nvmlSession{
		has:     func(symbol string) bool { return !slices.Contains(missing, symbol) },
		handles: []nvml.Device{gpu},
		close:   func() {},
	}
}

func TestNVMLReading(t *testing.T) {
	whole := results.GPUReading{
		Device: "GPU-1", VRAMUsedBytes: new(int64(2 << 30)), PowerW: new(625.68), PowerKind: "instant",
		EnergyJ: new(5000.5),
		Busy:    new(1.0), MemoryBusy: new(0.11), CoreHz: new(1980e6), MemoryHz: new(2619e6), EdgeC: new(59.0),
		MemoryC:     new(54.0),
		PowerLimitW: new(700.0), Throttle: []string{results.ThrottlePower},
	}
	average := whole
	average.PowerW, average.PowerKind, average.MemoryC = new(631.95), "average", nil
	old := average
	old.VRAMUsedBytes, old.PowerKind, old.Throttle = new(int64(3<<30)), "", []string{results.ThrottleThermal}
	fields := map[uint32]nvml.FieldValue{
		nvml.FI_DEV_POWER_INSTANT: uintField(625680),
		nvml.FI_DEV_MEMORY_TEMP:   uintField(54),
	}
	tests := []struct {
		name    string
		gpu     fakeGPU
		missing []string
		want    results.GPUReading
	}{
		{"all there", fakeGPU{fields: fields}, nil, whole},
		{"no instant power", fakeGPU{}, nil, average},
		{"a library of old", fakeGPU{fields: fields}, []string{
			"nvmlDeviceGetMemoryInfo_v2", "nvmlDeviceGetFieldValues",
			"nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCudaComputeCapability",
		}, old},
		{
			"another version of the struct",
			fakeGPU{v2: nvml.ERROR_ARGUMENT_VERSION_MISMATCH},
			nil,
			func() results.GPUReading {
				r := average
				r.VRAMUsedBytes = new(int64(3 << 30))
				return r
			}(),
		},
		{"unified memory", fakeGPU{v2: nvml.ERROR_NOT_SUPPORTED}, nil, func() results.GPUReading {
			r := average
			r.VRAMUsedBytes = nil
			return r
		}()},
		{
			"nothing supported",
			fakeGPU{code: nvml.ERROR_NOT_SUPPORTED, v2: nvml.ERROR_NOT_SUPPORTED},
			nil,
			results.GPUReading{Device: "GPU-1"},
		},
		{
			"no symbol but the oldest",
			fakeGPU{},
			slices.Collect(maps.Keys(nvmlReadSymbols())),
			results.GPUReading{Device: "GPU-1", VRAMUsedBytes: new(int64(3 << 30))},
		},
	}
	for _, test := range tests {
		sampler := newNVMLSamplerOf(sessionOf(&test.gpu, test.missing...),
			[]device.Device{{Vendor: device.NVIDIA, UUID: "GPU-1"}})
		readings, err := sampler.Read(t.Context())
		if err != nil || len(readings) != 1 {
			t.Errorf("%s: Read = %v, %v, want one reading", test.name, readings, err)
			continue
		}
		if diff := cmp.Diff(test.want, readings[0].GPUReading); diff != "" {
			t.Errorf("%s: reading differs (-want +got):\n%s", test.name, diff)
		}
		if readings[0].At.IsZero() {
			t.Errorf("%s: the reading has no moment", test.name)
		}
	}
}

func TestNVMLLostGPU(t *testing.T) {
	sampler := newNVMLSamplerOf(sessionOf(&fakeGPU{code: nvml.ERROR_GPU_IS_LOST}), nil)
	if readings, err := sampler.Read(t.Context()); err == nil || !strings.Contains(err.Error(),
		"the GPU is lost (error 15)") {
		t.Errorf("Read of a lost GPU = %v, %v, want an error", readings, err)
	}
}

func TestNVMLFacts(t *testing.T) {
	part := &fakeGPU{name: "NVIDIA H100 80GB HBM3 MIG 3g.40gb"}
	gpu := &fakeGPU{mig: []nvml.Device{part}}
	has := sessionOf(gpu).has
	want := &device.Facts{
		VBIOS: new("96.00.89"), Architecture: new("sm_90"), PowerLimitW: new(700.0), PowerDefaultW: new(700.0),
		PowerMinW: new(200.0), PowerMaxW: new(700.0),
		ECC: new(false), ComputeMode: new("exclusive-process"), MIG: new(true), Persistence: new(true),
	}
	if diff := cmp.Diff(want, nvmlFacts(has, gpu)); diff != "" {
		t.Errorf("nvmlFacts differs (-want +got):\n%s", diff)
	}
	parts := []device.Part{{Name: "3g.40gb", UUID: "GPU-1", VRAMBytes: new(int64(80 << 30))}}
	if diff := cmp.Diff(parts, nvmlParts(has, gpu)); diff != "" {
		t.Errorf("nvmlParts differs (-want +got):\n%s", diff)
	}
	none := func(string) bool { return false }
	if diff := cmp.Diff(&device.Facts{}, nvmlFacts(none, gpu)); diff != "" {
		t.Errorf("nvmlFacts without symbols differs (-want +got):\n%s", diff)
	}
	if got := nvmlParts(none, gpu); got != nil {
		t.Errorf("nvmlParts without symbols = %v, want none", got)
	}
	if got := nvmlParts(has, &fakeGPU{code: nvml.ERROR_NOT_SUPPORTED}); got != nil {
		t.Errorf("nvmlParts without MIG = %v, want none", got)
	}
}

// A process whose memory the driver cannot tell, or that an old driver
// garbles, is a holder without a number.
func TestNVMLProcesses(t *testing.T) {
	gpu := &fakeGPU{running: []nvml.ProcessInfo{
		{Pid: 11, UsedGpuMemory: 5 << 30},
		{Pid: 12, UsedGpuMemory: math.MaxUint64},
		{Pid: 13, UsedGpuMemory: 1 << 50},
		{Pid: 0, UsedGpuMemory: 7},
	}}
	session := sessionOf(gpu)
	got, err := nvmlProcesses(session.has, newNVMLSamplerOf(session, nil).gpus[0])
	want := []results.GPUHolder{
		{PID: 11, Device: "GPU-1", Bytes: new(int64(5 << 30))},
		{PID: 12, Device: "GPU-1"},
		{PID: 13, Device: "GPU-1"},
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("nvmlProcesses differs, error %v (-want +got):\n%s", err, diff)
	}
	gpu.code = nvml.ERROR_NO_PERMISSION
	if _, err := nvmlProcesses(session.has, newNVMLSamplerOf(session, nil).gpus[0]); err == nil ||
		!strings.Contains(err.Error(), "no permission") {
		t.Errorf("nvmlProcesses without permission: error %v", err)
	}
}

func TestFieldNumber(t *testing.T) {
	field := func(kind nvml.ValueType, bits uint64) nvml.FieldValue {
		v := nvml.FieldValue{ValueType: uint32(kind)}
		binary.NativeEndian.PutUint64(v.Value[:], bits)
		return v
	}
	refused := uintField(7)
	refused.NvmlReturn = uint32(nvml.ERROR_NOT_SUPPORTED)
	minus := int32(-5)
	tests := []struct {
		name  string
		value nvml.FieldValue
		want  float64
		ok    bool
	}{
		{"unsigned", uintField(7), 7, true},
		{"signed", uintField(uint32(minus)), -5, true},
		{"double", field(nvml.VALUE_TYPE_DOUBLE, math.Float64bits(1.5)), 1.5, true},
		{"not a number", field(nvml.VALUE_TYPE_DOUBLE, math.Float64bits(math.NaN())), 0, false},
		{"long", field(nvml.VALUE_TYPE_UNSIGNED_LONG_LONG, 1<<40), 1 << 40, true},
		{"refused", refused, 0, false},
		{"a kind of the future", field(99, 1), 0, false},
	}
	tests[1].value.ValueType = uint32(nvml.VALUE_TYPE_SIGNED_INT)
	for _, test := range tests {
		got, ok := fieldNumber(test.value)
		if ok != test.ok || ok && got != test.want {
			t.Errorf("%s: fieldNumber = %v, %t, want %v, %t", test.name, got, ok, test.want, test.ok)
		}
	}
}

// On a machine without the driver it is cleanly not there.
func TestNVMLOfThisMachine(t *testing.T) {
	sampler, err := NewNVMLSampler(device.Options{}, nil)
	if err != nil {
		if sampler != nil {
			t.Error("a sampler beside an error")
		}
		if _, err := NVMLHolders(nil); err == nil {
			t.Error("nvmlHolders without a library: no error")
		}
		return
	}
	fakegpu.CloseAfter(t, sampler)
	if _, err := sampler.Read(t.Context()); err != nil {
		t.Errorf("Read: %v", err)
	}
}
