package dataset

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
)

// digest identifies a list of prompts as they will be sent. It is the SHA-256
// of a line "bench prompts 1" and then of one record for each prompt, in order:
//
//	text BYTES OUTPUT_TOKENS\nTEXT\n
//	ids COUNT OUTPUT_TOKENS\nID,ID,...\n
//
// followed by those of these that the prompt has, in this order:
//
//	image BYTES\nURL\n
//	turn BYTES OUTPUT_TOKENS\nTEXT\n
//	at SECONDS\n
//
// with decimal numbers and the text's UTF-8 bytes as they are. Input lengths
// are left out, as they depend on who counts, and so are groups.
func digest(prompts []Prompt) string {
	sum := sha256.New()
	out := bufio.NewWriter(sum)
	fmt.Fprintln(out, "bench prompts 1")
	for _, p := range prompts {
		if p.TokenIDs == nil {
			fmt.Fprintf(out, "text %d %d\n%s\n", len(p.Text), p.OutputTokens, p.Text)
		} else {
			digestIDs(out, p)
		}
		for _, url := range p.Images {
			fmt.Fprintf(out, "image %d\n%s\n", len(url), url)
		}
		for _, t := range p.Turns {
			fmt.Fprintf(out, "turn %d %d\n%s\n", len(t.Text), t.OutputTokens, t.Text)
		}
		if p.At != nil {
			fmt.Fprintf(out, "at %s\n", strconv.FormatFloat(*p.At, 'g', -1, 64))
		}
	}

	_ = out.Flush() // a hash takes everything
	return hex.EncodeToString(sum.Sum(nil))
}

func digestIDs(out *bufio.Writer, p Prompt) {
	fmt.Fprintf(out, "ids %d %d\n", len(p.TokenIDs), p.OutputTokens)
	for i, id := range p.TokenIDs {
		if i > 0 {
			fmt.Fprint(out, ",")
		}
		fmt.Fprintf(out, "%d", id)
	}
	fmt.Fprintln(out)
}
