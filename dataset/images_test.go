package dataset

import (
	"bytes"
	"encoding/base64"
	"image"
	"strings"
	"testing"

	"github.com/benchrig/bench/dataset/prng"
)

func TestImages(t *testing.T) {
	for _, c := range []struct {
		format string
		images *Images
	}{
		{"png", &Images{
			PerRequest: 3, Sizes: []ImageSize{{Width: 5, Height: 7, Weight: 9}, {Width: 8, Height: 2}},
			Format: "png",
		}},
		{"jpeg", &Images{PerRequest: 2, Sizes: []ImageSize{{Width: 5, Height: 7}, {Width: 8, Height: 2}}, Quality: 90}},
	} {
		for _, tok := range []Tokenizer{nil, numbered{}} {
			set := build(t, Spec{Kind: "random_mm", N: 40, InputLen: 5, OutputLen: 2, Images: c.images}, tok)
			sizes := map[image.Point]int{}
			for i, p := range set.Prompts {
				if len(p.Images) != c.images.PerRequest {
					t.Fatalf("prompt %d has %d images, want %d", i, len(p.Images), c.images.PerRequest)
				}
				for _, url := range p.Images {
					sizes[decodeURL(t, url, c.format).Bounds().Size()]++
				}
			}
			if len(sizes) != 2 || c.format == "png" && sizes[image.Pt(5, 7)] < sizes[image.Pt(8, 2)] {
				t.Errorf("%s: sizes %v, want both, the heavier one more often", c.format, sizes)
			}
		}
	}
}

func decodeURL(t *testing.T, url, format string) image.Image {
	t.Helper()
	data, ok := strings.CutPrefix(url, "data:image/"+format+";base64,")
	if !ok {
		t.Fatalf("%.40q is no %s", url, format)
	}
	raw, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		t.Fatal(err)
	}
	picture, name, err := image.Decode(bytes.NewReader(raw))
	if err != nil || name != format {
		t.Fatalf("decode: %s, %v", name, err)
	}
	return picture
}

// The pixels are the bytes that follow in the stream, in rows of red, green, blue.
func TestPixelsAreDrawn(t *testing.T) {
	spec := Spec{
		Kind: "random_mm", N: 1, InputLen: 5, OutputLen: 2,
		Images: &Images{Sizes: []ImageSize{{Width: 3, Height: 2}}, Format: "png"},
	}
	picture := decodeURL(t, build(t, spec, numbered{}).Prompts[0].Images[0], "png")
	rng := prng.NewPCG64(0)
	rng.Integers(0, 32000, 1) // the offset
	rng.Float64()             // the size
	want := rng.Bytes(18)
	for i := range 6 {
		r, g, b, _ := picture.At(i%3, i/3).RGBA()
		if got := [3]byte{byte(r), byte(g), byte(b)}; got != [3]byte(want[3*i:3*i+3]) {
			t.Errorf("pixel %d is %v, want %v", i, got, want[3*i:3*i+3])
		}
	}
}

func TestImageErrors(t *testing.T) {
	for want, spec := range map[string]Spec{
		"-1 images":        {Images: &Images{PerRequest: -1}},
		"quality 101":      {Images: &Images{Quality: 101}},
		`format "gif"`:     {Images: &Images{Format: "gif"}},
		"size 0 x 5":       {Images: &Images{Sizes: []ImageSize{{Height: 5}}}},
		"size 99999 x 5":   {Images: &Images{Sizes: []ImageSize{{Width: 99999, Height: 5}}}},
		"weight -1":        {Images: &Images{Sizes: []ImageSize{{Width: 1, Height: 5, Weight: -1}}}},
		"token ids":        {TokenIDs: true},
		"no random images": {Compat: CompatVLLM06},
	} {
		spec.Kind, spec.N, spec.InputLen, spec.OutputLen = "random_mm", 1, 1, 1
		if _, err := Build(t.Context(), spec, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Build(%+v) = %v, want %q", spec, err, want)
		}
	}
}
