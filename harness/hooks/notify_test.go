package hooks

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrig/bench/scenarios"
)

func ended() Message {
	return Message{
		Event: NotifyEnd, Scenario: "night", Run: "r1", Host: "box7", Folder: "/r/night/r1",
		OK: 10, Suspect: 1, Failed: 2, NotRun: 3, Planned: 16, TookS: 3723.5,
		Best: []string{"tp8: up to 2023.1 output tok/s (c32)"}, Causes: []string{
			"3 steps: deadline: no time",
			"2 steps: stall-timeout: no token",
		},
	}
}

func TestNotifyWebhook(t *testing.T) {
	type request struct{ Title, Priority, Type, Body string }
	var mu sync.Mutex
	var got []request // guarded by mu
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) {
		body, _ := io.ReadAll(req.Body)
		mu.Lock()
		defer mu.Unlock()
		got = append(got, request{
			req.Header.Get("Title"), req.Header.Get("Priority"), req.Header.Get("Content-Type"),
			string(body),
		})
	}))
	defer server.Close()
	const text = "10 ok, 1 suspect, 2 failed, 3 not run of 16 steps\ntp8: up to 2023.1 output tok/s (c32)\n" +
		"3 steps: deadline: no time\n2 steps: stall-timeout: no token\nafter 1h2m3s on box7: /r/night/r1"
	for _, tc := range []struct {
		format string
		want   request
	}{
		{"ntfy", request{"bench night: finished with 2 failed, 3 not run (deadline)", "high", "", text}},
		{"slack", request{
			"", "", "application/json",
			`{"text":"*bench night: finished with 2 failed, 3 not run (deadline)*\n` + strings.ReplaceAll(text, "\n",
				`\n`) + `"}`,
		}},
	} {
		got = nil
		record := newRunner(t).Notify(t.Context(), scenarios.Notify{
			Webhook: scenarios.EnvValue{Value: server.URL},
			Format:  tc.format,
		}, ended())
		if !record.OK || record.When != "notify" || record.Level != "run" || strings.Contains(record.Name, "127") {
			t.Errorf("Notify(%s) = %+v, want ok", tc.format, record)
		}
		if diff := cmp.Diff([]request{tc.want}, got); diff != "" {
			t.Errorf("Notify(%s) sent (-want +got):\n%s", tc.format, diff)
		}
	}
	got = nil
	newRunner(t).Notify(t.Context(), scenarios.Notify{Webhook: scenarios.EnvValue{Value: server.URL}, Format: "json"},
		ended())
	var body Message
	if len(got) != 1 || json.Unmarshal([]byte(got[0].Body), &body) != nil {
		t.Fatalf("Notify(json) sent %+v, want one JSON body", got)
	}
	want := ended()
	want.Title, want.Text = "bench night: finished with 2 failed, 3 not run (deadline)", text
	if diff := cmp.Diff(want, body); diff != "" {
		t.Errorf("Notify(json) (-want +got):\n%s", diff)
	}
}

// The body of a webhook is what others build on: docs/hooks.md names
// every field.
func TestBodyIsDocumented(t *testing.T) {
	text, err := os.ReadFile("../../docs/hooks.md")
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(ended())
	if err != nil {
		t.Fatal(err)
	}
	fields := map[string]any{}
	if err := json.Unmarshal(data, &fields); err != nil {
		t.Fatal(err)
	}
	for name := range fields {
		if !strings.Contains(string(text), "`"+name+"`") {
			t.Errorf("docs/hooks.md does not name `%s`", name)
		}
	}
}

func TestTitles(t *testing.T) {
	for _, tc := range []struct {
		change func(*Message)
		want   string
		bad    bool
	}{
		{func(m *Message) { m.Failed, m.NotRun = 0, 0 }, "bench night: finished", false},
		{func(m *Message) { m.NotRun = 0 }, "bench night: finished with 2 failed, 0 not run (deadline)", true},
		{func(m *Message) { m.Reason = "stopped by SIGINT" }, "bench night: ended early", true},
		{
			func(m *Message) { m.Reason = "deadline: the time until 07:30 passed" },
			"bench night: ended early (deadline)", true,
		},
		{
			func(m *Message) {
				m.Event, m.Step, m.Reason = NotifyFirstFailure, "tp8_c1_r1", "out-of-memory: 2 GiB"
			},
			"bench night: step tp8_c1_r1 failed (out-of-memory)", true,
		},
	} {
		m := ended()
		tc.change(&m)
		m = newRunner(t).complete(m)
		if m.Title != tc.want || m.bad() != tc.bad {
			t.Errorf("title = %q, bad %t, want %q, %t", m.Title, m.bad(), tc.want, tc.bad)
		}
		if m.Reason != "" && !strings.Contains(m.Text, m.Reason) {
			t.Errorf("text = %q, want %q in it", m.Text, m.Reason)
		}
	}
}

func TestNotifyCommandAfterTheEnd(t *testing.T) {
	r := newRunner(t)
	r.Redact = func(s string) string { return strings.ReplaceAll(s, "hunter22", "***") }
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	m := ended()
	m.Reason = "server says hunter22"
	record := r.Notify(ctx, scenarios.Notify{Command: []string{
		"/bin/sh", "-c",
		`cat > message; echo "$BENCH_EVENT" >> message; exit 4`,
	}}, m)
	if record.OK || !strings.Contains(record.Message, "exit status 4") {
		t.Errorf("Notify(command that fails) = %+v, want its failure", record)
	}
	text, err := os.ReadFile(filepath.Join(r.Dir, "message"))
	if err != nil {
		t.Fatal(err)
	}
	want := "bench night: ended early\n\n10 ok, 1 suspect, 2 failed, 3 not run of 16 steps\n" +
		"tp8: up to 2023.1 output tok/s (c32)\n3 steps: deadline: no time\n2 steps: stall-timeout: no token\n" +
		"server says ***\nafter 1h2m3s on box7: /r/night/r1\nend\n"
	if diff := cmp.Diff(want, string(text)); diff != "" {
		t.Errorf("stdin of the command (-want +got):\n%s", diff)
	}
}
