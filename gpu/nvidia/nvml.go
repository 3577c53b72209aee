//go:build linux && cgo

package nvidia

import (
	"errors"
	"fmt"

	"github.com/NVIDIA/go-nvml/pkg/nvml"

	"github.com/benchrig/bench/gpu/device"
)

// ErrNoNVML says that there is no driver, or no library of it.
var ErrNoNVML = errors.New("nvml: no NVIDIA driver library here")

// nvmlSession is the driver's library, opened, and its GPUs by index.
//
// A call of a function that the installed library lacks ends the process, so
// everything beyond counting and opening GPUs is called after has said yes.
type nvmlSession struct {
	has     func(symbol string) bool
	handles []nvml.Device
	close   func()
}

// openNVML opens the library. After a failed Init no other function may be
// called.
func openNVML() (*nvmlSession, error) {
	switch code := nvml.Init(); code {
	case nvml.SUCCESS:
	case nvml.ERROR_LIBRARY_NOT_FOUND, nvml.ERROR_DRIVER_NOT_LOADED:
		return nil, ErrNoNVML
	default:
		return nil, fmt.Errorf("nvml: open the library: %s", nvmlWords(code))
	}

	s := &nvmlSession{
		has:   func(symbol string) bool { return nvml.Extensions().LookupSymbol(symbol) == nil },
		close: func() { _ = nvml.Shutdown() },
	}

	count, code := nvml.DeviceGetCount()
	if code != nvml.SUCCESS {
		s.close()
		return nil, fmt.Errorf("nvml: count devices: %s", nvmlWords(code))
	}

	for i := range count {
		handle, code := nvml.DeviceGetHandleByIndex(i)
		if code != nvml.SUCCESS {
			s.close()
			return nil, fmt.Errorf("nvml: open GPU %d: %s", i, nvmlWords(code))
		}
		s.handles = append(s.handles, handle)
	}

	return s, nil
}

// nvmlWords is a code in words, without a call of the library.
func nvmlWords(code nvml.Return) string {
	words := map[nvml.Return]string{
		nvml.ERROR_NOT_SUPPORTED: "not supported", nvml.ERROR_NO_PERMISSION: "no permission",
		nvml.ERROR_GPU_IS_LOST: "the GPU is lost", nvml.ERROR_RESET_REQUIRED: "the GPU must be reset",
		nvml.ERROR_OPERATING_SYSTEM: "blocked by the operating system or a cgroup",
		nvml.ERROR_LIB_RM_VERSION_MISMATCH: "library and kernel driver have different versions; reboot or reload " +
			"the driver",
		nvml.ERROR_INSUFFICIENT_POWER:        "a power cable is missing",
		nvml.ERROR_IRQ_ISSUE:                 "the kernel has a problem with its interrupts",
		nvml.ERROR_DRIVER_NOT_LOADED:         "the driver is not loaded",
		nvml.ERROR_NOT_FOUND:                 "not found",
		nvml.ERROR_TIMEOUT:                   "timeout",
		nvml.ERROR_FUNCTION_NOT_FOUND:        "the library lacks the function",
		nvml.ERROR_CORRUPTED_INFOROM:         "the inforom is corrupted",
		nvml.ERROR_UNKNOWN:                   "unknown error",
		nvml.ERROR_INSUFFICIENT_RESOURCES:    "not enough resources",
		nvml.ERROR_ARGUMENT_VERSION_MISMATCH: "the library wants another version of an argument",
	}[code]
	if words == "" {
		return fmt.Sprintf("error %d", int(code))
	}

	return fmt.Sprintf("%s (error %d)", words, int(code))
}

// NVMLDevices lists the GPUs with what they are set to. A machine without the
// driver has no devices and no error.
func NVMLDevices() ([]device.Device, error) {
	session, err := openNVML()
	if errors.Is(err, ErrNoNVML) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer session.close()

	var devices []device.Device
	for i, handle := range session.handles {
		device := nvmlDevice(i, handle)
		device.Facts = nvmlFacts(session.has, handle)
		device.Parts = nvmlParts(session.has, handle)
		devices = append(devices, device)
	}

	return devices, nil
}

// nvmlHandle is the part of a device handle that says which GPU it is.
type nvmlHandle interface {
	GetName() (string, nvml.Return)
	GetUUID() (string, nvml.Return)
	GetPciInfo() (nvml.PciInfo, nvml.Return)
	GetMemoryInfo() (nvml.Memory, nvml.Return)
}

func nvmlDevice(index int, handle nvmlHandle) device.Device {
	device := device.Device{Index: index, Vendor: device.NVIDIA}
	if name, code := handle.GetName(); code == nvml.SUCCESS {
		device.Name = name
	}
	if uuid, code := handle.GetUUID(); code == nvml.SUCCESS {
		device.UUID = uuid
	}
	if pci, code := handle.GetPciInfo(); code == nvml.SUCCESS {
		device.PCI = fmt.Sprintf("%04x:%02x:%02x.0", pci.Domain, pci.Bus, pci.Device)
	}

	memory, code := handle.GetMemoryInfo()
	if code == nvml.SUCCESS && memory.Total > 0 {
		total := int64(memory.Total)
		device.VRAMBytes = &total
	}

	device.Unified = code == nvml.ERROR_NOT_SUPPORTED // GB10: its memory is the CPU's
	return device
}
