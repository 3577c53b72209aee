package dataset

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/benchrig/bench/dataset/audio"
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

// audioFolder has n WAV files, the first of 10 ms, each 10 ms longer than the one
// before, and a file of another kind.
func audioFolder(t *testing.T, n int) string {
	t.Helper()
	dir := t.TempDir()
	write := func(name string, data []byte) {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for i := range n {
		write(fmt.Sprintf("%d.WAV", i), audio.Make(prng.NewPCG64(uint64(i)), (i+1)*audio.Rate/100))
	}
	write("notes.txt", []byte("no audio"))
	return dir
}

func TestRandomAudio(t *testing.T) {
	set := build(t, Spec{Kind: "random_audio", N: 50, AudioS: 0.1, RangeRatio: 0.5, OutputLen: 7}, nil)
	shortest, longest := math.Inf(1), 0.0
	for i, p := range set.Prompts {
		seconds, err := audio.Seconds(p.Audio)
		if err != nil || seconds != p.AudioS || p.OutputTokens != 7 {
			t.Errorf("prompt %d plays %v s (%v), says %v s, asks for %d tokens", i, seconds, err, p.AudioS,
				p.OutputTokens)
		}
		shortest, longest = min(shortest, seconds), max(longest, seconds)
	}
	if shortest < 0.05 || shortest > 0.08 || longest > 0.15 || longest < 0.12 {
		t.Errorf("lengths from %v to %v s, want them from 0.05 to 0.15", shortest, longest)
	}

	one := build(t, Spec{Kind: "random_audio", N: 2, AudioS: 0.1}, nil)
	if one.Prompts[0].AudioS != 0.1 || one.Prompts[1].AudioS != 0.1 {
		t.Errorf("lengths %v and %v s, want 0.1", one.Prompts[0].AudioS, one.Prompts[1].AudioS)
	}
}

func TestAudioFiles(t *testing.T) {
	dir := audioFolder(t, 3)
	set := build(t, Spec{Kind: "audio", N: 3, Path: dir}, nil)
	for i, want := range []float64{0.01, 0.02, 0.03} {
		if got := set.Prompts[i].AudioS; got != want {
			t.Errorf("file %d plays %v s, want %v", i, got, want)
		}
	}
	single := build(t, Spec{Kind: "audio", N: 2, Path: filepath.Join(dir, "1.WAV")}, nil)
	if len(single.Prompts) != 2 || single.Prompts[1].AudioS != 0.02 || !noteWith(single, "1 are repeats") {
		t.Errorf("of a single file: %d prompts, notes %q", len(single.Prompts), single.Notes)
	}

	var frozen bytes.Buffer
	if err := Write(&frozen, set, Meta{}); err != nil {
		t.Fatal(err)
	}
	again := build(t, Spec{Kind: "frozen", N: 3, Path: writeFile(t, frozen.String())}, nil)
	if again.SHA256 != set.SHA256 || again.Prompts[2].AudioS != 0.03 {
		t.Errorf("frozen: %s, %v s, want %s, 0.03", again.SHA256, again.Prompts[2].AudioS, set.SHA256)
	}
	other := []Prompt{{Audio: []byte("a")}, {Audio: []byte("b")}}
	if digest(other[:1]) == digest(other[1:]) {
		t.Error("the digest does not tell other audio")
	}
}

func TestRefusedAudio(t *testing.T) {
	dir := audioFolder(t, 1)
	long := filepath.Join(dir, "long.wav")
	if err := os.WriteFile(long, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(long, maxAudioFile+1); err != nil { // a hole, no data
		t.Fatal(err)
	}
	for want, spec := range map[string]Spec{
		"audio length 0 s: want 0.001 to 600 s":   {Kind: "random_audio", N: 1},
		"audio length 601 s":                      {Kind: "random_audio", N: 1, AudioS: 601},
		"more than 1024 MiB in all":               {Kind: "random_audio", N: 100, AudioS: 600},
		"notes.txt: it is not a WAV file":         {Kind: "audio", N: 1, Path: filepath.Join(dir, "notes.txt")},
		"no .wav file in it":                      {Kind: "audio", N: 1, Path: t.TempDir()},
		"nothing is downloaded: give a file":      {Kind: "audio", N: 1, Path: filepath.Join(dir, "none")},
		"long.wav: it has more than the 33554432": {Kind: "audio", N: 1, Path: long},
		"ask for fewer or shorter files":          {Kind: "audio", N: 4_000_000, Path: filepath.Join(dir, "0.WAV")},
	} {
		if _, err := Build(t.Context(), spec, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", spec, err, want)
		}
	}
}
