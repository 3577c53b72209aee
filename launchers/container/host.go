package container

import (
	"os"
	"os/user"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/benchrig/bench/internal/proc"
)

// Host is what a recipe must know of this machine.
type Host struct {
	Rootless     bool   // its containers belong to a user who is not root
	DeviceGroups []int  // of the device files of AMD's GPUs, in order; root's is left out
	User         string // who bench runs as; a number if it has no name
	CDI          CDI
	InJob        bool // a scheduler may show us fewer GPUs than the machine has, counted anew from 0
}

// CDI is what the machine's CDI specifications, by which podman knows devices,
// say of NVIDIA's GPUs.
type CDI struct {
	Found bool     // there is a specification
	UUIDs []string // of the GPUs that it names so
}

// ThisHost looks at this machine.
func ThisHost() Host {
	host := Host{Rootless: os.Geteuid() != 0, User: strconv.Itoa(os.Geteuid())}
	jobs, _ := proc.System.Variable(os.Getpid(), "SLURM_JOB_ID")
	host.InJob = len(jobs) > 0
	if who, err := user.Current(); err == nil {
		host.User = who.Username
	}
	host.CDI = readCDI("/etc/cdi", "/var/run/cdi") // podman reads these two
	host.DeviceGroups = deviceGroups("/dev/kfd", "/dev/dri")
	return host
}

// deviceGroups are the groups of kfd, and of the cards and render nodes in a folder, in
// order and without root's.
func deviceGroups(kfd, folder string) []int {
	files := []string{kfd}
	nodes, _ := os.ReadDir(folder) // none: there are no GPUs
	for _, node := range nodes {
		if name := node.Name(); strings.HasPrefix(name, "card") || strings.HasPrefix(name, "renderD") {
			files = append(files, filepath.Join(folder, name))
		}
	}

	var groups []int
	for _, file := range files {
		info, err := os.Stat(file)
		if err != nil {
			continue
		}
		if stat, ok := info.Sys().(*syscall.Stat_t); ok && stat.Gid != 0 {
			groups = append(groups, int(stat.Gid))
		}
	}
	slices.Sort(groups)
	return slices.Compact(groups)
}

// nameLine is that of a device named by NVIDIA's UUID, in YAML or JSON.
var nameLine = regexp.MustCompile(`\bname"?\s*:\s*["']?((?:GPU|MIG)-[\w/-]+)`)

// readCDI reads the specifications of folders. What cannot be read names nothing.
func readCDI(folders ...string) CDI {
	var found CDI
	for _, folder := range folders {
		entries, _ := os.ReadDir(folder) // none: there is no specification
		for _, entry := range entries {
			text, err := os.ReadFile(filepath.Join(folder, entry.Name()))
			if err != nil || !strings.Contains(string(text), "nvidia.com/gpu") {
				continue
			}
			found.Found = true
			for _, match := range nameLine.FindAllSubmatch(text, -1) {
				found.UUIDs = append(found.UUIDs, string(match[1]))
			}
		}
	}
	return found
}

// names reports whether GPUs with these ids may be asked for by them: where no
// specification can be read, the engine is left to say what is wrong.
func (c CDI) names(ids []string) bool {
	return !c.Found || !slices.ContainsFunc(ids, func(id string) bool { return !slices.Contains(c.UUIDs, id) })
}
