package endpoint

import (
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/benchrig/bench/launchers/recipe"
)

// A server that sends its clients elsewhere does not make bench connect there.
func TestRedirectsLeadNowhereElse(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	defer other.Close()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/elsewhere":
			http.Redirect(w, r, other.URL+"/v1/models", http.StatusTemporaryRedirect)
		case "/models":
			http.Redirect(w, r, "/models/", http.StatusMovedPermanently)
		}
	}))
	defer server.Close()

	client := newProber(server.URL, recipe.Spec{}).client
	for path, want := range map[string]int{"/elsewhere": http.StatusTemporaryRedirect, "/models": http.StatusOK} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		if answer.StatusCode != want {
			t.Errorf("%s: status %d, want %d", path, answer.StatusCode, want)
		}
	}
	if n := asked.Load(); n != 0 {
		t.Errorf("the other server was asked %d times", n)
	}
}
