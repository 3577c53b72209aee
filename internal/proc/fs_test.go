package proc

import "testing"

func TestUnifiedPath(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"0::/user.slice/a.scope\n":           "/user.slice/a.scope",
		"9:name=systemd:/x\n1:cpu:/\n0::/\n": "/",
		"1:cpu:/\n":                          "",
		"0::/bench-x (deleted)\n":            "/bench-x",
		"":                                   "",
	} {
		if got := unifiedPath(text); got != want {
			t.Errorf("unifiedPath(%q) = %q, want %q", text, got, want)
		}
	}
}

func FuzzParseMounts(f *testing.F) {
	f.Add("36 31 0:31 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n")
	f.Add("a b\n - cgroup2\n")

	f.Fuzz(func(t *testing.T, table string) {
		for _, m := range parseMounts(table) {
			if m.Kind == "" {
				t.Errorf("parseMounts(%q) = %+v without a kind", table, m)
			}
		}
	})
}
