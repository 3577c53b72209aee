package gpu

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
)

// mebibyte is nvidia-smi's unit of memory.
const mebibyte = 1 << 20

// smiQuery asks for the columns that parseSMI reads.
func smiQuery() []string {
	return []string{
		"nvidia-smi", "--query-gpu=index,uuid,name,pci.bus_id,memory.total", "--format=csv,noheader,nounits",
	}
}

// smiDevices asks nvidia-smi. A box without that program has no devices and no
// error.
func smiDevices(ctx context.Context, run func(context.Context, []string) ([]byte, error)) ([]Device, error) {
	if run == nil {
		run = runTool
	}
	out, err := run(ctx, smiQuery())
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("nvidia-smi: %w: %s", err, firstLine(out)) // it reports errors on stdout
	}
	return parseSMI(out)
}

// parseSMI reads rows of index, uuid, name, PCI address and MiB of memory. A
// name may hold commas. A cell without a number ("[N/A]") is null; a row that
// is none at all makes an error with its text, since nvidia-smi writes its
// error messages to the same place.
func parseSMI(out []byte) ([]Device, error) {
	var devices []Device
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
			return nil, fmt.Errorf("nvidia-smi: %q is no row of a device", clip(text))
		}
		last := len(cells) - 1
		devices = append(devices, Device{
			Index:     index,
			Vendor:    NVIDIA,
			UUID:      known(cells[1]),
			Name:      known(strings.Join(cells[2:last-1], ", ")),
			PCI:       normalPCI(known(cells[last-1])),
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

// normalPCI spells an address with four digits of domain, in lower case:
// NVIDIA writes 00000000:C1:00.0, sysfs 0000:c1:00.0.
func normalPCI(address string) string {
	address = strings.ToLower(address)
	domain, rest, ok := strings.Cut(address, ":")
	if ok && len(domain) == 8 && strings.HasPrefix(domain, "0000") {
		return domain[4:] + ":" + rest
	}
	return address
}

func firstLine(out []byte) string {
	line, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	return clip(line)
}

// clip shortens text for a message.
func clip(text string) string {
	const most = 200
	if len(text) > most {
		return strings.ToValidUTF8(text[:most], "") + "..."
	}
	return text
}
