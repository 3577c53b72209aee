package dataset

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"

	"github.com/benchrig/bench/dataset/prng"
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

	p.PerRequest, p.Quality = orElse(p.PerRequest, 1), orElse(p.Quality, standardJPEG)
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
