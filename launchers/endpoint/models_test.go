package endpoint

import (
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"testing"

	"github.com/benchrig/bench/launchers/engines"
	"github.com/benchrig/bench/launchers/recipe"
)

func TestAttachAsksForModels(t *testing.T) {
	const list = `{"data":[{"id":"first","meta":{"n_vocab":77}},{"id":"second"}]}`
	tests := []struct {
		name   string
		model  string
		status int
		body   string
		want   []string
		served string
		fails  bool
	}{
		{"the first is taken", "", 200, list, []string{"first", "second"}, "first", false},
		{"a named one stays", "second", 200, list, []string{"first", "second"}, "second", false},
		{"no list", "", 404, "not found", nil, "", true},
		{"an empty list", "", 200, `{"data":[]}`, nil, "", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(tt.status)
				_, _ = w.Write([]byte(tt.body))
			}))
			socket := filepath.Join(t.TempDir(), "s")
			listener, err := net.Listen("unix", socket)
			if err != nil {
				t.Fatal(err)
			}
			_ = s.Listener.Close()
			s.Listener = listener
			s.Start()
			defer s.Close()
			kind, _ := engines.Lookup("external")
			server := New(kind, recipe.Spec{
				Launcher: "external", BaseURL: "http://localhost/v1", UnixSocket: socket,
				Model: tt.model,
			})
			got, err := server.Models(t.Context())
			if (err != nil) != tt.fails || !slices.Equal(got, tt.want) || server.Model() != tt.served {
				t.Errorf("Models() = %q, %v and model %q, want %q and %q", got, err, server.Model(), tt.want, tt.served)
			}
		})
	}
}
