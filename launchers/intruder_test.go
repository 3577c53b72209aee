package launchers

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/benchrig/bench/internal/fakecontainer"
	"github.com/benchrig/bench/internal/fakeengine"
	"github.com/benchrig/bench/launchers/ready"
	"github.com/benchrig/bench/results"
)

// With SO_REUSEPORT, or where our server listens elsewhere, a stranger can
// answer on the port: measuring it would be the worst of mistakes.
func TestForeignListener(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		container bool
		stranger  fakeengine.Config
	}{
		{false, fakeengine.Config{Model: "tiny"}},
		{true, fakeengine.Config{Model: "tiny"}},
		{false, fakeengine.Config{Model: "other"}}, // not wrong-model, which would not lead to another port
		{false, fakeengine.Config{Model: "tiny", Key: "another's"}},
	} {
		b := prepare(t, vllm(t), fakeengine.Config{Silent: true})
		if c.container {
			contain(t, b, "docker", fakecontainer.Config{})
		}
		c.stranger.Paths = fakeengine.VLLM()
		b.refuseStranger(t, c.stranger)
	}
}

// refuseStranger lets somebody else listen on the port after the spawn.
func (b *bench) refuseStranger(t *testing.T, config fakeengine.Config) {
	t.Helper()
	stranger := &http.Server{Handler: fakeengine.Handler(config)}
	served := make(chan struct{})
	b.Journal = func(e results.Event) error {
		if e.Kind == results.LifeSpawned { // the port was checked before
			socket, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", b.spec.Port))
			if err != nil {
				return err
			}
			go func() { defer close(served); _ = stranger.Serve(socket) }()
		}
		return b.journal.write(e)
	}
	failure := b.refuse(t, results.FailForeign)
	_ = stranger.Close()
	<-served
	if who := fmt.Sprintf("pid %d", os.Getpid()); !strings.Contains(failure.Message, who) {
		t.Errorf("failure = %q, want it to name %q", failure.Message, who)
	}
	b.story(t, storyBad)
}

// Who shares the port of a server that is ready gets a part of its requests.
func TestIntruder(t *testing.T) {
	t.Parallel()
	b := prepare(t, vllm(t), fakeengine.Config{Shared: true})
	server := b.launch(t)
	if failure := server.Intruder(t.Context()); failure != nil {
		t.Errorf("Intruder() = %v, want none", failure)
	}
	other := rawSocket(t, b.spec.Port, unix.SO_REUSEPORT)
	if failure := server.Intruder(t.Context()); failure != nil {
		t.Errorf("Intruder() beside a socket that does not listen = %v, want none", failure)
	}
	if err := unix.Listen(other, 1); err != nil {
		t.Fatal(err)
	}
	failure := server.Intruder(t.Context())
	if who := fmt.Sprintf("pid %d", os.Getpid()); failure == nil || failure.Class != results.FailForeign ||
		!strings.Contains(failure.Message, who) {
		t.Errorf("Intruder() = %v, want class %s and %q", failure, results.FailForeign, who)
	}
	wrong := ready.Step{Final: results.Failf(results.FailWrongModel, "another model")}
	for _, answer := range []ready.Step{{Done: true}, wrong} { // which may be the other's
		try := func(context.Context) ready.Step { return answer }
		stages := server.unlessIntruder([]ready.Stage{{Name: ownerStage}, {Try: try}})
		if got := stages[1].Try(t.Context()); got.Final == nil || got.Final.Class != results.FailForeign {
			t.Errorf("a stage with %+v beside another listener = %+v, want class %s", answer, got, results.FailForeign)
		}
	}
	_ = unix.Close(other)
}

// A stranger who has taken the port meanwhile is no remains of the server.
func TestPortTakenBeforeTheProof(t *testing.T) {
	t.Parallel()
	b := prepare(t, vllm(t), fakeengine.Config{Shared: true})
	server := b.launch(t)
	stranger := rawSocket(t, b.spec.Port, unix.SO_REUSEPORT)
	if err := unix.Listen(stranger, 1); err != nil {
		t.Fatal(err)
	}

	proof, err := server.Stop(t.Context())
	if err != nil || !proof.Clean() {
		t.Errorf("Stop() = %+v, %v, want a clean proof", proof, err)
	}
}

// rawSocket makes a TCP socket that is bound to the port, with options.
func rawSocket(t *testing.T, port int, options ...int) int {
	t.Helper()
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Close(fd) })
	for _, option := range options {
		if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, option, 1); err != nil {
			t.Fatal(err)
		}
	}
	if err := unix.Bind(fd, &unix.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	return fd
}
