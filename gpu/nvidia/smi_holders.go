package nvidia

import (
	"context"
	"strings"

	"github.com/benchrig/bench/gpu/device"
	"github.com/benchrig/bench/results"
)

// SMIHolders asks nvidia-smi which processes compute on which GPU.
func SMIHolders(ctx context.Context, run device.ToolRunner, devices []device.Device) ([]results.GPUHolder, error) {
	if run == nil {
		run = device.RunTool
	}
	argv := []string{
		"nvidia-smi", "--query-compute-apps=gpu_uuid,gpu_bus_id,pid,process_name,used_gpu_memory",
		"--format=csv",
	}
	out, err := run(ctx, argv)
	if err != nil {
		return nil, smiError(out, err)
	}
	return parseSMIHolders(out, devices)
}

// parseSMIHolders reads the table of processes; a header alone means that
// there are none.
func parseSMIHolders(out []byte, devices []device.Device) ([]results.GPUHolder, error) {
	table, err := parseSMITable(out)
	if err != nil {
		return nil, err
	}

	holders := []results.GPUHolder{}
	for _, row := range table.rows {
		pid := row.number("pid")
		if pid == nil || *pid < 1 || *pid > 1<<31 {
			continue
		}
		name := row.text("process_name", "name")
		holders = append(holders, results.GPUHolder{
			PID: int(*pid), Name: name[strings.LastIndexAny(name, `/\`)+1:],
			Device: smiHolderDevice(row, devices), Bytes: row.mebibytesOf("used_gpu_memory"),
		})
	}

	return holders, nil
}

func smiHolderDevice(row smiRow, devices []device.Device) string {
	uuid, pci := row.text("gpu_uuid"), device.NormalPCI(row.text("gpu_bus_id", "pci.bus_id"))
	for _, device := range devices {
		if uuid != "" && device.UUID == uuid || uuid == "" && pci != "" && device.PCI == pci {
			return device.ID()
		}
	}
	return device.Device{Vendor: device.NVIDIA, UUID: uuid, PCI: pci}.IDIfNamed()
}
