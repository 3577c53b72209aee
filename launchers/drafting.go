package launchers

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"github.com/benchrig/bench/results"
)

// Drafts says whether a recipe makes its engine decode speculatively, and how
// many tokens it drafts at once; 0: that is not said. known is false where the
// recipe cannot tell: the server runs already, or is of no kind that we know.
func Drafts(kind Kind, args []Arg) (drafts bool, tokens int, known bool) {
	switch kind.Name {
	case "vllm", "simulator":
		drafts, tokens = vllmDrafts(args)
	case "llamacpp":
		s := llamaSpelling()
		kinds, _ := s.find(args, "spec-type")
		asked, named := kinds.(string)
		drafts = llamaDrafts(s, args) && asked != "none" || named && asked != "none"
		tokens = wholeOption(s, args, "spec-draft-n-max")
	case "sglang":
		algorithm, _ := sglangSpelling().find(args, "speculative-algorithm")
		drafts = algorithm != nil && algorithm != false
		tokens = wholeOption(sglangSpelling(), args, "speculative-num-steps")
	case "tgi":
		tokens = wholeOption(tgiSpelling(), args, "speculate")
		drafts = tokens > 0
	default:
		return false, 0, false
	}
	if !drafts {
		tokens = 0
	}
	return drafts, tokens, true
}

// wholeOption is an option's whole number; 0: there is none.
func wholeOption(s spelling, args []Arg, name string) int {
	value, _ := s.find(args, name)
	n, _ := positive(value)
	return n
}

// vllmDrafts reads the options of all versions: one JSON object, its parts
// behind dots, its newer short forms, and the many of the time before it.
func vllmDrafts(args []Arg) (drafts bool, tokens int) {
	s := vllmSpelling()
	config, _ := s.find(args, "speculative-config")
	if text, ok := config.(string); ok {
		var parsed map[string]any
		decoder := json.NewDecoder(strings.NewReader(text))
		decoder.UseNumber()
		if decoder.Decode(&parsed) == nil {
			config = parsed
		}
	}
	if object, ok := config.(map[string]any); ok {
		tokens, _ = positive(object["num_speculative_tokens"])
	}
	drafts = config != nil && config != false
	for _, arg := range args {
		name, part, dotted := strings.Cut(s.key(arg.Name), ".")
		if !dotted || name != "speculative-config" || arg.Value == nil {
			continue
		}
		drafts = true
		if part == "num_speculative_tokens" {
			tokens, _ = positive(arg.Value)
		}
	}
	for _, name := range []string{"speculative-model", "spec-model", "spec-method"} {
		value, _ := s.find(args, name)
		drafts = drafts || value != nil
	}
	for _, name := range []string{"num-speculative-tokens", "spec-tokens"} {
		tokens = max(tokens, wholeOption(s, args, name))
	}
	return drafts, tokens
}

// drafting is what recipe and log tell of speculative decoding; nil: nothing.
func (s *Server) drafting() *results.Drafting {
	drafts, tokens, _ := Drafts(s.kind, s.spec.Args)
	d := &results.Drafting{}
	if s.log != nil {
		var told int
		if d.LogLines, told = s.log.draftLines(); told > 0 {
			tokens = told
		}
	}
	if !drafts && d.LogLines == nil {
		return nil
	}
	if tokens > 0 {
		d.Tokens = &tokens
	}
	d.LogLines = s.redact.texts(d.LogLines)
	return d
}

// counted adds what the log counts to counters.
func (s *Server) counted(counters map[string]float64) map[string]float64 {
	if s.log == nil {
		return counters
	}
	for name, value := range s.log.drafts() {
		if counters == nil {
			counters = map[string]float64{}
		}
		counters[name] = value
	}
	return counters
}

// switchedOff reports whether a failed reading of metrics says that the server
// has none.
func switchedOff(err error) bool {
	failure, ok := errors.AsType[*results.Failure](err)
	return ok && (failure.HTTPStatus == http.StatusNotFound || failure.HTTPStatus == http.StatusNotImplemented)
}
