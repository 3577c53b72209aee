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
	var before []outputs
	for i := range steps {
		later, ok := outputsOf(steps[i].Result)
		if !ok {
			continue
		}

		for _, earlier := range before {
			if earlier.Step.Variant == later.Step.Variant || earlier.model == later.model {
				continue
			}
			if how := sameOutputs(earlier, later); how != "" {
				found = append(found, StepWarning{later.Result, results.Warning{
					Code: results.WarnEqualOutputs,
					Message: fmt.Sprintf("%s as %s, although %s and %s should answer differently", how,
						text.Clean(earlier.Step.ID), later.model, earlier.model),
				}})
				break
			}
		}

		before = append(before, later)
	}
	return found
}

// outputs are what of a step's outputs is compared with others.
type outputs struct {
	*results.Result

	model string
	alone bool // answers may have ended before the length asked for
}

// outputsOf is false for a step whose outputs say nothing.
func outputsOf(r *results.Result) (outputs, bool) {
	f := r.Figures
	if f == nil || r.Simulated || f.TotalOutputTokens == nil || *f.TotalOutputTokens < leastTokens ||
		f.Completed < leastRequests {
		return outputs{}, false
	}
	model := modelOf(r)
	return outputs{r, model, endedAlone(r)}, model != ""
}

// Outputs that are equal by chance are short.
const (
	leastTokens   = 200
	leastRequests = 4
)

func sameOutputs(a, b outputs) string {
	x, y := a.Figures, b.Figures
	if x.Answers != nil && y.Answers != nil && x.Answers.SHA256 != nil && y.Answers.SHA256 != nil &&
		*x.Answers.SHA256 == *y.Answers.SHA256 {
		return "the same answers"
	}
	if *x.TotalOutputTokens == *y.TotalOutputTokens && x.Completed == y.Completed && a.alone && b.alone {
		return fmt.Sprintf("the same %s in %s", text.Count(int(*x.TotalOutputTokens), "output token"),
			text.Count(x.Completed, "answer"))
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

// modelOf is the engine with the model and its quantization, as far as they are known. Others
// cannot answer alike over many tokens.
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
