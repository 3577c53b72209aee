package tokenizer

import (
	"encoding/json"
	"fmt"
)

// maxGrowth is how many times longer the Replace rules of a file may make a text
// in all. Real ones put three bytes in the place of a blank.
const maxGrowth = 64

// prependFree is how many bytes a rule may prepend to each text as if they were none.
const prependFree = 1 << 10

// checkGrowth refuses a normalizer or decoder whose Replace rules multiply a text:
// a file of a few lines could ask for any amount of memory.
func checkGrowth(raw json.RawMessage) error {
	if growth := growthOf(raw, 0); growth > maxGrowth {
		return fmt.Errorf("its Replace rules make a text up to %.3g times longer; %d times is the limit", growth,
			maxGrowth)
	}
	return nil
}

// growthOf is the factor by which the Replace rules in raw may lengthen a text, one
// after the other. What it cannot read, others refuse.
func growthOf(raw json.RawMessage, depth int) float64 {
	var f struct {
		Type    string `json:"type"`
		Content string `json:"content"`
		Prepend string `json:"prepend"`
		Pattern struct {
			String string `json:"String"`
		} `json:"pattern"`
		Normalizers []json.RawMessage `json:"normalizers"`
		Decoders    []json.RawMessage `json:"decoders"`
	}
	if depth > maxDepth || json.Unmarshal(raw, &f) != nil {
		return 1
	}

	growth := 1 + float64(len(f.Prepend)/prependFree)
	if f.Type == "Replace" {
		growth = max(1, float64(len(f.Content))/float64(max(1, len(f.Pattern.String))))
		if f.Pattern.String == "" { // a Regex may match nothing, between any two characters
			growth = float64(len(f.Content)) + 1
		}
	}
	for _, part := range append(f.Normalizers, f.Decoders...) {
		growth *= growthOf(part, depth+1)
	}

	return growth
}
