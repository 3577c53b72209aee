//go:build linux && cgo

package nvidia

import (
	"errors"
	"fmt"

	"github.com/NVIDIA/go-nvml/pkg/nvml"

	"github.com/benchrig/bench/gpu/device"
	"github.com/benchrig/bench/results"
)

// nvmlSettings is the part of a device handle that says what it is set to.
type nvmlSettings interface {
	GetVbiosVersion() (string, nvml.Return)
	GetCudaComputeCapability() (int, int, nvml.Return)
	GetEnforcedPowerLimit() (uint32, nvml.Return)
	GetPowerManagementDefaultLimit() (uint32, nvml.Return)
	GetPowerManagementLimitConstraints() (uint32, uint32, nvml.Return)
	GetEccMode() (nvml.EnableState, nvml.EnableState, nvml.Return)
	GetComputeMode() (nvml.ComputeMode, nvml.Return)
	GetPersistenceMode() (nvml.EnableState, nvml.Return)
	GetMigMode() (int, int, nvml.Return)
}

// nvmlFacts reads what a GPU is set to; what the library or the GPU does not
// have stays null.
func nvmlFacts(has func(string) bool, handle nvmlSettings) *device.Facts {
	var f device.Facts
	if has("nvmlDeviceGetVbiosVersion") {
		if version, code := handle.GetVbiosVersion(); code == nvml.SUCCESS {
			f.VBIOS = &version
		}
	}

	if has("nvmlDeviceGetCudaComputeCapability") {
		if major, minor, code := handle.GetCudaComputeCapability(); code == nvml.SUCCESS {
			f.Architecture = new(fmt.Sprintf("sm_%d%d", major, minor))
		}
	}

	nvmlPowerFacts(has, handle, &f)
	if has("nvmlDeviceGetEccMode") {
		current, _, code := handle.GetEccMode()
		f.ECC = enabled(current, code)
	}
	if has("nvmlDeviceGetComputeMode") {
		if mode, code := handle.GetComputeMode(); code == nvml.SUCCESS {
			f.ComputeMode = computeModeName(int(mode))
		}
	}

	if has("nvmlDeviceGetPersistenceMode") {
		f.Persistence = enabled(handle.GetPersistenceMode())
	}
	if has("nvmlDeviceGetMigMode") {
		if current, _, code := handle.GetMigMode(); code == nvml.SUCCESS {
			f.MIG = new(current == nvml.DEVICE_MIG_ENABLE)
		}
	}

	return &f
}

func nvmlPowerFacts(has func(string) bool, handle nvmlSettings, f *device.Facts) {
	if has("nvmlDeviceGetEnforcedPowerLimit") {
		f.PowerLimitW = watts(handle.GetEnforcedPowerLimit())
	}
	if has("nvmlDeviceGetPowerManagementDefaultLimit") {
		f.PowerDefaultW = watts(handle.GetPowerManagementDefaultLimit())
	}
	if has("nvmlDeviceGetPowerManagementLimitConstraints") {
		low, high, code := handle.GetPowerManagementLimitConstraints()
		f.PowerMinW, f.PowerMaxW = watts(low, code), watts(high, code)
	}
}

func watts(milliwatts uint32, code nvml.Return) *float64 {
	if code != nvml.SUCCESS {
		return nil
	}
	return new(float64(milliwatts) / 1000)
}

func enabled(state nvml.EnableState, code nvml.Return) *bool {
	if code != nvml.SUCCESS {
		return nil
	}
	return new(state == nvml.FEATURE_ENABLED)
}

func computeModeName(mode int) *string {
	names := []string{"default", "exclusive-thread", "prohibited", "exclusive-process"}
	if mode < 0 || mode >= len(names) {
		return nil
	}
	return &names[mode]
}

// nvmlPartitioned is the part of a device handle that lists MIG devices.
type nvmlPartitioned interface {
	GetMigMode() (int, int, nvml.Return)
	GetMaxMigDeviceCount() (int, nvml.Return)
	GetMigDeviceHandleByIndex(index int) (nvml.Device, nvml.Return)
}

// nvmlParts lists the MIG devices of a GPU.
func nvmlParts(has func(string) bool, handle nvmlPartitioned) []device.Part {
	for _, symbol := range []string{
		"nvmlDeviceGetMigMode", "nvmlDeviceGetMaxMigDeviceCount",
		"nvmlDeviceGetMigDeviceHandleByIndex",
	} {
		if !has(symbol) {
			return nil
		}
	}

	if current, _, code := handle.GetMigMode(); code != nvml.SUCCESS || current != nvml.DEVICE_MIG_ENABLE {
		return nil
	}

	most, code := handle.GetMaxMigDeviceCount()
	if code != nvml.SUCCESS {
		return nil
	}

	var parts []device.Part
	for i := range most {
		mig, code := handle.GetMigDeviceHandleByIndex(i)
		if code != nvml.SUCCESS { // places that are not taken
			continue
		}
		d := nvmlDevice(i, mig)
		parts = append(parts, device.Part{Index: i, Name: migProfile(d.Name), UUID: d.UUID, VRAMBytes: d.VRAMBytes})
	}

	return parts
}

// NVMLCUDA is the newest version of CUDA that the driver serves; nil if
// unknown.
func NVMLCUDA() *string {
	if nvml.Init() != nvml.SUCCESS {
		return nil
	}
	defer func() { _ = nvml.Shutdown() }()
	if nvml.Extensions().LookupSymbol("nvmlSystemGetCudaDriverVersion") != nil {
		return nil
	}
	version, code := nvml.SystemGetCudaDriverVersion()
	if code != nvml.SUCCESS {
		return nil
	}
	return new(fmt.Sprintf("%d.%d", version/1000, version%1000/10))
}

// NVMLHolders lists the processes with memory of GPUs.
func NVMLHolders(devices []device.Device) ([]results.GPUHolder, error) {
	session, err := openNVML()
	if err != nil {
		return nil, err
	}
	defer session.close()
	var holders []results.GPUHolder
	var errs []error
	for _, gpu := range newNVMLSamplerOf(session, devices).gpus {
		found, err := nvmlProcesses(session.has, gpu)
		holders = append(holders, found...)
		errs = append(errs, err)
	}
	return holders, errors.Join(errs...)
}

// nvmlBusy is the part of a device handle that lists processes.
type nvmlBusy interface {
	GetComputeRunningProcesses() ([]nvml.ProcessInfo, nvml.Return)
}

func nvmlProcesses(has func(string) bool, gpu nvmlGPU) ([]results.GPUHolder, error) {
	handle, ok := gpu.handle.(nvmlBusy)
	if !ok || !has("nvmlDeviceGetComputeRunningProcesses") && !has("nvmlDeviceGetComputeRunningProcesses_v2") &&
		!has("nvmlDeviceGetComputeRunningProcesses_v3") {
		return nil, errors.New("nvml: this library lists no processes")
	}

	processes, code := handle.GetComputeRunningProcesses()
	if code != nvml.SUCCESS {
		return nil, fmt.Errorf("nvml: list the processes of %s: %s", gpu.id, nvmlWords(code))
	}

	var holders []results.GPUHolder
	for _, process := range processes {
		holder := results.GPUHolder{PID: int(process.Pid), Device: gpu.id}
		const unknown = ^uint64(0)   // what the driver cannot tell
		const most = uint64(1) << 44 // more than any GPU has: an older layout of the list
		if process.UsedGpuMemory != unknown && process.UsedGpuMemory < most {
			holder.Bytes = new(int64(process.UsedGpuMemory))
		}
		if holder.PID > 0 {
			holders = append(holders, holder)
		}
	}

	return holders, nil
}
