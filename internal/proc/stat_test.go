package proc

import (
	"os"
	"strings"
	"testing"
	"time"
)

func TestParseStat(t *testing.T) {
	t.Parallel()
	const tail = "1 42 42 0 -1 4194560 10 20 0 0 7 5 30 40 20 0 3 0 66689 3133440 386\n"
	for _, c := range []struct {
		name, text string
		want       Process
		zombie     bool
	}{
		{
			"plain", "42 (vllm) S " + tail,
			Process{
				PID: 42, PPID: 1, Session: 42, State: 'S', StartTime: 66689,
				CPU: 120 * time.Millisecond, Threads: 3,
			},
			false,
		},
		{
			"name with parentheses and spaces", "42 (a) R 1 (b\n) Z " + strings.Replace(tail, " 3 0 66689",
				" 1 0 66689", 1),
			Process{
				PID: 42, PPID: 1, Session: 42, State: 'Z', StartTime: 66689,
				CPU: 120 * time.Millisecond, Threads: 1,
			},
			true,
		},
		{
			"only the main thread has ended", "42 (x) Z " + tail,
			Process{
				PID: 42, PPID: 1, Session: 42, State: 'Z', StartTime: 66689,
				CPU: 120 * time.Millisecond, Threads: 3,
			},
			false,
		},
	} {
		got, err := parseStat([]byte(c.text))
		if err != nil || got != c.want {
			t.Errorf("%s: parseStat(%q) = %+v, %v, want %+v", c.name, c.text, got, err, c.want)
		}
		if got.Zombie() != c.zombie {
			t.Errorf("%s: Zombie() = %v, want %v", c.name, got.Zombie(), c.zombie)
		}
	}
	for _, bad := range []string{"", "42", "42 (x", "42 (x) S 1 2", "x (x) S " + tail, "42 (x) S a" + tail} {
		if got, err := parseStat([]byte(bad)); err == nil {
			t.Errorf("parseStat(%q) = %+v, want an error", bad, got)
		}
	}
}

func FuzzParseStat(f *testing.F) {
	own, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(own)
	f.Add([]byte("1 () S"))
	f.Fuzz(func(t *testing.T, text []byte) {
		p, err := parseStat(text)
		if err == nil && p.State == 0 {
			t.Errorf("parseStat(%q) = %+v without a state and without an error", text, p)
		}
	})
}
