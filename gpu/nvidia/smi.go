// Package nvidia reads NVIDIA GPUs: NVML, the driver's library, in builds with
// cgo, and nvidia-smi everywhere.
//
// What goes in: the driver, or what nvidia-smi prints. What comes out: devices
// in PCI order with their MIG parts, what they are set to, readings by two
// samplers, and the processes that hold memory. It changes no setting of a
// GPU, and starts no program but nvidia-smi.
package nvidia

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"strings"

	"github.com/benchrig/bench/gpu/device"
)

// mebibyte is nvidia-smi's unit of memory.
const mebibyte = 1 << 20

// smiQuery asks for the columns that parseSMI reads.
func smiQuery() []string {
	return []string{
		"nvidia-smi", "--query-gpu=index,uuid,name,pci.bus_id,memory.total", "--format=csv,noheader,nounits",
	}
}

// SMIDevices asks nvidia-smi. A box without that program has no devices and no
// error.
func SMIDevices(ctx context.Context, run func(context.Context, []string) ([]byte, error)) ([]device.Device, error) {
	if run == nil {
		run = device.RunTool
	}
	out, err := run(ctx, smiQuery())
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("nvidia-smi: %w: %s", err, device.FirstLine(out)) // it reports errors on stdout
	}
	return parseSMI(out)
}

// parseSMI reads rows of index, uuid, name, PCI address and MiB of memory. A
// name may hold commas. A cell without a number ("[N/A]") is null; a row that
// is none at all makes an error with its text, since nvidia-smi writes its
// error messages to the same place.
func parseSMI(out []byte) ([]device.Device, error) {
	var devices []device.Device
	for line := range bytes.Lines(out) {
		text := strings.TrimSpace(string(line))
		if text == "" {
			continue
		}
		cells := strings.Split(text, ",")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		index, err := strconv.Atoi(cells[0])
		if err != nil || index < 0 || len(cells) < 5 {
			return nil, fmt.Errorf("nvidia-smi: %q is no row of a device", device.Clip(text))
		}
		last := len(cells) - 1
		devices = append(devices, device.Device{
			Index:     index,
			Vendor:    device.NVIDIA,
			UUID:      known(cells[1]),
			Name:      known(strings.Join(cells[2:last-1], ", ")),
			PCI:       device.NormalPCI(known(cells[last-1])),
			VRAMBytes: mebibytes(cells[last]),
			Unified:   cells[last] == "[N/A]" || cells[last] == "[Not Supported]", // GB10
		})
	}
	return devices, nil
}

// mebibytes is the number of bytes in a cell of MiB; nil if it holds none.
func mebibytes(cell string) *int64 {
	n, err := strconv.ParseInt(cell, 10, 64)
	if err != nil || n <= 0 || n > 1<<40 {
		return nil
	}
	n *= mebibyte
	return &n
}

// known is a cell's text, or "" where nvidia-smi says that it has none:
// "[N/A]", "N/A", "[Not Supported]", "[Unknown Error]" and the like.
func known(cell string) string {
	if cell == "N/A" || strings.HasPrefix(cell, "[") {
		return ""
	}
	return cell
}
