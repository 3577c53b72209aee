package suite

import "github.com/benchrig/bench/results"

// Images are the image tokens of a round, estimated: what the server counted
// for its prompts, without their text and the chat template.
type Images struct {
	Size     string // of each image
	Tokens   int64  // of all prompts; with Text and Template, what the server counted
	Text     int64  // tokens of the prompts' text
	Template int64  // tokens that the chat template adds to them; 0 where they cannot be told from the text's
	Requests int    // that were counted: those that succeeded
}

// PerPrompt is the estimate for one prompt.
func (i Images) PerPrompt() float64 { return float64(i.Tokens) / float64(max(1, i.Requests)) }

// Overhead is what a request without an image has shown: the tokens that the
// server counts for a prompt's text, and how many of them the text itself has.
type Overhead struct {
	Server int
	Text   *int // null: nothing counts text here
}

// EstimateImages takes the text off what the server counted; nil where the
// server did not count. Where nothing here counts text, that of the request
// without an image stands for all: they are of one length.
func EstimateImages(size string, records []results.Record, o Overhead) *Images {
	images := Images{Size: size}
	for _, r := range records {
		if r.Failure != nil {
			continue
		}
		if r.InputTokens == nil {
			return nil
		}
		template, text := 0, o.Server
		if r.LocalInputTokens != nil && o.Text != nil {
			template, text = max(0, o.Server-*o.Text), *r.LocalInputTokens
		}
		images.Requests++
		images.Text += int64(text)
		images.Template += int64(template)
		images.Tokens += int64(*r.InputTokens - text - template)
	}

	if images.Requests == 0 {
		return nil
	}

	return &images
}
