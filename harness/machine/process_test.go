package machine

import "testing"

func TestStateRoot(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		env  map[string]string
		want string
	}{
		{map[string]string{"BENCH_STATE_DIR": "/a", "XDG_STATE_HOME": "/b", "HOME": "/c"}, "/a"},
		{map[string]string{"XDG_STATE_HOME": "/b", "HOME": "/c"}, "/b/bench"},
		{map[string]string{"XDG_STATE_HOME": "relative", "HOME": "/c"}, "/c/.local/state/bench"},
		{nil, ""},
	} {
		got, err := Process{Lookup: func(name string) (string, bool) { v, ok := c.env[name]; return v, ok }}.stateRoot()
		if got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("stateRoot() of %v = %q, %v, want %q", c.env, got, err, c.want)
		}
	}
}
