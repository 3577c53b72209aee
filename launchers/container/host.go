package container

import (
	"os"
	"os/user"
	"strconv"
	"strings"
	"syscall"
)

// Host is what a recipe must know of this machine.
type Host struct {
	Rootless    bool   // its containers belong to a user who is not root
	RenderGroup int    // of the device files of GPUs, 0: none
	User        string // who bench runs as; a number if it has no name
}

// ThisHost looks at this machine.
func ThisHost() Host {
	host := Host{Rootless: os.Geteuid() != 0, User: strconv.Itoa(os.Geteuid())}
	if who, err := user.Current(); err == nil {
		host.User = who.Username
	}
	nodes, _ := os.ReadDir("/dev/dri") // none: there are no GPUs
	for _, node := range nodes {
		info, err := node.Info()
		if err != nil || !strings.HasPrefix(node.Name(), "renderD") {
			continue
		}
		if stat, ok := info.Sys().(*syscall.Stat_t); ok {
			host.RenderGroup = int(stat.Gid)
			break
		}
	}

	return host
}
