package amd

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/benchrig/bench/gpu/device"
	"github.com/benchrig/bench/results"
)

// driverHolders lists the clients of ROCm's compute driver that hold video memory
// of these devices, as the driver counts it. Pids are those of the host, also
// inside a container. Without that driver there is an error.
func driverHolders(options device.Options, devices []device.Device) ([]results.GPUHolder, error) {
	root := filepath.Join("/", options.Root)
	base := filepath.Join(root, "sys/class/kfd/kfd/proc")
	entries, err := os.ReadDir(base)
	if err != nil {
		return nil, errors.New("amd: the compute driver lists no processes (/sys/class/kfd/kfd/proc)")
	}

	ids := map[uint64]string{}
	for _, gpu := range gpusOf(options.Root, devices) {
		ids[gpu.node.id] = gpu.ID()
	}

	holders := []results.GPUHolder{}
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil || pid <= 0 {
			continue
		}
		name := device.ReadText(filepath.Join(root, "proc", entry.Name(), "comm"))
		for device, bytes := range kfdMemory(filepath.Join(base, entry.Name()), ids) {
			holders = append(holders, results.GPUHolder{PID: pid, Device: device, Bytes: &bytes, Name: name})
		}
	}

	sortHolders(holders)
	return holders, nil
}

// kfdMemory is the memory that a process holds, by device: files such as
// vram_51234 with a number of bytes. GPUs that are not asked for are left out.
func kfdMemory(folder string, ids map[uint64]string) map[string]int64 {
	memory := map[string]int64{}
	entries, err := os.ReadDir(folder)
	if err != nil { // the process has ended
		return memory
	}

	for _, entry := range entries {
		number, ok := strings.CutPrefix(entry.Name(), "vram_")
		id, err := strconv.ParseUint(number, 10, 64)
		device, known := ids[id]
		if !ok || err != nil || !known {
			continue
		}
		if bytes := readBytes(filepath.Join(folder, entry.Name())); bytes != nil {
			memory[device] += *bytes
		}
	}

	return memory
}
