package importer

import (
	"regexp"
	"strings"

	"github.com/benchrig/bench/internal/importer/plain"
	"github.com/benchrig/bench/internal/importer/stated"
	"github.com/benchrig/bench/results"
)

var (
	blockLine = regexp.MustCompile(`^([A-Z][A-Za-z0-9 ().%/,-]*?):\s+(\S.*)$`)
	blockEnd  = regexp.MustCompile(`^={10,}$`)
)

// block reads a printed result from its head line on.
func (s *scanner) block(head plain.Line) {
	e := s.newEntry(formatText, head.No)
	s.keep(head, results.LineHeading)
	ended := false
	for s.at++; s.at < len(s.lines) && !ended; s.at++ {
		l := s.lines[s.at]
		raw := strings.TrimSpace(l.Text)
		m := blockLine.FindStringSubmatch(plainText(l.Text))
		switch {
		case blockEnd.MatchString(raw):
			ended = true
		case raw == "" || isPart(strings.Trim(raw, "-# ")):
		case m != nil:
			s.blockValue(e, m[1], m[2], l.No)
		default:
			s.closeBlock(e, false) // not a line of a block
			s.at--
			return
		}
	}

	s.at--
	s.closeBlock(e, ended)
}

func isBlockHead(text string) bool {
	return strings.Contains(text, "Benchmark Result") && blockHead.MatchString(text)
}

// isPart reports whether a line is the title of a part of a block.
func isPart(text string) bool {
	switch strings.ToLower(text) {
	case "time to first token", "time per output token (excl. 1st token)", "time per output token",
		"inter-token latency", "end-to-end latency":
		return true
	}
	return false
}

func (s *scanner) blockValue(e *stated.Entry, label, text string, line int) {
	if label == "Concurrency" || label == "Accept length" || label == "Input token throughput (tok/s)" { // SGLang's own
		e.State(label, text, line, "")
		return
	}
	e.Take(label, text, line, false)
}

// closeBlock ends a block. Its labels show which client printed it.
func (s *scanner) closeBlock(e *stated.Entry, ended bool) {
	seen := map[string]bool{}
	for _, v := range e.Origin.Stated {
		seen[v.Label] = true
	}

	switch {
	case seen["Mean E2E Latency (ms)"] || seen["Total generated tokens (retokenized)"] || seen["Backend"]:
		e.Origin.Format = "sglang-block"
	case seen["Peak output token throughput (tok/s)"] || seen["Failed requests"] ||
		seen["Total token throughput (tok/s)"]:
		e.Origin.Format, e.Origin.Reading = "vllm-block", results.VLLM
	case seen["Maximum request concurrency"]:
		e.Origin.Format, e.Origin.Reading = "vllm-block", results.VLLM010
	default:
		e.Origin.Format, e.Origin.Reading = "vllm-block", generationBy(s.before.args)
	}

	if !e.HasFigures() {
		for _, v := range e.Origin.Stated {
			s.keep(plain.Line{No: v.Line, Text: v.Label + ": " + v.Text}, results.LineNotFigures)
		}
		return
	}

	if !ended {
		e.Notes = append(e.Notes, "the block has no end line")
	}

	s.found(e)
	s.before, s.last = nearby{}, e
}

// generationBy returns the client whose arguments these are, by those that only it
// has; "": several clients may have them.
func generationBy(args [][2]string) results.Generation {
	for _, a := range args {
		switch a[0] {
		case "best_of":
			return results.VLLM06
		case "endpoint_type":
			return results.VLLM010
		case "num_warmups":
			return results.VLLM
		}
	}
	return ""
}
