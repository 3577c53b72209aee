package versus

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/results"
)

// StepWarning is a warning about a step that only its neighbours show.
type StepWarning struct {
	Result  *results.Result
	Warning results.Warning
}

// EqualOutputs says which steps of a run gave the same outputs although another
// model, quantization or engine is said to have made them: the same hash over all
// answers, or to the token the same number of output tokens, where answers ended
// by themselves. Then most likely one server answered for both.
func EqualOutputs(steps []results.Step) []StepWarning {
	var found []StepWarning
	for i := range steps {
		later := steps[i].Result
		for k := range steps[:i] {
			earlier := steps[k].Result
			if earlier.Step.Variant == later.Step.Variant || !differentModels(earlier, later) {
				continue
			}
			if how := sameOutputs(earlier, later); how != "" {
				found = append(found, StepWarning{later, results.Warning{
					Code: results.WarnEqualOutputs,
					Message: fmt.Sprintf("%s as %s, although %s and %s should answer differently", how,
						text.Clean(earlier.Step.ID), modelOf(later), modelOf(earlier)),
				}})
				break
			}
		}
	}
	return found
}

// Outputs that are equal by chance are short.
const (
	leastTokens   = 200
	leastRequests = 4
)

func sameOutputs(a, b *results.Result) string {
	x, y := a.Figures, b.Figures
	if x == nil || y == nil || a.Simulated || b.Simulated || x.TotalOutputTokens == nil || y.TotalOutputTokens == nil ||
		*x.TotalOutputTokens < leastTokens || x.Completed < leastRequests {
		return ""
	}
	if x.Answers != nil && y.Answers != nil && x.Answers.SHA256 != nil && y.Answers.SHA256 != nil &&
		*x.Answers.SHA256 == *y.Answers.SHA256 {
		return "the same answers"
	}
	if *x.TotalOutputTokens == *y.TotalOutputTokens && x.Completed == y.Completed && endedAlone(a) && endedAlone(b) {
		return fmt.Sprintf("the same %d output tokens in %d answers", *x.TotalOutputTokens, x.Completed)
	}
	return ""
}

// endedAlone reports whether answers may have ended before the length asked for.
func endedAlone(r *results.Result) bool {
	f := r.Figures
	if r.Asked.IgnoreEOS || r.Asked.OutputLen != nil &&
		*f.TotalOutputTokens == int64(f.Completed)*int64(*r.Asked.OutputLen) {
		return false
	}
	return f.Lengths == nil || f.Lengths.EarlyEOS > 0
}

// differentModels reports whether two steps are said to have models, or forms of
// one, that cannot answer alike over many tokens.
func differentModels(a, b *results.Result) bool {
	x, y := modelOf(a), modelOf(b)
	return x != "" && y != "" && x != y
}

// modelOf is the engine with the model and its quantization, as far as told.
func modelOf(r *results.Result) string {
	if len(r.Servers) == 0 {
		return ""
	}
	server := r.Servers[0]
	var parts []string
	for i, arg := range server.Argv {
		name, value, joined := strings.Cut(arg, "=")
		if !joined && i+1 < len(server.Argv) {
			value = server.Argv[i+1]
		}
		switch {
		case i > 0 && server.Argv[i-1] == "serve" && !strings.HasPrefix(arg, "-"):
			parts = append(parts, arg)
		case slices.Contains([]string{"-m", "--model", "--model-path", "--quantization", "-q", "--dtype"}, name) &&
			value != "":
			parts = append(parts, path.Base(value))
		}
	}
	if len(parts) == 0 && server.Model != "" {
		parts = []string{server.Model}
	}
	if len(parts) > 0 && len(server.Argv) > 0 {
		parts = append([]string{path.Base(server.Argv[0])}, parts...)
	}
	return text.Clean(strings.Join(parts, " "))
}
