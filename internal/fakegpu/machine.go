// Package fakegpu is a test double: a folder that looks like the /sys and
// /proc of a server with MI300X GPUs.
//
// What goes in: a folder, the number of GPUs, and what they shall say of
// themselves, now or as a function of time. What comes out: files that change
// in place, as sysfs does, so that a reader may keep them open. It computes
// nothing and has no GPU.
package fakegpu

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"sync"
)

// What each GPU has.
const (
	VRAMBytes = int64(206141652992)
	GTTBytes  = int64(811748818944)
)

// Machine is a fake machine. Its methods may be called at the same time.
type Machine struct {
	root string
	n    int

	mu     sync.Mutex
	values []Values
	clocks []counters
	held   map[hold]int64
	files  map[string]*os.File // kept open for writing in place
}

// hold is memory that a process has on a GPU.
type hold struct{ pid, gpu int }

// New builds the machine in dir, which must be empty or missing: n GPUs, at
// most 8, that are idle. Close closes what it keeps open.
func New(dir string, n int) (*Machine, error) {
	if n < 0 || n > len(buses) {
		return nil, fmt.Errorf("fakegpu: %d GPUs: a machine has 0 to %d", n, len(buses))
	}

	b := &Machine{root: dir, n: n, clocks: make([]counters, n), held: map[hold]int64{}, files: map[string]*os.File{}}
	for name, text := range map[string]string{
		"sys/module/amdgpu/version":                     "6.12.12\n",
		"sys/class/kfd/kfd/topology/nodes/0/properties": "cpu_cores_count 96\nsimd_count 0\nlocation_id 0\n",
		"sys/class/kfd/kfd/topology/nodes/0/gpu_id":     "0\n",
		"proc/meminfo": "MemTotal:       1585446232 kB\nMemAvailable:   1500000000 kB\n",
	} {
		if err := b.write(name, text); err != nil {
			return nil, err
		}
	}

	if err := os.MkdirAll(filepath.Join(dir, processes), 0o755); err != nil {
		return nil, err
	}

	for i := range n {
		if err := b.build(i); err != nil {
			return nil, err
		}
		b.values = append(b.values, Idle())
		if err := b.Set(i, Idle()); err != nil {
			return nil, err
		}
	}

	return b, nil
}

// Root is the folder that is put before /sys and /proc.
func (b *Machine) Root() string { return b.root }

// ID names a GPU as an inventory does.
func (b *Machine) ID(gpu int) string { return fmt.Sprintf("GPU-%016x", uniqueID(gpu)) }

// HoldVRAM makes a process hold so much memory of a GPU, in place of what it
// held of it before; 0 frees it. It adds to the memory in use.
func (b *Machine) HoldVRAM(pid, gpu int, bytes int64) error {
	b.mu.Lock()
	defer b.mu.Unlock()

	folder := filepath.Join(processes, strconv.Itoa(pid))
	name := filepath.Join(folder, fmt.Sprintf("vram_%d", gpuID(gpu)))
	if bytes > 0 {
		b.held[hold{pid, gpu}] = bytes
		if err := b.write(name, fmt.Sprintf("%d\n", bytes)); err != nil {
			return err
		}
		if err := b.write(filepath.Join("proc", strconv.Itoa(pid), "comm"), "fake-server\n"); err != nil {
			return err
		}
		return b.writeMemory(gpu)
	}

	delete(b.held, hold{pid, gpu})
	if err := b.remove(name); err != nil {
		return err
	}
	if !b.holds(pid) {
		if err := os.RemoveAll(filepath.Join(b.root, folder)); err != nil {
			return err
		}
	}

	return b.writeMemory(gpu)
}

// Release frees all that a process holds, as its end does.
func (b *Machine) Release(pid int) error {
	b.mu.Lock()
	held := maps.Clone(b.held)
	b.mu.Unlock()
	for h := range held {
		if h.pid == pid {
			if err := b.HoldVRAM(pid, h.gpu, 0); err != nil {
				return err
			}
		}
	}
	return nil
}

func (b *Machine) holds(pid int) bool {
	for h := range b.held {
		if h.pid == pid {
			return true
		}
	}
	return false
}

// Close closes the files that the machine keeps open. The folder stays.
func (b *Machine) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, file := range b.files {
		file.Close()
	}
	clear(b.files)
	return nil
}

// write gives a file new content without another inode, and without a moment
// at which a reader finds it empty: what is left of a longer old text comes
// after the new one's end of line.
func (b *Machine) write(name, text string) error {
	file, ok := b.files[name]
	if !ok {
		path := filepath.Join(b.root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		var err error
		if file, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644); err != nil {
			return err
		}
		b.files[name] = file
	}
	if _, err := file.WriteAt([]byte(text), 0); err != nil {
		return err
	}

	return file.Truncate(int64(len(text)))
}

func (b *Machine) remove(name string) error {
	if file, ok := b.files[name]; ok {
		file.Close()
		delete(b.files, name)
	}
	err := os.Remove(filepath.Join(b.root, name))
	if os.IsNotExist(err) {
		return nil
	}
	return err
}

// Remove takes an attribute of a GPU away, such as "mem_info_vram_used" or
// "hwmon/hwmon3/power1_input"; a reader that has it open keeps its last value.
func (b *Machine) Remove(gpu int, attribute string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.remove(filepath.Join(pciFolder(gpu), attribute))
}
