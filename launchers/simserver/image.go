package simserver

import (
	"encoding/base64"
	"errors"
	"fmt"
	"hash/fnv"
	"image"
	"image/jpeg"
	"image/png"
	"math/rand/v2"
	"net/http"
	"strings"
)

// imagePatch is the side, in pixels, of the square of an image that becomes one
// prompt token, and imageFrame the tokens around them all: those of Qwen2-VL.
const (
	imagePatch = 28
	imageFrame = 2
)

// imageIDs are the prompt tokens that an image takes: as many as its size asks
// for, others for other images, so that a prefix cache tells them apart.
func (p *parser) imageIDs(url string) ([]int32, *apiError) {
	if p.blind {
		return nil, newError(http.StatusInternalServerError, "server_error",
			"image input is not supported - hint: if this is unexpected, you may need to provide the mmproj")
	}

	size, err := imageSize(url)
	if err != nil {
		return nil, badRequest("image_url: %v", err)
	}

	sum := fnv.New64a()
	_, _ = sum.Write([]byte(url)) // never fails
	rng := rand.New(rand.NewPCG(sum.Sum64(), 0))
	ids := make([]int32, imageFrame+patches(size.Width)*patches(size.Height))
	for i := range ids {
		ids[i] = rng.Int32N(int32(p.vocab))
	}

	return ids, nil
}

func patches(pixels int) int { return (pixels + imagePatch - 1) / imagePatch }

// maxImageSide bounds an image, whose header may claim anything.
const maxImageSide = 16384

// imageSize reads the size out of a data URL with a JPEG or PNG file.
func imageSize(url string) (image.Config, error) {
	head, data, ok := strings.Cut(url, ";base64,")
	file := base64.NewDecoder(base64.StdEncoding, strings.NewReader(data))
	decode := jpeg.DecodeConfig
	switch {
	case ok && head == "data:image/png":
		decode = png.DecodeConfig
	case !ok || head != "data:image/jpeg":
		return image.Config{}, errors.New("want data:image/jpeg;base64, or data:image/png;base64, and a file")
	}
	c, err := decode(file)
	if err == nil && (c.Width > maxImageSide || c.Height > maxImageSide) {
		err = fmt.Errorf("%d x %d pixels: want sides of at most %d", c.Width, c.Height, maxImageSide)
	}
	return c, err
}
