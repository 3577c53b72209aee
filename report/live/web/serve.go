package web

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/benchrig/bench/internal/usage"
	"github.com/benchrig/bench/report/live"
)

// Limits of the page's server.
const (
	headerLimit = 5 * time.Second
	answerLimit = 15 * time.Second // of one answer, or of one event
	idleLimit   = time.Minute
	headerBytes = 16 << 10
	leastToken  = 16 // characters of a token that is given
)

// newToken asks for a token that is made.
const newToken = "new"

// Serve serves the view of a run at an address until ctx ends, and writes its
// URL on w. token is the access token; "new" makes one.
func Serve(ctx context.Context, w io.Writer, address, token string, follower *live.Follower) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return usage.Errorf("--http %q: want ADDRESS:PORT, such as 127.0.0.1:8090: %w", address, err)
	}
	if token, err = tokenFor(host, token); err != nil {
		return usage.Mark(err)
	}

	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("serve the view: %w", err)
	}

	server := &http.Server{
		Handler:           newHandler(Options{View: follower.View, Token: token, Hosts: hostsOf(host)}),
		ReadHeaderTimeout: headerLimit, ReadTimeout: answerLimit, WriteTimeout: answerLimit, IdleTimeout: idleLimit,
		MaxHeaderBytes: headerBytes,
		BaseContext:    func(net.Listener) context.Context { return ctx },
	}

	url := "http://" + listener.Addr().String() + "/"
	if token != "" {
		url += "?token=" + token
	}

	fmt.Fprintf(w, "watching %s at %s (metrics: /metrics); Ctrl-C stops the page, not the run\n",
		follower.Folder().Dir(), url)
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	select {
	case err := <-failed:
		return fmt.Errorf("serve the view: %w", err)
	case <-ctx.Done():
	}

	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), headerLimit)
	defer cancel()

	if err := server.Shutdown(ending); err != nil {
		err = errors.Join(err, server.Close())
		return fmt.Errorf("end the page: %w", err)
	}
	if err := <-failed; !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve the view: %w", err)
	}

	return nil
}

// tokenFor is the token of a server at host; "": whoever can reach it is let in.
func tokenFor(host, given string) (string, error) {
	switch {
	case given == newToken:
		return rand.Text(), nil
	case given != "" && len(given) < leastToken:
		return "", fmt.Errorf("--token: %d characters are too few, use %d or more, or \"new\"", len(given), leastToken)
	case given != "" && strings.ContainsFunc(given,
		func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune(`%&+#;,"\`, r) }):
		return "", errors.New("--token: use letters, digits, - and _")
	case given != "" || isLoopback(host):
		return given, nil
	}
	return "", fmt.Errorf("%q can be reached from other machines, which could see the run: add --token new, or "+
		"--token with one of your "+
		"own", host)
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// hostsOf are the names by which a server that listens at host may be called.
func hostsOf(host string) []string {
	if isLoopback(host) {
		return []string{"localhost", "127.0.0.1", "::1", strings.ToLower(host)}
	}
	hosts := []string{"localhost", strings.ToLower(host)}
	if name, err := os.Hostname(); err == nil {
		hosts = append(hosts, strings.ToLower(name))
	}
	addresses, _ := net.InterfaceAddrs() // without them: the given name alone
	for _, a := range addresses {
		if network, ok := a.(*net.IPNet); ok {
			hosts = append(hosts, network.IP.String())
		}
	}
	return hosts
}
