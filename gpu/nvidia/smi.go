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

// SMIDevices asks nvidia-smi. A machine without that program has no devices and
// no error. Notes are the tool's words on GPUs that it cannot reach: one that
// has fallen off its bus does not hide the others.
func SMIDevices(ctx context.Context, run device.ToolRunner) ([]device.Device, []string, error) {
	if run == nil {
		run = device.RunTool
	}

	out, failed := run(ctx, smiQuery())
	if errors.Is(failed, exec.ErrNotFound) {
		return nil, nil, nil
	}

	devices, messages, err := parseSMI(out)
	switch {
	case failed != nil && len(devices) == 0:
		return nil, nil, fmt.Errorf("nvidia-smi: %w: %s", failed, device.FirstLine(out)) // it reports errors on stdout
	case err != nil:
		return nil, nil, err
	}

	var notes []string
	for _, message := range messages {
		notes = append(notes, "nvidia-smi: "+message)
	}

	return devices, notes, nil
}

// parseSMI reads rows of index, uuid, name, PCI address and MiB of memory. A
// name may hold commas. A cell without a number ("[N/A]") is null. Lines that
// are not rows are messages, which nvidia-smi writes to the same place; without
// any row they make an error.
func parseSMI(out []byte) (devices []device.Device, messages []string, err error) {
	for line := range bytes.Lines(out) {
		text := strings.TrimSpace(string(line))
		if text == "" {
			continue
		}
		d, ok := smiDeviceRow(text)
		if !ok {
			messages = append(messages, device.Clip(text))
			continue
		}
		devices = append(devices, d)
	}

	if len(devices) == 0 && len(messages) > 0 {
		return nil, nil, fmt.Errorf("nvidia-smi: %q is not a row of a device", messages[0])
	}

	return devices, messages, nil
}

func smiDeviceRow(text string) (device.Device, bool) {
	cells := strings.Split(text, ",")
	for i := range cells {
		cells[i] = strings.TrimSpace(cells[i])
	}

	index, err := strconv.Atoi(cells[0])
	if err != nil || index < 0 || len(cells) < 5 {
		return device.Device{}, false
	}

	last := len(cells) - 1
	return device.Device{
		Index:     index,
		Vendor:    device.NVIDIA,
		UUID:      known(cells[1]),
		Name:      known(strings.Join(cells[2:last-1], ", ")),
		PCI:       device.NormalPCI(known(cells[last-1])),
		VRAMBytes: mebibytes(cells[last]),
		Unified:   cells[last] == "[N/A]" || cells[last] == "[Not Supported]", // GB10
	}, true
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
