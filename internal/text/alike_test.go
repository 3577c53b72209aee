package text

import "testing"

func TestAlike(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want bool
	}{
		{"died after 3.2 s", "died after 17 s", true},
		{"died after 3.2s", "died after 1m20s", true},
		{`log says "ERROR 11-28 20:18:28 [core] fatal"`, `log says "ERROR 11-29 00:00:01 [core] fatal"`, true},
		{"2026-11-28T20:18:28.123Z lost", "2026-11-29T01:02:03.4Z lost", true},
		{"2026-11-28 20:18:28,123 lost", "2026-11-28 20:19:00,001 lost", true},
		{"(EngineCore pid=4711) out of memory", "(EngineCore pid=9) out of memory", true},
		{"process 4711 exited", "process 12 exited", true},
		{"at 0x7f3a2c", "at 0x55ee00", true},
		{"dial 127.0.0.1:8000: refused", "dial 127.0.0.1:40123: refused", true},
		{"see lives/06-tp4/server-0.log", "see lives/12-tp4.2/server-0.log", true},

		{"404 Not Found", "500 Internal Server Error", false},
		{"out of memory: 2.10 GiB", "out of memory: 2.20 GiB", false},
		{"context of 4096 tokens", "context of 8192 tokens", false},
		{"3 of 64 requests failed", "60 of 64 requests failed", false},
		{"exit code 1", "exit code 137", false},
		{"v0.11.0 lacks it", "v0.6.3 lacks it", false},
		{"node 10.0.0.1:8000 is down", "node 10.0.0.2:8000 is down", false},
	} {
		if got := Alike(tt.a, tt.b); got != tt.want {
			t.Errorf("Alike(%q, %q) = %v", tt.a, tt.b, got)
		}
	}
}
