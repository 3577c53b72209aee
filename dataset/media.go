package dataset

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/benchrig/bench/dataset/audio"
	"github.com/benchrig/bench/dataset/prng"
	"github.com/benchrig/bench/dataset/table"
	"github.com/benchrig/bench/internal/userfile"
)

// Limits of made images: a side, those of one prompt, all data of a set.
const (
	maxSide       = 8192
	maxImages     = 255
	maxImageBytes = 2 << 30
	standardJPEG  = 75 // quality
)

// buildRandomMM makes random text with images of random pixels. Sizes and pixels
// are drawn as vLLM's random-mm does; its JPEG files have other bytes, as
// another encoder writes them.
func buildRandomMM(ctx context.Context, spec Spec, tok Tokenizer) (*Set, error) {
	if err := spec.checkLengths(); err != nil {
		return nil, err
	}

	switch {
	case spec.TokenIDs:
		return nil, errors.New("token ids: images are sent with text only")
	case spec.legacy():
		return nil, fmt.Errorf("compat %q: that version had no random images; use %q", spec.Compat, CompatVLLM)
	}

	p, err := newPainter(spec.Images)
	if err != nil {
		return nil, err
	}

	add := func(prompt *Prompt, rng *prng.PCG64) error {
		var err error
		prompt.Images, err = p.images(rng)
		return errors.Join(err, ctx.Err())
	}

	if spec.canDecode(tok) {
		return buildRandomText(ctx, spec, tok, add)
	}

	set, err := buildRandomWords(ctx, spec, tok)
	if err != nil {
		return nil, err
	}

	rng := prng.NewPCG64(spec.Seed)
	for i := range set.Prompts {
		if err := add(&set.Prompts[i], rng); err != nil {
			return nil, fmt.Errorf("prompt %d: %w", i+1, err)
		}
	}

	return set, nil
}

// painter makes images.
type painter struct {
	Images

	until []float64 // of a draw from 0 to 1, for each size
	bytes int       // written so far
}

func newPainter(asked *Images) (*painter, error) {
	p := &painter{}
	if asked != nil {
		p.Images = *asked
	}

	p.PerRequest, p.Quality = cmp.Or(p.PerRequest, 1), cmp.Or(p.Quality, standardJPEG)
	if p.Format == "" {
		p.Format = "jpeg"
	}
	if len(p.Sizes) == 0 {
		p.Sizes = []ImageSize{{Width: 256, Height: 256}, {Width: 1280, Height: 720}}
	}

	switch {
	case p.PerRequest < 0 || p.PerRequest > maxImages:
		return nil, fmt.Errorf("%d images a request: want 1 to %d", p.PerRequest, maxImages)
	case p.Quality < 1 || p.Quality > 100:
		return nil, fmt.Errorf("image quality %d: want 1 to 100", p.Quality)
	case p.Format != "jpeg" && p.Format != "png":
		return nil, fmt.Errorf("image format %q: want jpeg or png", p.Format)
	}

	return p, p.weigh()
}

// weigh checks the sizes and sums up their weights.
func (p *painter) weigh() error {
	sum := 0.0
	for _, s := range p.Sizes {
		if s.Width < 1 || s.Width > maxSide || s.Height < 1 || s.Height > maxSide {
			return fmt.Errorf("image size %d x %d: want sides of 1 to %d pixels", s.Width, s.Height, maxSide)
		}
		weight := s.Weight
		if weight == 0 {
			weight = 1
		}
		if !(weight > 0 && weight < 1e9) {
			return fmt.Errorf("image weight %v: want more than 0", s.Weight)
		}
		sum += weight
		p.until = append(p.until, sum)
	}

	for i := range p.until {
		p.until[i] /= sum
	}

	return nil
}

// images are those of one prompt, as data URLs.
func (p *painter) images(rng *prng.PCG64) ([]string, error) {
	out := make([]string, p.PerRequest)
	for i := range out {
		size, draw := p.Sizes[len(p.Sizes)-1], rng.Float64()
		for k, until := range p.until {
			if draw < until {
				size = p.Sizes[k]
				break
			}
		}
		var err error
		if out[i], err = p.paint(size, rng); err != nil {
			return nil, err
		}
		if p.bytes += len(out[i]); p.bytes > maxImageBytes {
			return nil, fmt.Errorf("images of more than %d MiB in all: ask for fewer or smaller ones",
				maxImageBytes>>20)
		}
	}

	return out, nil
}

func (p *painter) paint(size ImageSize, rng *prng.PCG64) (string, error) {
	picture := image.NewRGBA(image.Rect(0, 0, size.Width, size.Height))
	noise := rng.Bytes(3 * size.Width * size.Height)
	for i := range size.Width * size.Height {
		copy(picture.Pix[4*i:], noise[3*i:3*i+3])
		picture.Pix[4*i+3] = 0xff
	}

	var file bytes.Buffer
	var err error
	if p.Format == "png" {
		err = (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&file, picture)
	} else {
		err = jpeg.Encode(&file, picture, &jpeg.Options{Quality: p.Quality})
	}

	if err != nil {
		return "", fmt.Errorf("encode image: %w", err)
	}

	return "data:image/" + p.Format + ";base64," + base64.StdEncoding.EncodeToString(file.Bytes()), nil
}

// Limits of audio: a made file, a file that is read, all of a set.
const (
	maxAudioFile   = 32 << 20 // bytes; servers take 25 MB
	maxAudioBytes  = 1 << 30
	audioGrain     = audio.Rate / 1000 // samples: lengths are drawn to the millisecond
	errMuchAudio   = "audio of more than %d MiB in all: ask for fewer or shorter files"
	audioExtension = ".wav"
)

// buildRandomAudio makes WAV files of tones and noise, of lengths from l(1-r) to
// l(1+r). All their lengths are drawn before their contents.
func buildRandomAudio(ctx context.Context, spec Spec, _ Tokenizer) (*Set, error) {
	if !(spec.AudioS >= 0.001 && spec.AudioS <= audio.MaxS) {
		return nil, fmt.Errorf("audio length %v s: want 0.001 to %d s", spec.AudioS, audio.MaxS)
	}
	around := func(factor float64) int { return max(1, int(math.Round(1000*spec.AudioS*factor))) }
	rng := prng.NewPCG64(spec.Seed)
	lengths := rng.Integers(around(1-spec.RangeRatio), around(1+spec.RangeRatio)+1, spec.N)

	size := 0
	for _, ms := range lengths {
		if size += audio.Size(ms * audioGrain); size > maxAudioBytes {
			return nil, fmt.Errorf(errMuchAudio, maxAudioBytes>>20)
		}
	}

	set := &Set{Prompts: make([]Prompt, spec.N)}
	for i, ms := range lengths {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		set.Prompts[i] = Prompt{
			Audio: audio.Make(rng, ms*audioGrain), AudioS: float64(ms*audioGrain) / audio.Rate,
			OutputTokens: spec.OutputLen,
		}
	}
	return set, nil
}

// buildAudio reads a WAV file, or those of a folder in the order of their names.
func buildAudio(ctx context.Context, spec Spec, _ Tokenizer) (*Set, error) {
	paths, err := audioFiles(spec.Path)
	if err != nil {
		return nil, err
	}
	if spec.Shuffle {
		shuffle(paths, spec.Seed)
	}

	var kept []Prompt
	size, smallest := 0, maxAudioFile
	for _, path := range paths[:min(len(paths), spec.N)] {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		file, err := userfile.Read(path, maxAudioFile)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", path, table.Cause(err))
		}
		if size += len(file); size > maxAudioBytes {
			return nil, fmt.Errorf(errMuchAudio, maxAudioBytes>>20)
		}
		seconds, err := audio.Seconds(file)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		smallest = min(smallest, len(file))
		kept = append(kept, Prompt{Audio: file, AudioS: seconds, OutputTokens: spec.OutputLen})
	}

	// Millions of repeats are refused before there is memory for them.
	if !spec.NoOversample && spec.N > maxAudioBytes/smallest {
		return nil, fmt.Errorf(errMuchAudio, maxAudioBytes>>20)
	}
	return oversample(kept, spec), nil
}

// audioBytes is the size of all files of a set, those that repeat others included: each
// request has a body of its own.
func (s *Set) audioBytes() int {
	size := 0
	for _, p := range s.Prompts {
		size += len(p.Audio)
	}
	return size
}

// audioFiles are the path itself, or the WAV files right in that folder.
func audioFiles(path string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, table.Cause(err))
	}
	if !info.IsDir() {
		return []string{path}, nil
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, table.Cause(err))
	}

	var paths []string
	for _, e := range entries {
		if !e.IsDir() && strings.EqualFold(filepath.Ext(e.Name()), audioExtension) {
			paths = append(paths, filepath.Join(path, e.Name()))
		}
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("%s: no %s file in it", path, audioExtension)
	}
	return paths, nil
}
