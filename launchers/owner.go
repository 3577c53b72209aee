package launchers

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/benchrig/bench/internal/proc"
	"github.com/benchrig/bench/internal/secrets"
	"github.com/benchrig/bench/launchers/endpoint"
)

// Owner is the process of this machine that listens where a server is said to
// be.
type Owner struct {
	PID  int
	Argv []string // values of arguments that are named like secrets are hidden
}

// ErrElsewhere says that a URL does not lead to this machine.
var ErrElsewhere = errors.New("it is not on this machine")

// OwnerOf finds the process that listens at a URL, by the socket alone: never
// by a program's name. Where a server's processes share the socket, it is the
// one that the others descend from. The error says why it cannot be seen; it is
// ErrElsewhere where the URL leads to another machine.
func OwnerOf(ctx context.Context, baseURL string) (Owner, error) {
	host, port, err := addressOf(baseURL)
	if err != nil {
		return Owner{}, err
	}

	ip, err := localAddress(ctx, host)
	if err != nil {
		return Owner{}, err
	}

	for _, l := range proc.System.Listeners(port) {
		if !l.Answers(ip) {
			continue
		}
		if pid, ok := eldest(l.Inode); ok {
			argv, err := proc.System.Argv(pid)
			return Owner{pid, withoutSecrets(argv)}, err
		}
		return Owner{}, fmt.Errorf("the process that listens on port %d belongs to another user or another container",
			port)
	}

	return Owner{}, fmt.Errorf("no visible process listens on port %d", port)
}

func addressOf(baseURL string) (host string, port int, err error) {
	u, err := url.Parse(baseURL)
	if err != nil {
		return "", 0, err
	}
	text := u.Port()
	if text == "" {
		text = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	port, err = strconv.Atoi(text)
	if err != nil || u.Hostname() == "" {
		return "", 0, fmt.Errorf("%q is not of the form http://HOST:PORT", endpoint.WithoutPassword(baseURL))
	}
	return u.Hostname(), port, nil
}

// localAddress is a host as an address of this machine.
func localAddress(ctx context.Context, host string) (string, error) {
	if host == "localhost" {
		return host, nil
	}

	ips, err := net.DefaultResolver.LookupIPAddr(ctx, host)
	if err != nil {
		return "", err
	}

	own, err := net.InterfaceAddrs()
	if err != nil {
		return "", err
	}

	for _, ip := range ips {
		if ip.IP.IsLoopback() || ip.IP.IsUnspecified() || slices.ContainsFunc(own, func(a net.Addr) bool {
			network, ok := a.(*net.IPNet)
			return ok && network.IP.Equal(ip.IP)
		}) {
			return ip.String(), nil
		}
	}

	return "", ErrElsewhere
}

// eldest is the process that holds a socket and whose parent does not.
func eldest(inode string) (int, bool) {
	holders := proc.System.SocketHolders(inode)
	for _, pid := range holders {
		if p, err := proc.System.Process(pid); err != nil || !slices.Contains(holders, p.PPID) {
			return pid, true
		}
	}
	return 0, false
}

// withoutSecrets hides the values of arguments that are named like secrets.
func withoutSecrets(argv []string) []string {
	argv = slices.Clone(argv)
	for i, word := range argv {
		name, _, joined := strings.Cut(word, "=")
		if !strings.HasPrefix(word, "-") || !secrets.IsName(name) {
			continue
		}
		switch {
		case joined:
			argv[i] = name + "=***"
		case i+1 < len(argv):
			for k := i + 1; k < len(argv) && !strings.HasPrefix(argv[k], "-"); k++ {
				argv[k] = "***" // vLLM takes several keys
			}
		}
	}

	return argv
}
