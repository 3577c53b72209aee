package fakeengine

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"sync/atomic"
)

// RouterMain plays a router of prefill and decode servers, as vLLM's router does:
// a request goes to a prefill server first, which makes one token of it, and then
// to a decode server, whose answer is the client's. It returns the exit code.
func RouterMain(argv []string) int {
	o := optionsOf(argv[1:])
	router := &router{prefill: addresses(argv, "--prefill"), decode: addresses(argv, "--decode")}
	if len(router.prefill) == 0 || len(router.decode) == 0 {
		fmt.Fprintln(os.Stderr, "router: no --prefill or no --decode")
		return 2
	}

	listener, err := net.Listen("tcp", net.JoinHostPort(o["--host"], o["--port"])) //nolint:noctx // lives as long as the program
	if err != nil {
		fmt.Fprintln(os.Stderr, "router:", err)
		return 1
	}
	fmt.Println("router ready:", len(router.prefill), "prefill,", len(router.decode), "decode")

	stop := termSignal(false)
	go func() { _ = http.Serve(listener, router) }() //nolint:gosec // a test double
	<-stop
	fmt.Println("router stopped")
	return 0
}

// addresses are all values of an option.
func addresses(argv []string, option string) []*url.URL {
	var all []*url.URL
	for i, word := range argv {
		if word != option || i+1 == len(argv) {
			continue
		}
		if u, err := url.Parse(argv[i+1]); err == nil {
			all = append(all, u)
		}
	}
	return all
}

type router struct {
	prefill, decode []*url.URL
	next            atomic.Int64
}

// ServeHTTP implements http.Handler.
func (r *router) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	n := int(r.next.Add(1))
	if request.Method == http.MethodPost {
		body, err := io.ReadAll(request.Body)
		if err != nil {
			return
		}
		if err := r.fill(request, body, n); err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		request.Body = io.NopCloser(bytes.NewReader(body))
	}

	proxy := httputil.NewSingleHostReverseProxy(r.decode[n%len(r.decode)])
	proxy.FlushInterval = -1
	proxy.ServeHTTP(w, request)
}

// fill has a prefill server make one token.
func (r *router) fill(request *http.Request, body []byte, n int) error {
	var fields map[string]any
	if err := json.Unmarshal(body, &fields); err != nil {
		return err
	}
	fields["max_tokens"], fields["stream"] = 1, false
	delete(fields, "stream_options")
	short, err := json.Marshal(fields)
	if err != nil {
		return err
	}

	to := r.prefill[n%len(r.prefill)].String() + request.URL.Path
	ask, err := http.NewRequestWithContext(request.Context(), http.MethodPost, to, bytes.NewReader(short))
	if err != nil {
		return err
	}
	ask.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(ask)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	_, err = io.Copy(io.Discard, answer.Body)
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("prefill: %s", answer.Status)
	}
	return err
}
