package amd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/benchrig/bench/gpu/device"
	"github.com/benchrig/bench/results"
)

// toolHolders asks amd-smi, then rocm-smi, for the processes that hold
// memory of GPUs: for a machine whose compute driver does not list them. They do
// not say of which GPU; a process is one holder.
func toolHolders(ctx context.Context, options device.Options) ([]results.GPUHolder, error) {
	ask := func(name string, parse func([]byte) ([]results.GPUHolder, error), args ...string) ([]results.GPUHolder,
		error,
	) {
		t := newTool(name, options)
		out, err := t.call(ctx, args...)
		var holders []results.GPUHolder
		if err == nil {
			if holders, err = parse(out); err != nil {
				err = fmt.Errorf("%s: %w", name, err)
			}
		}
		return holders, errors.Join(err, t.Close())
	}

	holders, err := ask("amd-smi", parseSMIProcesses, "process", "--json")
	if err == nil {
		return holders, nil
	}

	holders, second := ask("rocm-smi", parseROCmProcesses, "--showpids", "--json")
	if second == nil {
		return holders, nil
	}

	return nil, errors.Join(err, second)
}

// Holders asks the compute driver, or else the tools, unless the
// machine is only a folder, and adds those that use the devices for graphics.
func Holders(ctx context.Context, options device.Options, devices []device.Device) ([]results.GPUHolder, error) {
	holders, err := computeHolders(ctx, options, devices)
	if err != nil {
		return nil, err
	}
	return withDRM(holders, drmHolders(options, devices)), nil
}

func computeHolders(ctx context.Context, options device.Options, devices []device.Device) ([]results.GPUHolder,
	error,
) {
	holders, err := driverHolders(options, devices)
	if err == nil || options.Root != "" && options.RunTool == nil {
		return holders, err
	}
	holders, second := toolHolders(ctx, options)
	if second != nil {
		return nil, errors.Join(err, second)
	}
	return holders, nil
}

// parseSMIProcesses reads "amd-smi process --json". A process is listed with
// the same numbers for every GPU, of which some are 0 where they should not
// be: the greatest counts, once.
func parseSMIProcesses(out []byte) ([]results.GPUHolder, error) {
	entries, err := parseEntries(out)
	if err != nil {
		return nil, err
	}

	found := holderSet{}
	for _, entry := range entries {
		list, ok := entry.field("process_list").([]any)
		if !ok {
			list = []any{map[string]any(entry)} // version 6.1 and before
		}
		for _, item := range list {
			found.addProcess(asObject(asObject(item).field("process_info")))
		}
	}

	return found.list(), nil
}

// parseROCmProcesses reads "rocm-smi --showpids --json": under "PID4711" a
// text of name, number of GPUs, bytes, and two more numbers. A name may hold
// commas.
func parseROCmProcesses(out []byte) ([]results.GPUHolder, error) {
	value, err := decodeTool(out)
	if err != nil {
		return nil, err
	}

	top := asObject(value)
	if top == nil {
		return nil, errors.New("its JSON is not an object")
	}

	found := holderSet{}
	for key, content := range asObject(top.field("system")) {
		number, ok := strings.CutPrefix(key, "PID")
		pid, err := strconv.ParseInt(number, 10, 32)
		text, isText := content.(string)
		if !ok || err != nil || !isText || pid <= 0 {
			continue
		}
		found.add(rocmProcess(int(pid), text))
	}

	return found.list(), nil
}

func rocmProcess(pid int, text string) results.GPUHolder {
	holder := results.GPUHolder{PID: pid}
	fields := strings.Split(text, ",")
	const after = 4 // fields behind the name
	if len(fields) <= after {
		return holder
	}
	name := len(fields) - after
	holder.Name = strings.TrimSpace(strings.Join(fields[:name], ","))
	if bytes, ok := wholeNumber([]byte(strings.TrimSpace(fields[name+1]))); ok && bytes > 0 {
		holder.Bytes = &bytes
	}
	return holder
}

// holderSet has one holder for each process.
type holderSet map[int]results.GPUHolder

func (s holderSet) addProcess(info object) {
	pid, ok := info.count("pid")
	if !ok || pid == 0 {
		return
	}

	holder := results.GPUHolder{PID: pid}
	if name, _ := info.field("name").(string); !strings.HasPrefix(name, "N/A") {
		holder.Name = name[strings.LastIndex(name, "/")+1:]
	}

	used := []any{info.field("mem_usage"), asObject(info.field("memory_usage")).field("vram_mem")}
	for _, leaf := range used {
		v, err := measure(leaf, inBytes)
		if bytes := wholeBytes(device.Positive(v)); err == nil && bytes != nil &&
			(holder.Bytes == nil || *bytes > *holder.Bytes) {
			holder.Bytes = bytes
		}
	}

	s.add(holder)
}

// add keeps what is known of a process: its name, and the greatest number.
func (s holderSet) add(holder results.GPUHolder) {
	known := s[holder.PID]
	if known.Bytes != nil && (holder.Bytes == nil || *known.Bytes > *holder.Bytes) {
		holder.Bytes = known.Bytes
	}
	holder.Name = cmp.Or(holder.Name, known.Name)
	s[holder.PID] = holder
}

func (s holderSet) list() []results.GPUHolder {
	holders := []results.GPUHolder{}
	for _, holder := range s {
		holders = append(holders, holder)
	}
	sortHolders(holders)
	return holders
}

// sortHolders puts holders in the order of pid and device.
func sortHolders(holders []results.GPUHolder) {
	slices.SortStableFunc(holders, func(a, b results.GPUHolder) int {
		return cmp.Or(cmp.Compare(a.PID, b.PID), cmp.Compare(a.Device, b.Device))
	})
}
