package launchers

import (
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/benchrig/bench/launchers/endpoint"
	"github.com/benchrig/bench/launchers/engines"
	"github.com/benchrig/bench/launchers/ready"
	"github.com/benchrig/bench/launchers/recipe"
	"github.com/benchrig/bench/results"
)

// The token is asked for by the chat path where there is no other.
func TestTokenFallsBackToChat(t *testing.T) {
	t.Parallel()
	remote := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != endpoint.ChatPath {
			http.NotFound(w, r)
			return
		}
		fmt.Fprint(w, `data: {"choices":[{"delta":{"content":"a"}}]}`+"\n\n")
	}))
	defer remote.Close()
	server, err := (&Launcher{}).Launch(t.Context(), engines.Kind{External: true, Command: engines.ExternalCommand},
		recipe.Spec{BaseURL: remote.URL, Model: "m"})
	if err != nil {
		t.Fatalf("Launch() = %v", err)
	}
	if server.Model() != "m" {
		t.Errorf("Model() = %q, want %q", server.Model(), "m")
	}
}

func TestRefusalsAreFinal(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		handler http.HandlerFunc
		want    results.FailureClass
		says    string
	}{
		{"bad request", func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, `{"error":"max_tokens too small"}`, http.StatusBadRequest)
		}, results.FailHTTP, "max_tokens too small"},
		{
			"forbidden", func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusForbidden) },
			results.FailAuth, "api-key:",
		},
		{"no such API", http.NotFound, results.FailHTTP, "404"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			remote := httptest.NewServer(c.handler)
			defer remote.Close()
			_, err := (&Launcher{}).Launch(t.Context(), engines.Kind{External: true, Command: engines.ExternalCommand},
				recipe.Spec{BaseURL: remote.URL})
			if err == nil || asFailure(err).Class != c.want || !strings.Contains(err.Error(), c.says) {
				t.Errorf("Launch() = %v, want class %s saying %q", err, c.want, c.says)
			}
		})
	}
}

func TestCertificateErrorIsFinal(t *testing.T) {
	t.Parallel()
	remote := httptest.NewUnstartedServer(http.NotFoundHandler())
	remote.Config.ErrorLog = log.New(io.Discard, "", 0)
	remote.StartTLS()
	defer remote.Close()
	kind := engines.Kind{External: true, Command: engines.ExternalCommand, API: engines.API{HealthPath: "/health"}}
	_, err := (&Launcher{}).Launch(t.Context(), kind, recipe.Spec{BaseURL: remote.URL})
	if err == nil || asFailure(err).Class != results.FailConnect || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("Launch() = %v, want class %s naming the certificate", err, results.FailConnect)
	}
}

func TestWrongServerHasNoModelList(t *testing.T) {
	t.Parallel()
	remote := httptest.NewServer(http.NotFoundHandler())
	defer remote.Close()
	kind := engines.Kind{Name: "vllm", External: true, Command: engines.ExternalCommand, API: engines.API{ModelsPath: "/v1/models"}}
	_, err := (&Launcher{}).Launch(t.Context(), kind, recipe.Spec{BaseURL: remote.URL})
	if err == nil || asFailure(err).Class != results.FailProtocol || !strings.Contains(err.Error(),
		"not a vllm server") {
		t.Errorf("Launch() = %v, want class %s", err, results.FailProtocol)
	}
}

// TestExternalThatIsNotThere: what is said to run already is not waited for as
// a cold start would be.
func TestExternalThatIsNotThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		_, err := (&Launcher{}).Launch(t.Context(), engines.Kind{External: true, Command: engines.ExternalCommand},
			recipe.Spec{BaseURL: "http://127.0.0.1:1", Model: "m", Ready: recipe.Ready{Timeout: time.Hour}})
		failure, ok := errors.AsType[*results.Failure](err)
		if !ok || failure.Class != results.FailReadyTimeout || !strings.Contains(failure.Message,
			"nothing answers at http://127.0.0.1:1") {
			t.Errorf("failure = %v, want ready-timeout that names the address", err)
		}
		if took := time.Since(began); took > 20*time.Second {
			t.Errorf("gave up after %v, want about %v", took, ready.ExternalPatience)
		}
	})
}
