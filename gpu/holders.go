package gpu

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/benchrig/bench/gpu/device"
	"github.com/benchrig/bench/results"
)

// deviceFiles lists processes that have a GPU's device file open, by files
// under root: the last resort where no driver tells. It cannot say how much
// memory they hold, nor on which GPU, and sees only what we may look at.
func deviceFiles(ctx context.Context, root string) ([]results.GPUHolder, error) {
	base := filepath.Join("/", root, "proc")
	entries, err := os.ReadDir(base)
	if err != nil {
		return nil, fmt.Errorf("look for open GPU devices: %w", err)
	}

	holders := []results.GPUHolder{}
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil || pid == os.Getpid() && root == "" {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		folder := filepath.Join(base, entry.Name())
		name := device.ReadText(filepath.Join(folder, "comm"))
		if !isMonitor(name) && opensGPU(filepath.Join(folder, "fd")) {
			holders = append(holders, results.GPUHolder{PID: pid, Name: name})
		}
	}

	return holders, nil
}

// isMonitor tells programs that look at GPUs without computing on them. Names
// of processes are cut at 15 bytes.
func isMonitor(name string) bool {
	return slices.Contains([]string{
		"nvidia-smi", "nvidia-persiste", "nv-hostengine", "dcgm-exporter", "nvtop", "amd-smi", "rocm-smi", "amdgpu_top",
	}, name)
}

// opensGPU looks for links to device files of GPUs.
func opensGPU(folder string) bool {
	links, err := os.ReadDir(folder)
	if err != nil { // of another user, or gone
		return false
	}
	return slices.ContainsFunc(links, func(link os.DirEntry) bool {
		target, err := os.Readlink(filepath.Join(folder, link.Name()))
		return err == nil && isGPUFile(target)
	})
}

// isGPUFile tells the device files through which programs compute.
// /dev/nvidiactl is also open in programs that only ask.
func isGPUFile(path string) bool {
	if path == "/dev/kfd" || path == "/dev/nvidia-uvm" {
		return true
	}
	number, ok := strings.CutPrefix(path, "/dev/nvidia")
	if !ok {
		number, ok = strings.CutPrefix(path, "/dev/dri/renderD")
	}
	return ok && device.Digits(number)
}
