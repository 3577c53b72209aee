package cpus

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestParse(t *testing.T) {
	for list, want := range map[string]string{
		"0": "0", "0-3,8": "0-3,8", "8, 2-3 ,2": "2-3,8", "5-5": "5", "8191": "8191",
	} {
		set, err := Parse(list)
		if err != nil || set.String() != want {
			t.Errorf("Parse(%q) = %q, %v, want %q", list, set, err, want)
		}
	}
	for _, bad := range []string{"", "a", "3-1", "1,,2", "-1", "1-", "8192", "0-99999999999", "0x3", "1;2"} {
		if set, err := Parse(bad); err == nil {
			t.Errorf("Parse(%q) = %v, want an error", bad, set)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("0-3,8")
	f.Fuzz(func(t *testing.T, list string) {
		set, err := Parse(list)
		if err != nil {
			return
		}
		again, err := Parse(set.String())
		if err != nil || !slices.Equal(again, set) {
			t.Errorf("Parse(%q) = %v, which reads back as %v, %v", list, set, again, err)
		}
	})
}

// machine is a sysfs of cores with two threads each, on two nodes.
func machine(t *testing.T, cores int) string {
	t.Helper()
	root := t.TempDir()
	write := func(path, text string) {
		t.Helper()
		path = filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for cpu := range 2 * cores {
		dir := "sys/devices/system/cpu/cpu" + Set{cpu}.String() + "/topology/"
		write(dir+"physical_package_id", Set{cpu % cores / (cores / 2)}.String())
		write(dir+"core_id", Set{cpu % (cores / 2)}.String())
	}
	write("sys/devices/system/node/node0/cpulist", "0-1")
	write("sys/devices/system/node/node1/cpulist", "2-3")
	write("sys/bus/pci/devices/0000:41:00.0/numa_node", "1")
	write("sys/bus/pci/devices/0000:42:00.0/numa_node", "-1")
	var head, nic, timer strings.Builder
	for cpu := range 2 * cores {
		head.WriteString(" CPU" + Set{cpu}.String())
		nic.WriteString(map[bool]string{true: " 9000", false: " 3"}[cpu == 2*cores-1])
		timer.WriteString(" 100000")
	}
	write("proc/interrupts", head.String()+"\n 24:"+nic.String()+"  PCI-MSI eth0\nLOC:"+timer.String()+"  timer")
	return root
}

func all(n int) Set {
	var s Set
	for cpu := range n {
		s = append(s, cpu)
	}
	return s
}

func TestChoose(t *testing.T) {
	for _, c := range []struct {
		name            string
		cores, loops    int
		allowed, taken  Set
		limit           float64
		client, servers string
		why             string
	}{
		{"one core of eight", 8, 1, all(16), nil, 0, "6", "0-5,7-13,15", "1 of 8 cores"},
		{"no more than a quarter", 8, 16, all(16), nil, 0, "5-6", "0-4,7-12,15", "2 of 8 cores"},
		{"servers have theirs", 8, 2, all(16), Set{4, 5, 6, 7}, 0, "2-3", "0-1,4-9,12-15", "2 of 8"},
		{"a cpuset of four", 8, 1, Set{0, 1, 2, 3}, nil, 0, "3", "0-2", "1 of 4 cores"},
		{"a small machine", 2, 1, all(4), nil, 0, "", "", "bench may use 2"},
		{"threads are not cores", 8, 1, Set{0, 8, 1, 9}, nil, 0, "", "", "bench may use 2"},
		{"a quota", 8, 1, all(16), nil, 6, "", "", "control group leaves 6 CPUs' worth"},
		{"nothing left", 4, 1, all(8), all(8), 0, "", "", "server: cpus takes all of them"},
	} {
		topology := Read(machine(t, c.cores), c.allowed, c.limit)
		got := topology.Choose(c.loops, c.taken)
		if got.Client.String() != c.client || got.Servers.String() != c.servers || !strings.Contains(got.Why, c.why) {
			t.Errorf(
				"%s: client %s, servers %s, %q; want %s, %s, %q",
				c.name,
				got.Client,
				got.Servers,
				got.Why,
				c.client,
				c.servers,
				c.why,
			)
		}
	}
}

func TestTopology(t *testing.T) {
	topology := Read(machine(t, 4), all(8), 0)
	if n := topology.NodeOf("0000:41:00.0"); n == nil || *n != 1 || topology.Nodes[1].String() != "2-3" {
		t.Errorf("node of the device %v, nodes %v", n, topology.Nodes)
	}
	for _, pci := range []string{"0000:42:00.0", "none", "", "../../../../etc"} {
		if n := topology.NodeOf(pci); n != nil {
			t.Errorf("NodeOf(%q) = %d, want nothing", pci, *n)
		}
	}
	if topology.Busy.String() != "7" || len(topology.Cores) != 4 {
		t.Errorf("busy %s, cores %v", topology.Busy, topology.Cores)
	}
	if bare := Read(t.TempDir(), all(3), 0); len(bare.Cores) != 3 || len(bare.Nodes) != 0 || bare.Busy != nil {
		t.Errorf("without sysfs: %+v", bare)
	}
	if here, err := Here(); err != nil || len(here.Allowed) == 0 || len(here.Cores) == 0 {
		t.Errorf("here: %+v, %v", here, err)
	}
}

// TestPlace: a placed thread runs where it should, and the others stay where they were.
func TestPlace(t *testing.T) {
	here, err := Here()
	if err != nil {
		t.Fatal(err)
	}
	last := here.Allowed[len(here.Allowed)-1:]
	type seen struct {
		cpus Set
		nice int
		err  error
	}
	placed := make(chan seen)
	go func() { // its thread ends with it
		runtime.LockOSThread()
		err := Place{CPUs: last, Node: new(0), Nice: 5}.Apply()
		now, hereErr := Here()
		if err == nil {
			err = hereErr
		}
		raw, _ := unix.Getpriority(unix.PRIO_PROCESS, 0)
		placed <- seen{now.Allowed, 20 - raw, err}
	}()
	if got := <-placed; got.err != nil || !slices.Equal(got.cpus, last) || got.nice < 5 {
		t.Errorf("placed: %+v, want CPUs %s at nice 5", got, last)
	}
	if after, err := Here(); err != nil || !slices.Equal(after.Allowed, here.Allowed) {
		t.Errorf("this thread may use %s now, %v, want %s", after.Allowed, err, here.Allowed)
	}

	refused := make(chan error)
	go func() {
		runtime.LockOSThread()
		refused <- Place{CPUs: Set{1023}}.Apply()
	}()
	if err := <-refused; err == nil || !strings.Contains(err.Error(), "1023") {
		t.Errorf("CPU 1023: %v, want an error that names it", err)
	}
	if !(Place{}).Zero() || (Place{Nice: 1}).Zero() {
		t.Error("Zero is wrong")
	}
}
