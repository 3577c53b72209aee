package nvidia

import (
	"strconv"
	"strings"
	"time"

	"github.com/benchrig/bench/gpu/device"
	"github.com/benchrig/bench/results"
)

// SMIReadingFields is what a reading is made of. index comes first: with
// count it shows where one round of GPUs ends.
func SMIReadingFields() []string {
	return []string{
		"index", "count", "uuid", "memory.used", "utilization.gpu", "utilization.memory",
		"power.draw.instant", "power.draw.average", "power.draw", "enforced.power.limit", "compute_cap",
		"temperature.gpu", "temperature.memory", "clocks.current.sm", "clocks.current.memory",
		"clocks_event_reasons.active", "persistence_mode",
	}
}

// smiReading makes a reading of a row. place is the row's position among
// those of its round, which is the index where the row does not say.
func smiReading(row smiRow, at time.Time, place int, devices []device.Device) device.Reading {
	power, kind := smiPower(row)
	return device.Reading{At: at, GPUReading: results.GPUReading{
		Device:        smiDeviceID(row, place, devices),
		VRAMUsedBytes: row.mebibytesOf("memory.used"),
		PowerW:        power,
		PowerKind:     kind,
		Busy:          scaled(row.number("utilization.gpu"), 0.01),
		MemoryBusy:    scaled(row.number("utilization.memory"), 0.01),
		CoreHz:        scaled(row.number("clocks.current.sm", "clocks.sm"), 1e6),
		MemoryHz:      scaled(row.number("clocks.current.memory", "clocks.mem"), 1e6),
		EdgeC:         row.number("temperature.gpu"),
		MemoryC:       row.number("temperature.memory"),
		PowerLimitW:   row.number("enforced.power.limit"),
		Throttle:      smiThrottle(row),
	}}
}

// smiDeviceID names the device as the inventory does.
func smiDeviceID(row smiRow, place int, devices []device.Device) string {
	if n := row.number("index"); n != nil {
		place = int(*n)
	}
	uuid := row.text("uuid")
	for _, device := range devices {
		if device.Index == place && (uuid == "" || device.UUID == "" || device.UUID == uuid) {
			return device.ID()
		}
	}
	return device.Device{Index: place, Vendor: device.NVIDIA, UUID: uuid}.ID()
}

// smiPower is the power now where the driver reports it. power.draw is the same
// up to Turing and on GA100; later it is the mean of the last second.
func smiPower(row smiRow) (watts *float64, kind string) {
	if watts = row.number("power.draw.instant"); watts != nil {
		return watts, powerInstant
	}

	watts = row.number("power.draw")
	average := row.number("power.draw.average")
	switch {
	case watts == nil && average == nil:
		return nil, ""
	case watts == nil:
		return average, powerAverage
	case average != nil:
		return watts, powerAverage
	}

	major, minor, ok := strings.Cut(row.text("compute_cap"), ".")
	if !ok {
		return watts, ""
	}

	return watts, powerKindOf(atoi(major), atoi(minor))
}

// The kinds of a power reading.
const (
	powerInstant = "instant"
	powerAverage = "average"
)

// powerKindOf says what the plain power reading of an NVIDIA GPU is, by its
// compute capability: 8.0 is GA100, which still reads instantly; 8.6 and later
// give the mean of the last second.
func powerKindOf(major, minor int) string {
	switch {
	case major <= 0:
		return ""
	case major < 8, major == 8 && minor == 0:
		return powerInstant
	}
	return powerAverage
}

func atoi(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		return -1
	}
	return n
}

func smiThrottle(row smiRow) []string {
	cell := row.text("clocks_event_reasons.active", "clocks_throttle_reasons.active")
	mask, err := strconv.ParseUint(strings.TrimPrefix(cell, "0x"), 16, 64)
	if err != nil || !strings.HasPrefix(cell, "0x") {
		return nil
	}
	return throttleOf(mask)
}

// throttleOf names the reasons in a mask of clock event reasons. That a
// GPU idles (0x1), runs at clocks that somebody set (0x2), follows another
// (0x10) or a display (0x100) is not throttling, nor that it is at its
// highest reliable voltage (0x400). Bits without a meaning yet are left out.
func throttleOf(mask uint64) []string {
	const (
		softwarePower, slowdown, softwareThermal = 0x4, 0x8, 0x20
		hardwareThermal, powerBrake, boardLimit  = 0x40, 0x80, 0x200
	)

	if mask&hardwareThermal != 0 {
		mask &^= slowdown // the same event, in general
	}

	reasons := []string{}
	if mask&softwarePower != 0 {
		reasons = append(reasons, results.ThrottlePower)
	}
	if mask&(softwareThermal|hardwareThermal) != 0 {
		reasons = append(reasons, results.ThrottleThermal)
	}
	if mask&(slowdown|powerBrake|boardLimit) != 0 {
		reasons = append(reasons, results.ThrottleHardware)
	}

	return reasons
}
