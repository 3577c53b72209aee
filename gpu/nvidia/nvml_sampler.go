//go:build linux && cgo

package nvidia

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"time"

	"github.com/NVIDIA/go-nvml/pkg/nvml"

	"github.com/benchrig/bench/gpu/device"
)

// nvmlSampler reads NVIDIA GPUs through the driver's library.
type nvmlSampler struct {
	session *nvmlSession
	gpus    []nvmlGPU
}

// nvmlGPU is one GPU to read.
type nvmlGPU struct {
	id     string
	handle nvmlMeters
	has    func(symbol string) bool
	kind   string // what the plain power reading is, by architecture
}

// nvmlMeters is the part of a device handle that is read again and again.
type nvmlMeters interface {
	GetMemoryInfo() (nvml.Memory, nvml.Return)
	GetMemoryInfo_v2() (nvml.Memory_v2, nvml.Return)
	GetFieldValues(values []nvml.FieldValue) nvml.Return
	GetPowerUsage() (uint32, nvml.Return)
	GetTotalEnergyConsumption() (uint64, nvml.Return)
	GetUtilizationRates() (nvml.Utilization, nvml.Return)
	GetClockInfo(nvml.ClockType) (uint32, nvml.Return)
	GetTemperature(nvml.TemperatureSensors) (uint32, nvml.Return)
	GetEnforcedPowerLimit() (uint32, nvml.Return)
	GetCurrentClocksEventReasons() (uint64, nvml.Return)
	GetCurrentClocksThrottleReasons() (uint64, nvml.Return)
}

// NewNVMLSampler opens the library for devices.
func NewNVMLSampler(_ device.Options, devices []device.Device) (device.Sampler, error) {
	session, err := openNVML()
	if err != nil {
		return nil, err
	}
	return newNVMLSamplerOf(session, devices), nil
}

func newNVMLSamplerOf(session *nvmlSession, devices []device.Device) *nvmlSampler {
	known := map[string]bool{}
	for symbol := range nvmlReadSymbols() {
		known[symbol] = session.has(symbol)
	}

	s := &nvmlSampler{session: session}
	for i, handle := range session.handles {
		device := nvmlDevice(i, handle)
		for _, other := range devices {
			if other.Index == i && (other.UUID == device.UUID || other.UUID == "" || device.UUID == "") {
				device = other
			}
		}
		gpu := nvmlGPU{id: device.ID(), handle: handle, has: func(symbol string) bool { return known[symbol] }}
		if session.has("nvmlDeviceGetCudaComputeCapability") {
			if major, minor, code := handle.GetCudaComputeCapability(); code == nvml.SUCCESS {
				gpu.kind = powerKindOf(major, minor)
			}
		}
		s.gpus = append(s.gpus, gpu)
	}

	return s
}

// nvmlReadSymbols are the functions that a reading may call.
func nvmlReadSymbols() map[string]bool {
	return map[string]bool{
		"nvmlDeviceGetMemoryInfo_v2": true, "nvmlDeviceGetFieldValues": true, "nvmlDeviceGetPowerUsage": true,
		"nvmlDeviceGetTotalEnergyConsumption": true, "nvmlDeviceGetUtilizationRates": true,
		"nvmlDeviceGetClockInfo": true, "nvmlDeviceGetTemperature": true, "nvmlDeviceGetEnforcedPowerLimit": true,
		"nvmlDeviceGetCurrentClocksEventReasons": true, "nvmlDeviceGetCurrentClocksThrottleReasons": true,
	}
}

// Name is "nvml".
func (s *nvmlSampler) Name() string { return "nvml" }

// Read asks every GPU. One that gives nothing at all is left out.
func (s *nvmlSampler) Read(ctx context.Context) ([]device.Reading, error) {
	readings := []device.Reading{}
	var lost nvml.Return
	for _, gpu := range s.gpus {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		reading, code := gpu.read()
		if code != nvml.SUCCESS {
			lost = code
			continue
		}
		readings = append(readings, reading)
	}

	if len(readings) == 0 && lost != nvml.SUCCESS {
		return nil, fmt.Errorf("nvml: read GPUs: %s", nvmlWords(lost))
	}

	return readings, nil
}

// Close closes the library.
func (s *nvmlSampler) Close() error {
	s.session.close()
	return nil
}

// read takes one reading. Its moment is that of the power, which is what is
// integrated over time. The code is that of a GPU that is lost.
func (g nvmlGPU) read() (device.Reading, nvml.Return) {
	var r device.Reading
	r.Device = g.id
	fields := g.fields()
	r.PowerW, r.PowerKind = g.power(fields)
	r.At = time.Now()
	r.EnergyJ = g.energy()
	used, code := g.memory()
	r.VRAMUsedBytes = used
	if code == nvml.ERROR_GPU_IS_LOST || code == nvml.ERROR_RESET_REQUIRED || code == nvml.ERROR_UNINITIALIZED {
		return device.Reading{}, code
	}
	if g.has("nvmlDeviceGetUtilizationRates") {
		if use, code := g.handle.GetUtilizationRates(); code == nvml.SUCCESS {
			r.Busy, r.MemoryBusy = new(float64(use.Gpu)/100), new(float64(use.Memory)/100)
		}
	}

	r.CoreHz, r.MemoryHz = g.clock(nvml.CLOCK_SM), g.clock(nvml.CLOCK_MEM)
	if g.has("nvmlDeviceGetTemperature") {
		if celsius, code := g.handle.GetTemperature(nvml.TEMPERATURE_GPU); code == nvml.SUCCESS {
			r.EdgeC = new(float64(celsius))
		}
	}

	if celsius := fields[nvml.FI_DEV_MEMORY_TEMP]; celsius > 0 { // 0: it has no such sensor
		r.MemoryC = new(celsius)
	}
	if g.has("nvmlDeviceGetEnforcedPowerLimit") {
		if milliwatts, code := g.handle.GetEnforcedPowerLimit(); code == nvml.SUCCESS {
			r.PowerLimitW = new(float64(milliwatts) / 1000)
		}
	}

	r.Throttle = g.throttle()
	return r, nvml.SUCCESS
}

// fields asks for what has no function of its own; absent is what the GPU
// does not have.
func (g nvmlGPU) fields() map[uint32]float64 {
	if !g.has("nvmlDeviceGetFieldValues") {
		return nil
	}
	values := []nvml.FieldValue{{FieldId: nvml.FI_DEV_POWER_INSTANT}, {FieldId: nvml.FI_DEV_MEMORY_TEMP}}
	if g.handle.GetFieldValues(values) != nvml.SUCCESS {
		return nil
	}
	found := map[uint32]float64{}
	for _, value := range values {
		if n, ok := fieldNumber(value); ok {
			found[value.FieldId] = n
		}
	}
	return found
}

// fieldNumber reads the union in a field value.
func fieldNumber(value nvml.FieldValue) (float64, bool) {
	if nvml.Return(value.NvmlReturn) != nvml.SUCCESS {
		return 0, false
	}

	bits := binary.NativeEndian.Uint64(value.Value[:])
	short := binary.NativeEndian.Uint32(value.Value[:])
	switch nvml.ValueType(value.ValueType) {
	case nvml.VALUE_TYPE_DOUBLE:
		n := math.Float64frombits(bits)
		return n, !math.IsNaN(n) && !math.IsInf(n, 0)
	case nvml.VALUE_TYPE_UNSIGNED_INT:
		return float64(short), true
	case nvml.VALUE_TYPE_UNSIGNED_LONG, nvml.VALUE_TYPE_UNSIGNED_LONG_LONG:
		return float64(bits), true
	case nvml.VALUE_TYPE_SIGNED_LONG_LONG:
		return float64(int64(bits)), true
	case nvml.VALUE_TYPE_SIGNED_INT:
		return float64(int32(short)), true
	default:
		return 0, false
	}
}

func (g nvmlGPU) power(fields map[uint32]float64) (*float64, string) {
	if milliwatts := fields[nvml.FI_DEV_POWER_INSTANT]; milliwatts > 0 {
		return new(milliwatts / 1000), powerInstant
	}
	if !g.has("nvmlDeviceGetPowerUsage") {
		return nil, ""
	}
	milliwatts, code := g.handle.GetPowerUsage()
	if code != nvml.SUCCESS {
		return nil, ""
	}
	return new(float64(milliwatts) / 1000), g.kind
}

func (g nvmlGPU) energy() *float64 {
	if !g.has("nvmlDeviceGetTotalEnergyConsumption") {
		return nil
	}
	millijoules, code := g.handle.GetTotalEnergyConsumption()
	if code != nvml.SUCCESS || millijoules == 0 {
		return nil
	}
	return new(float64(millijoules) / 1000)
}

// memory is what processes hold, without the driver's own reserve where the
// library can tell them apart.
func (g nvmlGPU) memory() (*int64, nvml.Return) {
	if g.has("nvmlDeviceGetMemoryInfo_v2") {
		memory, code := g.handle.GetMemoryInfo_v2()
		switch code {
		case nvml.SUCCESS:
			return new(int64(memory.Used)), nvml.SUCCESS
		case nvml.ERROR_ARGUMENT_VERSION_MISMATCH, nvml.ERROR_FUNCTION_NOT_FOUND: // the older call serves
		default:
			return nil, code
		}
	}

	memory, code := g.handle.GetMemoryInfo()
	if code != nvml.SUCCESS {
		return nil, code
	}

	return new(int64(memory.Used)), nvml.SUCCESS
}

func (g nvmlGPU) clock(kind nvml.ClockType) *float64 {
	if !g.has("nvmlDeviceGetClockInfo") {
		return nil
	}
	megahertz, code := g.handle.GetClockInfo(kind)
	if code != nvml.SUCCESS {
		return nil
	}
	return new(float64(megahertz) * 1e6)
}

// throttle asks by the function's new name, and by its old one.
func (g nvmlGPU) throttle() []string {
	mask, code := uint64(0), nvml.ERROR_FUNCTION_NOT_FOUND
	if g.has("nvmlDeviceGetCurrentClocksEventReasons") {
		mask, code = g.handle.GetCurrentClocksEventReasons()
	}
	if code != nvml.SUCCESS && g.has("nvmlDeviceGetCurrentClocksThrottleReasons") {
		mask, code = g.handle.GetCurrentClocksThrottleReasons()
	}
	if code != nvml.SUCCESS {
		return nil
	}
	return throttleOf(mask)
}
