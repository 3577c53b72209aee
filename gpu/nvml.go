//go:build linux && cgo

package gpu

import (
	"fmt"

	"github.com/NVIDIA/go-nvml/pkg/nvml"
)

// nvmlDevices asks the driver's library. A box without that library, or
// without the driver, has no devices and no error. After a failed Init no
// other function may be called: a missing symbol ends the process. Only
// functions that every version of the library has are called here.
func nvmlDevices() ([]Device, error) {
	library := nvml.New()
	switch code := library.Init(); code {
	case nvml.SUCCESS:
	case nvml.ERROR_LIBRARY_NOT_FOUND, nvml.ERROR_DRIVER_NOT_LOADED:
		return nil, nil
	default:
		return nil, fmt.Errorf("nvml: open the library: error %d", int(code))
	}
	defer func() { _ = library.Shutdown() }()

	count, code := library.DeviceGetCount()
	if code != nvml.SUCCESS {
		return nil, fmt.Errorf("nvml: count devices: error %d", int(code))
	}
	var devices []Device
	for i := range count {
		handle, code := library.DeviceGetHandleByIndex(i)
		if code != nvml.SUCCESS {
			return nil, fmt.Errorf("nvml: open GPU %d: error %d", i, int(code))
		}
		devices = append(devices, nvmlDevice(i, handle))
	}
	return devices, nil
}

// nvmlHandle is the part of a device handle that is used here.
type nvmlHandle interface {
	GetName() (string, nvml.Return)
	GetUUID() (string, nvml.Return)
	GetPciInfo() (nvml.PciInfo, nvml.Return)
	GetMemoryInfo() (nvml.Memory, nvml.Return)
}

func nvmlDevice(index int, handle nvmlHandle) Device {
	device := Device{Index: index, Vendor: NVIDIA}
	if name, code := handle.GetName(); code == nvml.SUCCESS {
		device.Name = name
	}
	if uuid, code := handle.GetUUID(); code == nvml.SUCCESS {
		device.UUID = uuid
	}
	if pci, code := handle.GetPciInfo(); code == nvml.SUCCESS {
		device.PCI = fmt.Sprintf("%04x:%02x:%02x.0", pci.Domain, pci.Bus, pci.Device)
	}
	if memory, code := handle.GetMemoryInfo(); code == nvml.SUCCESS && memory.Total > 0 {
		total := int64(memory.Total)
		device.VRAMBytes = &total
	}
	return device
}
