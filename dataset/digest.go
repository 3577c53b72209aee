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
//	audio BYTES\nFILE\n                   behind an empty text
//	image BYTES\nURL\n
//	with BYTES\nTEXT\n
//	tools BYTES\nJSON\n
//	turn BYTES OUTPUT_TOKENS\nTEXT\n
//	whole BYTES OUTPUT_TOKENS\nTEXT\n     a turn that is alone
//	ids COUNT OUTPUT_TOKENS\nID,ID,...\n  a turn that is alone
//	after NUMBER,NUMBER,...\n             of the turn before this line, as its wait is
//	wait SECONDS\n
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
			digestIDs(out, p.TokenIDs, p.OutputTokens)
		}
		if p.Audio != nil {
			fmt.Fprintf(out, "audio %d\n%s\n", len(p.Audio), p.Audio)
		}
		for _, url := range p.Images {
			fmt.Fprintf(out, "image %d\n%s\n", len(url), url)
		}
		for _, text := range p.Texts {
			fmt.Fprintf(out, "with %d\n%s\n", len(text), text)
		}
		if p.Tools != nil {
			fmt.Fprintf(out, "tools %d\n%s\n", len(p.Tools), p.Tools)
		}
		for _, t := range p.Turns {
			digestTurn(out, t)
		}
		if p.At != nil {
			fmt.Fprintf(out, "at %s\n", strconv.FormatFloat(*p.At, 'g', -1, 64))
		}
	}

	_ = out.Flush() // a hash takes everything
	return hex.EncodeToString(sum.Sum(nil))
}

func digestTurn(out *bufio.Writer, t Turn) {
	switch {
	case t.TokenIDs != nil:
		digestIDs(out, t.TokenIDs, t.OutputTokens)
	case t.Whole:
		fmt.Fprintf(out, "whole %d %d\n%s\n", len(t.Text), t.OutputTokens, t.Text)
	default:
		fmt.Fprintf(out, "turn %d %d\n%s\n", len(t.Text), t.OutputTokens, t.Text)
	}
	if t.After != nil {
		fmt.Fprintf(out, "after %s\n", commas(t.After))
	}
	if t.WaitS != nil {
		fmt.Fprintf(out, "wait %s\n", strconv.FormatFloat(*t.WaitS, 'g', -1, 64))
	}
}

func digestIDs(out *bufio.Writer, ids []int, outputTokens int) {
	fmt.Fprintf(out, "ids %d %d\n%s\n", len(ids), outputTokens, commas(ids))
}

func commas(numbers []int) string {
	var b []byte
	for i, n := range numbers {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, int64(n), 10)
	}
	return string(b)
}
