package cpus

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Place is where and how preferred a thread runs, and with it the programs that it
// starts.
type Place struct {
	CPUs Set  // nil: as it is
	Node *int // NUMA node whose memory is preferred; nil: as it is
	Nice int  // -20 to 19, lower is preferred; 0: as it is
}

// Zero reports whether everything stays as it is.
func (p Place) Zero() bool { return len(p.CPUs) == 0 && p.Node == nil && p.Nice == 0 }

// Apply places the calling thread, which the caller has locked and gives up: it
// must end with its goroutine. What was done before an error stays.
func (p Place) Apply() error {
	if err := p.pin(); err != nil {
		return err
	}
	if err := p.prefer(); err != nil {
		return err
	}
	return p.rank()
}

func (p Place) pin() error {
	if len(p.CPUs) == 0 {
		return nil
	}
	var mask unix.CPUSet
	for _, cpu := range p.CPUs {
		if cpu >= len(mask)*64 {
			return fmt.Errorf("run on CPUs %s: this program knows CPUs up to %d", p.CPUs, len(mask)*64-1)
		}
		mask.Set(cpu)
	}
	if err := unix.SchedSetaffinity(0, &mask); err != nil {
		return fmt.Errorf(
			"run on CPUs %s: %w: are they there, and may this process use them (taskset -p $$)?",
			p.CPUs,
			err,
		)
	}
	return nil
}

// prefer has memory taken from the node first. Binding to it would end programs
// that need more than it has.
func (p Place) prefer() error {
	if p.Node == nil {
		return nil
	}
	const preferred = 1 // MPOL_PREFERRED
	var mask [16]uint64
	if *p.Node < 0 || *p.Node >= len(mask)*64 {
		return fmt.Errorf("prefer memory of NUMA node %d: want 0 to %d", *p.Node, len(mask)*64-1)
	}
	mask[*p.Node/64] |= 1 << (*p.Node % 64)
	_, _, errno := unix.Syscall(
		unix.SYS_SET_MEMPOLICY,
		preferred,
		uintptr(unsafe.Pointer(&mask)),
		uintptr(len(mask)*64),
	)

	if errno == unix.ENOSYS {
		return nil // a kernel without NUMA has one node
	}
	if errno != 0 {
		return fmt.Errorf("prefer memory of NUMA node %d: %w", *p.Node, errno)
	}
	return nil
}

func (p Place) rank() error {
	if p.Nice == 0 {
		return nil
	}
	if err := unix.Setpriority(unix.PRIO_PROCESS, 0, p.Nice); err != nil {
		return fmt.Errorf("set nice %d: %w: below 0 it takes CAP_SYS_NICE or ulimit -e %d", p.Nice, err, 20-p.Nice)
	}
	return nil
}
