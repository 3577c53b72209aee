package endpoint

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/benchrig/bench/launchers/recipe"
)

// A question whose answer comes after bench was stopped (SIGSTOP, a laptop that sleeps)
// for longer than the question's limit is answered: the server may have been stopped too.
func TestAnswerAfterAStop(t *testing.T) {
	t.Parallel()
	if url := os.Getenv("ENDPOINT_ASKED"); url != "" {
		if a := newProber(url, recipe.Spec{}).get(t.Context(), "/"); !a.OK() {
			t.Errorf("the answer is %s", a)
		}
		return
	}

	started := make(chan *os.Process, 1)
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		process := <-started
		if err := process.Signal(unix.SIGSTOP); err != nil {
			t.Error(err)
		}
		time.Sleep(probeTime + time.Second)
		if err := process.Signal(unix.SIGCONT); err != nil {
			t.Error(err)
		}
		time.Sleep(time.Second) // after its timers have fired
	}))
	defer server.Close()

	var said bytes.Buffer
	asking := exec.Command(os.Args[0], "-test.run=^TestAnswerAfterAStop$") //nolint:gosec // this program itself
	asking.Env = append(os.Environ(), "ENDPOINT_ASKED="+server.URL)
	asking.Stdout, asking.Stderr = &said, &said
	if err := asking.Start(); err != nil {
		t.Fatal(err)
	}
	started <- asking.Process
	if err := asking.Wait(); err != nil {
		t.Errorf("the program that was stopped: %v: %s", err, &said)
	}
}
