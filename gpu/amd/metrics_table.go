package amd

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/benchrig/bench/results"
)

// metricsTable is what the driver's binary table gpu_metrics says. Its layouts are
// those of struct gpu_metrics_vX_Y of the kernel; a field of all ones is not
// there.
type metricsTable struct {
	powerW    *float64
	powerKind string
	energyJ   *float64
	throttle  []string   // nil: not known, or only by comparing residencies
	residency *residency // nil: not known
}

// tableLayout says where in a version of the table the fields are; 0: it has
// none, or none of which the unit is known.
type tableLayout struct {
	size        int
	power       int // u16, watts
	powerKind   string
	energy      int // u64, 2^-16 J
	independent int // u64, reasons in bits that are the same for all chips
	cycles      int // u32, counts up with the residencies
	residencies int // u32 each
	reasons     []string
}

// layoutOf knows the layouts by version. Tables of APUs have no power here:
// its unit differs between firmwares, hwmon has it. In version 1.3 the unit of
// energy is only known for the MI200 series.
func layoutOf(format, content byte, gfx string) (tableLayout, bool) {
	const average, instant = "average", "instant"
	accelerator := []string{
		results.ThrottleHardware, results.ThrottlePower, results.ThrottleThermal, results.ThrottleRegulator,
		results.ThrottleMemory,
	}

	switch [2]byte{format, content} {
	case [2]byte{1, 0}:
		return tableLayout{size: 80, power: 34, powerKind: average}, true
	case [2]byte{1, 1}:
		return tableLayout{size: 96, power: 22, powerKind: average}, true
	case [2]byte{1, 2}:
		return tableLayout{size: 104, power: 22, powerKind: average}, true
	case [2]byte{1, 3}:
		layout := tableLayout{size: 120, power: 22, powerKind: average, independent: 112}
		if gfx == "gfx90a" {
			layout.energy = 24
		}
		return layout, true
	case [2]byte{1, 4}:
		return tableLayout{size: 288, power: 10, powerKind: instant, energy: 24}, true
	case [2]byte{1, 5}:
		return tableLayout{size: 328, power: 10, powerKind: instant, energy: 56}, true
	case [2]byte{1, 6}:
		return tableLayout{
			size: 1664, power: 10, powerKind: instant, energy: 16, cycles: 32, residencies: 36,
			reasons: accelerator,
		}, true
	case [2]byte{1, 7}:
		return tableLayout{
			size: 2208, power: 10, powerKind: instant, energy: 24, cycles: 40, residencies: 44,
			reasons: accelerator,
		}, true
	case [2]byte{1, 8}:
		return tableLayout{
			size: 3360, power: 10, powerKind: instant, energy: 24, cycles: 40, residencies: 44,
			reasons: accelerator,
		}, true
	case [2]byte{2, 0}, [2]byte{2, 1}:
		return tableLayout{size: 120}, true
	case [2]byte{2, 2}:
		return tableLayout{size: 128, independent: 120}, true
	case [2]byte{2, 3}:
		return tableLayout{size: 152, independent: 120}, true
	case [2]byte{2, 4}:
		return tableLayout{size: 168, independent: 120}, true
	case [2]byte{3, 0}: // the cycles are the low half of the driver's clock
		return tableLayout{size: 264, cycles: 104, residencies: 228, reasons: []string{
			results.ThrottleHardware, results.ThrottlePower, results.ThrottlePower, results.ThrottlePower,
			results.ThrottleThermal, results.ThrottleThermal, results.ThrottleThermal,
		}}, true
	}

	return tableLayout{}, false
}

// parseMetricsTable reads the table of a GPU of this kind ("gfx942"; "" if
// unknown). A table of another version or size says nothing, and the error
// says why.
func parseMetricsTable(data []byte, gfx string) (metricsTable, error) {
	const header = 4
	if len(data) < header {
		return metricsTable{}, fmt.Errorf("gpu_metrics: %d bytes are not a table", len(data))
	}

	size, format, content := int(binary.LittleEndian.Uint16(data)), data[2], data[3]
	layout, known := layoutOf(format, content, gfx)
	if !known {
		return metricsTable{}, fmt.Errorf("gpu_metrics: version %d.%d is not known", format, content)
	}
	if size != layout.size || len(data) < size {
		return metricsTable{}, fmt.Errorf("gpu_metrics: version %d.%d has %d bytes and says %d, not %d", format,
			content, len(data), size, layout.size)
	}

	table := metricsTable{residency: layout.residency(data)}
	if watts := binary.LittleEndian.Uint16(data[layout.power:]); layout.power > 0 && watts != math.MaxUint16 &&
		watts > 0 {
		table.powerW, table.powerKind = new(float64(watts)), layout.powerKind
	}
	if count := binary.LittleEndian.Uint64(data[layout.energy:]); layout.energy > 0 && count != math.MaxUint64 &&
		count > 0 {
		table.energyJ = new(float64(count) / (1 << 16))
	}
	if layout.independent > 0 {
		table.throttle = independentReasons(binary.LittleEndian.Uint64(data[layout.independent:]))
	}

	return table, nil
}

// residency counts for how many cycles each reason was in force, since the
// start of the firmware.
type residency struct {
	cycles  uint32
	counts  []uint32
	reasons []string
}

func (l tableLayout) residency(data []byte) *residency {
	if l.residencies == 0 {
		return nil
	}
	r := &residency{cycles: binary.LittleEndian.Uint32(data[l.cycles:]), reasons: l.reasons}
	for i := range l.reasons {
		r.counts = append(r.counts, binary.LittleEndian.Uint32(data[l.residencies+4*i:]))
	}
	return r
}

// since lists what was in force at some time since the reading before; nil if
// that is not known: the first reading, or no cycle since.
func (r *residency) since(before *residency) []string {
	if r == nil || before == nil || r.cycles == before.cycles || len(r.counts) != len(before.counts) {
		return nil
	}

	known := false
	reasons := []string{}
	for i, count := range r.counts {
		if count == math.MaxUint32 || before.counts[i] == math.MaxUint32 {
			continue
		}
		known = true
		if count != before.counts[i] {
			reasons = addReason(reasons, r.reasons[i])
		}
	}

	if !known {
		return nil
	}

	return reasons
}

// independentReasons reads the bits SMU_THROTTLER_* of the kernel; nil where
// the field is not there, or holds only bits that are not known.
func independentReasons(bits uint64) []string {
	if bits == math.MaxUint64 {
		return nil
	}

	reasons := []string{}
	for bit := range 64 {
		if bits>>bit&1 == 1 {
			if reason := independentReason(bit); reason != "" {
				reasons = addReason(reasons, reason)
			}
		}
	}

	if bits != 0 && len(reasons) == 0 {
		return nil
	}

	return reasons
}

func independentReason(bit int) string {
	switch {
	case bit < 8, bit >= 16 && bit <= 23, bit == 56: // package power, currents, PPM
		return results.ThrottlePower
	case bit == 34:
		return results.ThrottleMemory
	case bit >= 32 && bit <= 37, bit == 42, bit == 43: // core, edge, hotspot, SoC, liquid
		return results.ThrottleThermal
	case bit >= 38 && bit <= 41, bit == 44, bit == 45:
		return results.ThrottleRegulator
	case bit == 46, bit == 47, bit == 57: // PROCHOT, reliability limit
		return results.ThrottleHardware
	}
	return ""
}

// addReason keeps the list free of repetitions.
func addReason(reasons []string, reason string) []string {
	if slices.Contains(reasons, reason) {
		return reasons
	}
	return append(reasons, reason)
}
