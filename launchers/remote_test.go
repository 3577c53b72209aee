package launchers

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/benchrig/bench/launchers/engines"
	"github.com/benchrig/bench/launchers/recipe"
	"github.com/benchrig/bench/load"
	"github.com/benchrig/bench/results"
)

// behind is a server whose API is below a prefix and asks for who is
// there. It keeps the paths that it was asked for in vain.
func behind(t *testing.T, prefix, authorization string) (base string, missed func() []string) {
	t.Helper()
	var mu sync.Mutex
	var wrong []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path, below := strings.CutPrefix(r.URL.Path, prefix)
		switch {
		case r.Header.Get("Authorization") != authorization:
			w.WriteHeader(http.StatusUnauthorized)
		case below && path == "/v1/models":
			_, _ = io.WriteString(w, `{"data":[{"id":"shisa","owned_by":"vllm","max_model_len":4096}]}`)
			return
		case below && (path == "/v1/chat/completions" || path == "/v1/completions"):
			w.Header().Set("Content-Type", "text/event-stream")
			_,
				_ = io.WriteString(w,
				"data: {\"choices\":[{\"delta\":{\"content\":\"Hi\"},\"text\":\"Hi\",\"finish_reason\":\"length\"}],\"usage\":{\"prompt_tokens\":1,\"completion_tokens\":1}}\n\ndata: [DONE]\n\n")
			return
		case !below || strings.HasPrefix(path, "/v1"):
			mu.Lock()
			wrong = append(wrong, r.URL.Path)
			mu.Unlock()
		}
		if w.Header().Get("Content-Type") == "" {
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	t.Cleanup(s.Close)
	return s.URL, func() []string { mu.Lock(); defer mu.Unlock(); return wrong }
}

// A server that somebody else runs is found, asked and driven whatever way its
// address is written.
func TestRemoteServers(t *testing.T) {
	t.Parallel()
	const chat = "/v1/chat/completions"
	for _, c := range []struct {
		name          string
		prefix        string // of the server
		base          string // behind http://host:port
		endpoint      string
		pathPrefix    string
		key           string
		user          string // "name:password@"
		authorization string
	}{
		{name: "plain", endpoint: chat},
		{name: "a slash at the end", base: "/", endpoint: chat},
		{name: "with the API's path", base: "/v1/", endpoint: chat},
		{name: "a prefix in the base URL", prefix: "/shisa-405b-fp16", base: "/shisa-405b-fp16/", endpoint: chat},
		{
			name: "a prefix in the endpoint", prefix: "/shisa-405b-fp16", base: "/",
			endpoint:   "/shisa-405b-fp16" + chat,
			pathPrefix: "/shisa-405b-fp16",
		},
		{name: "a deep prefix in the endpoint", prefix: "/a/b", endpoint: "/a/b" + chat, pathPrefix: "/a/b"},
		{name: "a key", base: "/", endpoint: chat, key: "k-1234567", authorization: "Bearer k-1234567"},
		{name: "a user", endpoint: chat, user: "me:secret-word@", authorization: "Basic bWU6c2VjcmV0LXdvcmQ="},
	} {
		address, missed := behind(t, c.prefix, c.authorization)
		kind, _ := engines.Lookup("external")
		server, err := new(Launcher).Launch(t.Context(), kind, recipe.Spec{
			Launcher: "external", APIKey: c.key, PathPrefix: c.pathPrefix,
			BaseURL: strings.Replace(address, "http://", "http://"+c.user, 1) + c.base,
		})
		if err != nil {
			t.Errorf("%s: Launch: %v", c.name, err)
			continue
		}
		info := server.Info()
		if info.Model != "shisa" || info.Startup == nil || info.Startup.ContextLen == nil ||
			*info.Startup.ContextLen != 4096 {
			t.Errorf("%s: model %q, startup %+v, want shisa and what its list tells", c.name, info.Model, info.Startup)
		}
		if strings.Contains(info.BaseURL, "secret-word") {
			t.Errorf("%s: base URL for readers %q holds the password", c.name, info.BaseURL)
		}
		opts := load.Options{Target: load.Target{
			BaseURLs: []string{server.BaseURL()}, API: "chat", Path: c.endpoint, Model: "shisa",
			Headers: map[string]string{},
		}}
		if c.key != "" {
			opts.Target.Headers["Authorization"] = "Bearer " + c.key
		}
		_, err = load.Run(t.Context(), opts, []load.Prompt{{Text: "Hello", OutputTokens: 1}},
			func(rec results.Record) error {
				if rec.Failure != nil {
					t.Errorf("%s: request: %v", c.name, rec.Failure)
				}
				return nil
			})
		if id, asked := server.Identity(t.Context()); err != nil || asked != nil || !id.Listed || missed() != nil {
			t.Errorf("%s: %v; identity %+v, %v; asked in vain for %q", c.name, err, id, asked, missed())
		}
	}
}
