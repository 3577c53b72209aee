package doctor

import (
	"fmt"
	"strings"
	"time"
)

// Limits below which a machine is short of something.
const (
	fewFiles    = 4096    // one client, one server, a thousand streams
	someFiles   = 1 << 16 // what large matrices want
	littleShm   = 1 << 30 // a Docker container has 64 MiB by default
	littleDisk  = 1 << 30
	someDisk    = 20 << 30
	busyShare   = 0.7 // load by CPU
	activeShare = 0.25
)

func clients(v View) []Finding {
	const advice = "raise the hard limit: LimitNOFILE= of the systemd unit, nofile in /etc/security/limits.conf, " +
		"--ulimit nofile= of a container"
	switch {
	case v.OpenFiles == 0:
		return nil // the caller says why, among what is broken
	case v.OpenFiles < fewFiles:
		return []Finding{finding("limits", Problem, advice,
			"only %d open files: each stream takes one here and one in the server", v.OpenFiles)}
	case v.OpenFiles < someFiles:
		return []Finding{finding("limits", Note, advice, "%d open files are enough for about %d streams", v.OpenFiles,
			v.OpenFiles/2)}
	}
	return []Finding{finding("limits", OK, "", "%d open files", v.OpenFiles)}
}

func files(v View) []Finding {
	var out []Finding
	switch d := v.Disk; {
	case d.Free == nil:
		out = append(out, finding("disk", Note, "", "free space at %s unknown: %s", d.Dir, d.Error))
	case *d.Free < littleDisk:
		out = append(out, finding("disk", Problem, "free some space, or write the results elsewhere with --out",
			"%s free at %s",
			size(*d.Free), d.Dir))
	case *d.Free < someDisk:
		out = append(out, finding("disk", Note, "a long run with many requests writes gigabytes", "%s free at %s",
			size(*d.Free), d.Dir))
	default:
		out = append(out, finding("disk", OK, "", "%s free at %s", size(*d.Free), d.Dir))
	}

	if v.ShmFree == nil {
		return append(out, finding("disk", Note, "", "/dev/shm is missing: engines with several GPUs need it"))
	}
	if *v.ShmFree >= littleShm {
		return append(out, finding("disk", OK, "", "%s free in /dev/shm", size(*v.ShmFree)))
	}

	status := Note
	if len(v.GPUs.GPUs) > 1 {
		status = Problem
	}

	return append(out, finding("disk", status,
		"remove what is left there, mount it larger, or give the container --shm-size or --ipc host",
		"only %s free in /dev/shm: tensor parallel engines need more", size(*v.ShmFree)))
}

func size(bytes int64) string {
	if bytes >= 10<<30 {
		return fmt.Sprintf("%d GiB", bytes>>30)
	}
	return fmt.Sprintf("%d MiB", bytes>>20)
}

func memory(v View) []Finding {
	var out []Finding
	h := v.Host
	if h.MemoryBytes != nil && h.FreeBytes != nil {
		if *h.FreeBytes < *h.MemoryBytes/10 {
			out = append(out, finding("memory", Problem, "find the process that uses it", "only %s of %s are available",
				size(*h.FreeBytes), size(*h.MemoryBytes)))
		} else {
			out = append(out, finding("memory", OK, "", "%s of %s are available", size(*h.FreeBytes),
				size(*h.MemoryBytes)))
		}
	}

	if h.SwapUsedBytes != nil && *h.SwapUsedBytes > 0 {
		out = append(out, finding("memory", Note, "swapoff -a && swapon -a reads it back into memory",
			"%s are swapped out; pages that are needed again will be slow", size(*h.SwapUsedBytes)))
	}

	return out
}

func processor(v View) []Finding {
	var out []Finding
	h := v.Host
	if others := without(h.Governors, "performance"); len(others) > 0 {
		out = append(out, finding("CPU", Note,
			"cpupower frequency-set -g performance, or as a hook: [tuned-adm, profile, throughput-performance]",
			"frequency governor %s: clocks follow the load, and figures with them", strings.Join(others, ", ")))
	} else if len(h.Governors) > 0 {
		out = append(out, finding("CPU", OK, "", "frequency governor performance"))
	}

	if h.NUMABalancing != nil && *h.NUMABalancing {
		out = append(out, finding("CPU", Note, "sysctl kernel.numa_balancing=0",
			"NUMA balancing moves pages while engines run"))
	}
	if h.HugePages != nil {
		out = append(out, finding("CPU", OK, "", "transparent huge pages: %s", *h.HugePages))
	}
	if h.Load1 == nil || h.Threads == nil || *h.Threads == 0 {
		return out
	}

	switch share := *h.Load1 / float64(*h.Threads); {
	case share >= busyShare:
		out = append(out, finding("CPU", Problem, "find the process with top",
			"load %.1f on %d CPUs: something else is running", *h.Load1, *h.Threads))
	case share >= activeShare:
		out = append(out, finding("CPU", Note, "find the process with top", "load %.1f on %d CPUs", *h.Load1,
			*h.Threads))
	default:
		out = append(out, finding("CPU", OK, "", "load %.1f on %d CPUs", *h.Load1, *h.Threads))
	}

	return out
}

func without(list []string, word string) []string {
	var rest []string
	for _, s := range list {
		if s != word {
			rest = append(rest, s)
		}
	}
	return rest
}

func clock(v View) []Finding {
	switch c := v.Clock; {
	case c.Synchronised == nil:
		return []Finding{finding("clock", Note, "", "it is unknown whether the clock is synchronised")}
	case !*c.Synchronised:
		return []Finding{finding("clock", Note, "timedatectl set-ntp true, or start chronyd",
			"the clock is not synchronised: times in results may not fit those of other machines; durations are "+
				"correct anyway")}
	}
	return []Finding{finding("clock", OK, "", "the clock is synchronised, within %s",
		time.Duration(v.Clock.ErrorS*float64(time.Second)).Round(time.Millisecond))}
}

func ports(v View) []Finding {
	var out []Finding
	for _, p := range v.Ports {
		if p.Taken {
			out = append(out, finding("ports", Note,
				"a server without port: takes the next free one; ss -ltnp shows the process", "port %d of launcher %s "+
					"is taken", p.Port, p.Launcher))
		}
	}
	if len(out) == 0 && len(v.Ports) > 0 {
		out = append(out, finding("ports", OK, "", "the default ports of all launchers are free"))
	}
	return out
}

// order is about what bench itself needs to keep a machine in order.
func order(v View) []Finding {
	var out []Finding
	if v.Busy != "" {
		out = append(out, finding("bench", Problem, "wait for it, or stop it",
			"another bench is using this machine: %s",
			v.Busy))
	}

	for _, dir := range v.Leftovers {
		out = append(out, finding("bench", Problem, "bench clean",
			"the run in %s was cut off: its servers or the settings it changed may remain", dir))
	}

	if v.Busy == "" && len(v.Leftovers) == 0 {
		out = append(out, finding("bench", OK, "", "nothing is left of earlier runs"))
	}
	if v.Subreaper != "" {
		out = append(out, finding("bench", Problem, "run bench outside of this sandbox",
			"orphans of servers cannot be adopted: %s", v.Subreaper))
	}
	if v.Cgroups {
		out = append(out, finding("bench", OK, "", "each server gets a control group of its own"))
	} else {
		out = append(out, finding("bench", Note, "systemd-run --user --scope -p Delegate=yes bench run ...",
			"bench cannot create control groups: it tracks servers by session, parent and a cookie in their "+
				"environment alone"))
	}

	for _, broken := range v.Broken {
		out = append(out, finding("bench", Problem, "", "%s", broken))
	}

	return out
}

func calibration(v View) []Finding {
	switch {
	case v.Calibration == nil:
		return []Finding{finding("client", Note, "bench calibrate, once for each machine",
			"the load client was never calibrated on this machine")}
	case v.Host.CPUModel != "" && v.Calibration.CPU != "" && v.Calibration.CPU != v.Host.CPUModel:
		return []Finding{finding("client", Note, "bench calibrate", "the calibration comes from another CPU: %s",
			v.Calibration.CPU)}
	}
	return []Finding{finding("client", OK, "", "measured %s: %.0f requests/s", v.Calibration.MeasuredAt,
		v.Calibration.RequestsPerS)}
}

// clientCores says which cores client: cpus: auto would give the load client.
func clientCores(v View) []Finding {
	if v.CPUs == nil {
		return nil
	}
	choice := v.CPUs.Choose(1, nil)
	if len(choice.Client) == 0 {
		return []Finding{finding("client", Note, "use a client on another host (client: hosts) where the server needs "+
			"all cores", "client: cpus: auto gives the client %s", choice.Why)}
	}
	return []Finding{finding("client", OK, "", "client: cpus: auto gives the client CPUs %s (%s), and servers CPUs %s",
		choice.Client, choice.Why, choice.Servers)}
}

func needs(v View) []Finding {
	var out []Finding
	for _, n := range v.Needs {
		status := OK
		switch {
		case n.OK:
		case n.Only:
			status = Note
		default:
			status = Problem
		}
		text := n.What
		if n.Text != "" {
			text += ": " + n.Text
		}
		out = append(out, finding("scenario", status, n.Advice, "%s", text))
	}

	return out
}
