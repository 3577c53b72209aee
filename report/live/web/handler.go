// Package web serves the live view of a run as a web page and as metrics for
// Prometheus.
//
// What goes in: a source of views, requests. What comes out: a page that needs
// nothing else, its changes as server-sent events, metrics in Prometheus' text
// format. It changes nothing, answers nothing but GET and HEAD, and shows
// nobody who was not let in.
package web

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/benchrig/bench/report/live"
)

const (
	period     = time.Second      // between two looks at the run
	writeLimit = 10 * time.Second // for a reader to take what is written
	maxReaders = 32               // of events at once
	cookieName = "bench_token"
)

// Options say what to serve and to whom.
type Options struct {
	View  func() (live.View, error)
	Token string   // "": whoever can connect is let in
	Hosts []string // names and addresses, without port, by which requests may call this server
}

// Handler serves one run.
type Handler struct {
	o       Options
	readers chan struct{}

	mu   sync.Mutex // guards what follows
	view live.View
	err  error
	at   time.Time
}

// newHandler serves what its options say.
func newHandler(o Options) *Handler {
	return &Handler{o: o, readers: make(chan struct{}, maxReaders)}
}

// look is the run as it was at most a period ago, however many ask.
func (h *Handler) look() (live.View, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.at.IsZero() || time.Since(h.at) >= period {
		h.view, h.err = h.o.View()
		h.at = time.Now()
	}
	return h.view, h.err
}

// ServeHTTP answers /, /events and /metrics.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	secure(w.Header())

	switch {
	case !h.knows(r.Host):
		http.Error(w, "unknown host name; use the address that bench watch printed", http.StatusMisdirectedRequest)
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "view only", http.StatusMethodNotAllowed)
	case !h.admits(r):
		w.Header().Set("WWW-Authenticate", `Bearer realm="bench"`)
		http.Error(w, "give the token that bench watch printed: ?token=..., or as a bearer token",
			http.StatusUnauthorized)
	case r.URL.Query().Has("token"):
		h.keepToken(w, r)
	case r.URL.Path == "/":
		h.page(w)
	case r.URL.Path == "/events":
		h.events(w, r)
	case r.URL.Path == "/metrics":
		h.metrics(w)
	default:
		http.Error(w, "there are /, /events and /metrics", http.StatusNotFound)
	}
}

// secure sets what every answer carries.
func secure(header http.Header) {
	for name, value := range map[string]string{
		"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
		"X-Frame-Options":              "DENY",
		"Content-Security-Policy":      "default-src 'none'; frame-ancestors 'none'",
		"Cross-Origin-Resource-Policy": "same-origin",
		"Cross-Origin-Opener-Policy":   "same-origin",
	} {
		header.Set(name, value)
	}
}

// knows refuses names that are not this server's: a page of another site could
// have its own name lead here.
func (h *Handler) knows(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
	return slices.Contains(h.o.Hosts, host)
}

// admits reports whether a request carries the token. How long that takes does
// not depend on how much of it is right.
func (h *Handler) admits(r *http.Request) bool {
	if h.o.Token == "" {
		return true
	}
	given := r.URL.Query().Get("token")
	if bearer, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
		given = bearer
	}
	if cookie, err := r.Cookie(cookieName); err == nil && given == "" {
		given = cookie.Value
	}
	a, b := sha256.Sum256([]byte(given)), sha256.Sum256([]byte(h.o.Token))
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1
}

// keepToken takes the token out of the address, where it would be seen and
// stored, into a cookie.
func (h *Handler) keepToken(w http.ResponseWriter, r *http.Request) {
	if h.o.Token != "" {
		http.SetCookie(w, &http.Cookie{
			Name: cookieName, Value: h.o.Token, Path: "/", HttpOnly: true,
			SameSite: http.SameSiteStrictMode,
		})
	}
	path := "/"
	if slices.Contains([]string{"/events", "/metrics"}, r.URL.Path) {
		path = r.URL.Path
	}
	http.Redirect(w, r, path, http.StatusSeeOther)
}

func (h *Handler) page(w http.ResponseWriter) {
	view, err := h.look()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}

	nonce := rand.Text()
	var out bytes.Buffer
	if err := pageOf(view, nonce).html().Render(&out); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}

	w.Header().Set("Content-Security-Policy", fmt.Sprintf(
		"default-src 'none'; script-src 'nonce-%s'; style-src 'nonce-%s'; connect-src 'self'; base-uri 'none'; "+
			"form-action 'none'; frame-ancestors 'none'", nonce, nonce))
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write(out.Bytes()) // the reader has gone
}

// events sends what changes until the reader goes, or the run has ended.
func (h *Handler) events(w http.ResponseWriter, r *http.Request) {
	select {
	case h.readers <- struct{}{}:
		defer func() { <-h.readers }()
	default:
		http.Error(w, "too many pages are open", http.StatusServiceUnavailable)
		return
	}

	w.Header().Set("Content-Type", "text/event-stream")
	out := http.NewResponseController(w)
	tick := time.NewTicker(period)
	defer tick.Stop()

	for {
		text, over, err := h.event()
		if err == nil {
			_ = out.SetWriteDeadline(time.Now().Add(writeLimit)) // not in tests of the handler alone
			if _, err = w.Write(text); err == nil {
				err = out.Flush()
			}
		}
		if err != nil || over || r.Method == http.MethodHead {
			return
		}
		select {
		case <-r.Context().Done():
			return
		case <-tick.C:
		}
	}
}

// event is the page's body as one event, and whether nothing will follow.
func (h *Handler) event() (text []byte, over bool, err error) {
	view, err := h.look()
	if err != nil {
		return nil, false, err
	}

	var body bytes.Buffer
	if err := pageOf(view, "").body().Render(&body); err != nil {
		return nil, false, err
	}

	quoted, err := json.Marshal(body.String())
	if err != nil {
		return nil, false, err
	}

	over = view.State == live.RunEnded || view.State == live.RunStopped
	name := "view"
	if over {
		name = "end"
	}

	return fmt.Appendf(nil, "event: %s\ndata: %s\n\n", name, quoted), over, nil
}
