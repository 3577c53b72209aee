package container

import (
	"testing"

	"github.com/benchrig/bench/results"
)

// A label alone does not make a container ours: an image that somebody made of one
// of our containers has its labels.
func TestNamed(t *testing.T) {
	t.Parallel()
	job := Job{Cookie: "0123456789abcdef.LIFE", Life: "01-a"}
	label := labelCookie + "=" + job.Cookie
	for _, c := range []struct {
		info results.ContainerInfo
		want bool
	}{
		{results.ContainerInfo{Name: name(job), Label: label}, true},
		{results.ContainerInfo{Name: "colleague", Label: label}, false},
		{results.ContainerInfo{Name: "bench-other-01-a-0", Label: label}, false},
		{results.ContainerInfo{Name: name(job), Label: "other=" + job.Cookie}, false},
		{results.ContainerInfo{Name: name(job)}, false},
	} {
		if got := named(c.info); got != c.want {
			t.Errorf("named(%+v) = %t, want %t", c.info, got, c.want)
		}
	}
}
