package versus

import (
	"slices"
	"testing"

	"github.com/benchrig/bench/results"
)

// A tag that has moved names another image, which is a difference of its own.
func TestImageChange(t *testing.T) {
	t.Parallel()
	server := func(id, digest, version string) results.Server {
		labels := map[string]string{"org.opencontainers.image.version": version}
		return results.Server{Container: &results.ContainerInfo{Image: &results.ImageInfo{
			Name: "org/image:latest", ID: id, Digest: digest, Labels: labels,
		}}}
	}
	const a, b = "sha256:aaaaaaaaaaaaaaaa", "sha256:bbbbbbbbbbbbbbbb"
	for _, c := range []struct {
		name       string
		base, with results.Server
		want       []Change
	}{
		{"the same", server(a, "", "1"), server(a, "", "1"), nil},
		{"another", server(a, "", "1"), server(b, "", "2"), []Change{{"image", "aaaaaaaaaaaa 1", "bbbbbbbbbbbb 2"}}},
		{"by digest", server(a, b, "1"), server(b, a, ""), []Change{{"image", "bbbbbbbbbbbb 1", "aaaaaaaaaaaa"}}},
		{
			"an escape sequence", server(a, "", "\x1b[2J1"), server("", "", ""),
			[]Change{{"image", "aaaaaaaaaaaa 1", ""}},
		},
		{"one not known", server(a, "", "1"), results.Server{Container: &results.ContainerInfo{}}, nil},
		{
			"an image file",
			results.Server{Image: &results.ImageInfo{ID: a}},
			results.Server{Image: &results.ImageInfo{ID: b}},
			[]Change{{"image", "aaaaaaaaaaaa", "bbbbbbbbbbbb"}},
		},
		{"no container", server(a, "", "1"), results.Server{}, nil},
	} {
		if got := imageChange(c.base, c.with); !slices.Equal(got, c.want) {
			t.Errorf("%s: imageChange() = %q, want %q", c.name, got, c.want)
		}
	}
}
