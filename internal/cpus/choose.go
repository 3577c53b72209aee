package cpus

import (
	"fmt"
	"slices"
)

// Choice is who runs where.
type Choice struct {
	Client  Set    // of the loops of the load client; nil: anywhere
	Servers Set    // of servers that have no CPUs of their own; nil: anywhere
	Why     string // in words
}

const (
	// leastCores is how many physical cores a machine must have for the client to get
	// some of its own: a server needs the rest.
	leastCores = 4
	// clientShare is one core of how many is the client's at most.
	clientShare = 4
)

// Choose gives the client cores of its own: whole physical ones, so that no
// server shares one by its other thread; not among taken, the CPUs that the scenario gives
// to servers; those without interrupts first, and the first core last, where the system's own
// work runs. loops is how many threads read. Machines without room are left as they are.
func (t Topology) Choose(loops int, taken Set) Choice {
	usable := len(t.Cores)
	if t.Limit > 0 && t.Limit < float64(len(t.Allowed)) {
		return Choice{
			Why: fmt.Sprintf("no cores of its own: a control group leaves %.4g CPUs' worth of time on %d, on "+
				"whichever they run", t.Limit, len(t.Allowed)),
		}
	}
	if usable < leastCores {
		return Choice{Why: fmt.Sprintf("no cores of its own: bench may use %d, and a server needs at least %d", usable,
			leastCores-1)}
	}

	free := slices.DeleteFunc(slices.Clone(t.Cores), func(core Set) bool { return len(core.Both(taken)) > 0 })
	rank := func(core Set) int {
		switch {
		case len(core.Both(t.Busy)) > 0:
			return 2
		case core[0] == 0:
			return 1
		}
		return 0
	}
	slices.SortStableFunc(free, func(a, b Set) int {
		if d := rank(a) - rank(b); d != 0 {
			return d
		}
		return b[0] - a[0] // the last ones first: programs that choose for themselves begin with the first
	})

	n := min(max(loops, 1), max(usable/clientShare, 1), len(free))
	if n == 0 {
		return Choice{Why: "no cores of its own: server: cpus takes all of them"}
	}

	var threads, whole Set
	for _, core := range free[:n] {
		threads, whole = append(threads, core[0]), append(whole, core...)
	}
	slices.Sort(threads)
	slices.Sort(whole)
	return Choice{
		Client: threads, Servers: t.Allowed.Without(whole),
		Why: fmt.Sprintf("%d of %d cores, with no interrupts of devices and no server on them", n, usable),
	}
}
