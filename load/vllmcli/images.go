package vllmcli

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/benchrig/bench/dataset"
)

// images reads what random-mm sends beside the text.
func (d *DatasetFlags) images(s *dataset.Spec) error {
	if d.MMRange != 0 {
		return fmt.Errorf("--random-mm-num-mm-items-range-ratio %v is not supported: every prompt gets the same "+
			"number of images", d.MMRange)
	}

	s.Images = &dataset.Images{PerRequest: d.MMItems}
	if d.MMLimit != "" {
		var limit map[string]int
		if err := json.Unmarshal([]byte(d.MMLimit), &limit); err != nil {
			return fmt.Errorf("--random-mm-limit-mm-per-prompt %q: %w", d.MMLimit, err)
		}
		if most, given := limit["image"]; given {
			s.Images.PerRequest = min(s.Images.PerRequest, most)
		}
	}

	var err error
	s.Images.Sizes, err = buckets(d.MMBuckets)
	return err
}

// bucket is one entry of Python's {(height, width, frames): share}.
var bucket = regexp.MustCompile(`\(\s*(\d+)\s*,\s*(\d+)\s*,\s*(\d+)\s*\)\s*:\s*([0-9.eE+-]+)`)

// buckets reads image sizes; nothing given is vLLM's default.
func buckets(text string) ([]dataset.ImageSize, error) {
	if text == "" {
		text = "{(256, 256, 1): 0.5, (720, 1280, 1): 0.5}"
	}

	found := bucket.FindAllStringSubmatch(text, -1)
	if rest := strings.Trim(bucket.ReplaceAllString(text, ""), "{} ,\n\t"); len(found) == 0 || rest != "" {
		return nil, fmt.Errorf("--random-mm-bucket-config %q: want {(height, width, 1): share, ...}", text)
	}

	var sizes []dataset.ImageSize
	for _, m := range found {
		height, _ := strconv.Atoi(m[1]) // digits
		width, _ := strconv.Atoi(m[2])
		share, err := strconv.ParseFloat(m[4], 64)
		switch {
		case err != nil || share < 0:
			return nil, fmt.Errorf("--random-mm-bucket-config: share %q is not a number of at least 0", m[4])
		case share == 0:
			continue
		case m[3] != "1":
			return nil, fmt.Errorf("--random-mm-bucket-config: %s frames are a video, and only images are sent", m[3])
		}
		sizes = append(sizes, dataset.ImageSize{Width: width, Height: height, Weight: share})
	}

	if len(sizes) == 0 {
		return nil, fmt.Errorf("--random-mm-bucket-config %q leaves no size", text)
	}

	return sizes, nil
}
