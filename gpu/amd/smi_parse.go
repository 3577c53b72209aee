package amd

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/benchrig/bench/gpu/device"
	"github.com/benchrig/bench/results"
)

// parseEntries reads what amd-smi prints with --json: an object for each
// GPU, in a list, in {"gpu_data": list}, or alone. {"error": text} is an
// error.
func parseEntries(out []byte) ([]object, error) {
	value, err := decodeTool(out)
	if err != nil {
		return nil, err
	}

	list, isList := value.([]any)
	if top := asObject(value); top != nil {
		if text := top.field("error"); text != nil {
			return nil, fmt.Errorf("%s", device.Clip(fmt.Sprint(text)))
		}
		data, wrapped := top.field("gpu_data").([]any)
		switch {
		case wrapped:
			list = data
		case top.field("gpu") != nil:
			list = []any{value}
		default:
			return nil, errors.New("its JSON has no gpu")
		}
	} else if !isList {
		return nil, errors.New("its JSON is not a list of GPUs")
	}

	entries := []object{}
	for _, item := range list {
		if entry := asObject(item); entry != nil {
			entries = append(entries, entry)
		}
	}

	if len(entries) == 0 {
		return nil, errors.New("its list of GPUs is empty")
	}

	return entries, nil
}

// index is the number of the entry's GPU.
func (o object) index() (int, bool) { return o.count("gpu") }

// count is a small number, such as that of a device or process.
func (o object) count(name string) (int, bool) {
	number, ok := o.field(name).(json.Number)
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseInt(number.String(), 10, 32)
	return int(n), err == nil && n >= 0
}

// listedDevices reads the entries of "amd-smi list".
func listedDevices(entries []object) []toolDevice {
	var listed []toolDevice
	for _, entry := range entries {
		index, ok := entry.index()
		if !ok {
			continue
		}
		device := toolDevice{index: index}
		device.pci, _ = entry.field("bdf").(string)
		if n, ok := entry.count("partition_id"); ok {
			device.partition = &n
		}
		if n, ok := entry.count("node_id"); ok {
			device.node = &n
		}
		if n, ok := entry.count("kfd_id"); ok {
			device.kfdID = new(uint64(n))
		}
		listed = append(listed, device)
	}

	return listed
}

// entryReader reads the values of one entry. What is odd is noted and null.
type entryReader struct {
	entry object
	notes *noteList
}

// section is an object of the entry; nil where it is "N/A" or missing.
func (r entryReader) section(name string) object {
	v := r.entry.field(name)
	section := asObject(v)
	if text, isText := v.(string); section == nil && v != nil && (!isText || !strings.HasPrefix(text, "N/A")) {
		r.notes.note("amd-smi: %s: %s is not a section", name, device.Clip(fmt.Sprint(v)))
	}
	return section
}

// value is the first of these names that has a value. A section that has none
// of the names is of a version to come.
func (r entryReader) value(section object, q quantity, names ...string) *float64 {
	if section != nil && section.field(names...) == nil {
		r.notes.note("amd-smi: %s is not in its answer", strings.Join(names, " or "))
	}
	return r.optional(section, q, names...)
}

// optional is a value that only some versions have.
func (r entryReader) optional(section object, q quantity, names ...string) *float64 {
	for _, name := range names {
		v, err := measure(section.field(name), q)
		if err != nil {
			r.notes.note("amd-smi: %s: %v", name, err)
		}
		if v != nil {
			return v
		}
	}
	return nil
}

// clock is one of the clocks.
func (r entryReader) clock(names ...string) *float64 {
	section := r.section("clock")
	if section != nil && section.field(names...) == nil {
		r.notes.note("amd-smi: clock %s is not in its answer", strings.Join(names, " or "))
	}
	return device.Positive(r.value(asObject(section.field(names...)), inHertz, "clk", "cur_clk"))
}

// readStatic adds the power limit, which an entry of "static" has.
func readStatic(entry object, into *results.GPUReading, notes *noteList) {
	r := entryReader{entry, notes}
	limit := r.section("limit")
	if limit != nil && limit.field("socket_power", "ppt0") == nil {
		notes.note("amd-smi: the power limit is not in its answer")
	}
	set(&into.PowerLimitW, device.Positive(r.optional(limit, inWatts, "socket_power")))
	set(&into.PowerLimitW, device.Positive(r.optional(asObject(limit.field("ppt0")), inWatts, "socket_power_limit")))
}

// readMetric adds what an entry of "metric" says. Version 6.0 has other
// names than the later ones; both are tried.
func readMetric(entry object, into *results.GPUReading, notes *noteList) {
	r := entryReader{entry, notes}
	memory, power, usage, hot := r.section("mem_usage"), r.section("power"), r.section("usage"),
		r.section("temperature")

	set(&into.VRAMUsedBytes, wholeBytes(r.value(memory, inMiB, "used_vram")))
	set(&into.GTTUsedBytes, wholeBytes(r.value(memory, inMiB, "used_gtt")))
	// 0 W: the second die of a card, or a GPU that does not measure.
	set(&into.PowerW, device.Positive(r.value(power, inWatts, "socket_power", "current_power")))
	set(&into.Busy, device.Share(r.value(usage, inPercent, "gfx_activity", "gfx_usage")))
	set(&into.MemoryBusy, device.Share(r.value(usage, inPercent, "umc_activity", "mem_usage")))

	set(&into.EdgeC, device.Celsius(r.value(hot, inDegrees, "edge")))
	set(&into.HotspotC, device.Celsius(r.value(hot, inDegrees, "hotspot")))
	set(&into.MemoryC, device.Celsius(r.value(hot, inDegrees, "mem")))

	// 0 J: a GPU without a counter.
	set(&into.EnergyJ, device.Positive(r.value(r.section("energy"), inJoules, "total_energy_consumption")))
	set(&into.CoreHz, r.clock("gfx_0", "gfx"))
	set(&into.MemoryHz, r.clock("mem_0", "mem"))
	set(&into.PowerLimitW, device.Positive(r.optional(power, inWatts, "power_limit")))

	if reasons := throttleReasons(power, r.section("throttle")); reasons != nil {
		into.Throttle = reasons
	} else if status, _ := power.field("throttle_status").(string); strings.EqualFold(status, "THROTTLED") {
		notes.note("amd-smi: it says that a GPU is throttled and not why; the reasons are null")
	}
}

// set keeps a value that is there.
func set[T any](into **T, v *T) {
	if v != nil {
		*into = v
	}
}

// throttleReasons reads the violations in force; a version that has none only
// says whether there is a reason, which is of use where there is not.
func throttleReasons(power, throttle object) []string {
	var reasons []string
	for _, violation := range []struct{ name, reason string }{
		{"prochot", results.ThrottleHardware},
		{"ppt", results.ThrottlePower},
		{"socket_thermal", results.ThrottleThermal},
		{"vr_thermal", results.ThrottleRegulator},
		{"hbm_thermal", results.ThrottleMemory},
	} {
		status, _ := throttle.field(violation.name + "_violation_status").(string)
		switch strings.ToUpper(status) {
		case "ACTIVE":
			reasons = append(reasons, violation.reason)
		case "NOT ACTIVE":
			if reasons == nil {
				reasons = []string{}
			}
		}
	}

	status, _ := power.field("throttle_status").(string)
	if reasons == nil && strings.EqualFold(status, "UNTHROTTLED") {
		return []string{}
	}

	return reasons
}
