package dataset

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// digest identifies a list of prompts as they will be sent. It is the SHA-256
// of a line "bench prompts 1" and then of one record for each prompt, in order:
//
//	text BYTES OUTPUT_TOKENS\nTEXT\n
//	ids COUNT OUTPUT_TOKENS\nID,ID,...\n
//
// with decimal numbers and the text's UTF-8 bytes as they are. Input lengths
// are left out, as they depend on who counts.
func digest(prompts []Prompt) string {
	sum := sha256.New()
	out := bufio.NewWriter(sum)
	fmt.Fprintln(out, "bench prompts 1")
	for _, p := range prompts {
		if p.TokenIDs == nil {
			fmt.Fprintf(out, "text %d %d\n%s\n", len(p.Text), p.OutputTokens, p.Text)
			continue
		}
		fmt.Fprintf(out, "ids %d %d\n", len(p.TokenIDs), p.OutputTokens)
		for i, id := range p.TokenIDs {
			if i > 0 {
				fmt.Fprint(out, ",")
			}
			fmt.Fprintf(out, "%d", id)
		}
		fmt.Fprintln(out)
	}
	_ = out.Flush() // a hash takes everything
	return hex.EncodeToString(sum.Sum(nil))
}
