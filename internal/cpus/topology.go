package cpus

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/benchrig/bench/internal/proc"
)

// Topology is how the CPUs that this process may use belong together.
type Topology struct {
	Allowed Set               // by affinity and cpuset
	Limit   float64           // CPUs' worth of time that control groups leave; 0: no limit
	Cores   []Set             // CPUs of each physical core, allowed ones only, by their first
	Nodes   map[int]Set       // CPUs of each NUMA node, allowed or not
	Busy    Set               // CPUs that served a large part of the devices' interrupts since the start
	nodeOf  func(string) *int // of a PCI device
}

// Here is the topology of this machine for this process.
func Here() (Topology, error) {
	var mask unix.CPUSet
	if err := unix.SchedGetaffinity(0, &mask); err != nil {
		return Topology{}, fmt.Errorf("read CPU affinity: %w", err)
	}
	var allowed Set
	for cpu := range len(mask) * 64 {
		if mask.IsSet(cpu) {
			allowed = append(allowed, cpu)
		}
	}
	return Read("/", allowed, limitHere()), nil
}

// Read is the topology below root, "/" for this machine, for a process that may use the
// allowed CPUs.
func Read(root string, allowed Set, limit float64) Topology {
	t := Topology{Allowed: allowed, Limit: limit, Nodes: map[int]Set{}}
	t.Cores = cores(root, allowed)
	nodes := filepath.Join(root, "sys/devices/system/node")
	entries, _ := os.ReadDir(nodes)
	for _, e := range entries {
		n, err := strconv.Atoi(strings.TrimPrefix(e.Name(), "node"))
		if set, parseErr := Parse(text(nodes, e.Name(), "cpulist")); err == nil && parseErr == nil {
			t.Nodes[n] = set
		}
	}

	raw, _ := os.ReadFile(filepath.Join(root, "proc/interrupts"))
	t.Busy = busy(string(raw)).Both(allowed)

	t.nodeOf = func(pci string) *int {
		n, err := strconv.Atoi(text(root, "sys/bus/pci/devices", filepath.Base(pci), "numa_node"))
		if err != nil || n < 0 {
			return nil
		}
		return &n
	}
	return t
}

// NodeOf is the NUMA node of a PCI device; nil: it has none, or it is not known.
func (t Topology) NodeOf(pci string) *int {
	if t.nodeOf == nil || pci == "" {
		return nil
	}
	return t.nodeOf(pci)
}

func text(parts ...string) string {
	raw, err := os.ReadFile(filepath.Join(parts...))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(raw))
}

// cores are the allowed CPUs by physical core. One of which nothing is known is a
// core of its own.
func cores(root string, allowed Set) []Set {
	var order []string
	byCore := map[string]Set{}
	for _, cpu := range allowed {
		dir := filepath.Join(root, "sys/devices/system/cpu", "cpu"+strconv.Itoa(cpu), "topology")
		key := text(dir, "physical_package_id") + ":" + text(dir, "core_id")
		if key == ":" {
			key = "cpu" + strconv.Itoa(cpu)
		}
		if byCore[key] == nil {
			order = append(order, key)
		}
		byCore[key] = append(byCore[key], cpu)
	}
	out := make([]Set, len(order))
	for i, key := range order {
		out[i] = byCore[key]
	}
	return out
}

// busy are the CPUs that served more than twice their part of the interrupts of
// devices, which have a number in /proc/interrupts.
func busy(interrupts string) Set {
	head, lines, _ := strings.Cut(interrupts, "\n")
	var cpus Set
	for name := range strings.FieldsSeq(head) {
		n, err := number(strings.TrimPrefix(name, "CPU"))
		if err != nil {
			return nil
		}
		cpus = append(cpus, n)
	}

	counts, sum := make([]float64, len(cpus)), 0.0
	for line := range strings.Lines(lines) {
		fields := strings.Fields(line)
		if len(fields) <= len(cpus) || !strings.HasSuffix(fields[0], ":") ||
			!isNumber(strings.TrimSuffix(fields[0], ":")) {
			continue
		}
		for i := range cpus {
			n, err := strconv.ParseFloat(fields[i+1], 64)
			if err == nil {
				counts[i] += n
				sum += n
			}
		}
	}

	var out Set
	for i, cpu := range cpus {
		if len(cpus) > 1 && counts[i] > 2*sum/float64(len(cpus)) {
			out = append(out, cpu)
		}
	}
	slices.Sort(out)
	return out
}

func isNumber(text string) bool {
	_, err := strconv.ParseUint(text, 10, 32)
	return err == nil
}

// limitHere is the least cpu.max of this process's control group and those above it.
func limitHere() float64 {
	own, _ := proc.System.OwnCgroup()
	limit := math.Inf(1)
	for dir := own; own != ""; dir = filepath.Dir(dir) {
		quota, period, _ := strings.Cut(text("/sys/fs/cgroup", dir, "cpu.max"), " ")
		q, err := strconv.ParseFloat(quota, 64)
		p, periodErr := strconv.ParseFloat(period, 64)
		if err == nil && periodErr == nil && p > 0 {
			limit = min(limit, q/p)
		}
		if dir == "/" || dir == "." {
			break
		}
	}
	if math.IsInf(limit, 1) {
		return 0
	}
	return limit
}
