package container

import (
	"slices"
	"strings"
	"testing"
)

// The device files of AMD's GPUs are open to groups, which are named in ways that
// differ by engine.
func TestGroups(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		engine string
		host   Host
		want   string
	}{
		{docker, Host{}, "--group-add video"},
		{docker, Host{RenderGroup: 109}, "--group-add video --group-add 109"},
		{docker, Host{Rootless: true, RenderGroup: 109}, "--group-add video --group-add 109"},
		{podman, Host{RenderGroup: 109}, "--group-add video --group-add 109"},
		{podman, Host{Rootless: true, RenderGroup: 109}, "--group-add keep-groups"},
	} {
		if got := strings.Join(c.host.groups(c.engine), " "); got != c.want {
			t.Errorf("groups(%s) of %+v = %q, want %q", c.engine, c.host, got, c.want)
		}
	}
}

// A client writes in pieces, and nothing bounds its lines.
func TestLines(t *testing.T) {
	t.Parallel()
	var told []string
	l := &lines{tell: func(line string) { told = append(told, line) }}
	for _, piece := range []string{"on", "e\ntwo\n\n", strings.Repeat("x", 10000), strings.Repeat("x", 10000) +
		"\n", "rest"} {
		if n, err := l.Write([]byte(piece)); n != len(piece) || err != nil {
			t.Errorf("Write(%d bytes) = %d, %v", len(piece), n, err)
		}
	}
	if want := []string{"one", "two", strings.Repeat("x", 4096)}; !slices.Equal(told, want) {
		t.Errorf("told %d lines %.10q, want %.10q", len(told), told, want)
	}
}
