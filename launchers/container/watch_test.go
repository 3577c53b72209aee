package container

import "testing"

func TestPublishes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		want bool
	}{
		{"8000/tcp -> 127.0.0.1:8000", true},
		{"8000/tcp -> 0.0.0.0:9000\n8000/tcp -> [::]:8000\n", true},
		{"8000/tcp -> 127.0.0.1:80", false},
		{"", false},
		{"nonsense", false},
	} {
		if got := publishes(c.text, 8000); got != c.want {
			t.Errorf("publishes(%q, 8000) = %v, want %v", c.text, got, c.want)
		}
	}
}
