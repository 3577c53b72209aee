package dataset

import "fmt"

// maxTokens bounds a length, far above any model's context.
const maxTokens = 1 << 24

// check refuses what no kind can make.
func (s Spec) check() error {
	if s.N < 1 {
		return fmt.Errorf("%d prompts asked: want at least 1", s.N)
	}

	for _, l := range []struct {
		name  string
		value int
	}{
		{"input length", s.InputLen},
		{"output length", s.OutputLen},
		{"prefix length", s.PrefixLen},
		{"suffix length", s.SuffixLen},
		{"template tokens", s.TemplateTokens},
		{"block length", s.BlockLen},
	} {
		if l.value < 0 || l.value > maxTokens {
			return fmt.Errorf("%s %d: want 0 to %d tokens", l.name, l.value, maxTokens)
		}
	}

	for name, value := range map[string]int{
		"prefixes": s.NumPrefixes, "turns": s.Turns,
		"vocabulary size": s.VocabSize,
	} {
		if value < 0 {
			return fmt.Errorf("%s %d: want at least 0", name, value)
		}
	}

	switch s.Compat {
	case CompatNewest, CompatVLLM, CompatVLLM010, CompatVLLM06:
	default:
		return fmt.Errorf("compat %q: want %q, %q, %q or nothing", s.Compat, CompatVLLM, CompatVLLM010, CompatVLLM06)
	}

	return s.checkRatios()
}

// checkRatios: vLLM 0.6 counts its ratio from the other end, so 1 is good there.
func (s Spec) checkRatios() error {
	ratios := []float64{s.RangeRatio}
	if s.RangeRatioOutput != nil {
		ratios = append(ratios, *s.RangeRatioOutput)
	}
	for _, r := range ratios {
		if s.Compat == CompatVLLM06 && r == 1 {
			continue
		}
		if !(r >= 0 && r < 1) {
			return fmt.Errorf("range ratio %v: want at least 0 and below 1", r)
		}
	}
	return nil
}

// uselessNotes says which settings a file kind cannot follow.
func (s Spec) uselessNotes() []string {
	var notes []string
	for _, setting := range []struct {
		name string
		set  bool
	}{
		{"input length", s.InputLen > 0},
		{"prefix length", s.PrefixLen > 0},
		{"range ratio", s.RangeRatio > 0},
		{"token ids", s.TokenIDs},
	} {
		if setting.set {
			notes = append(notes, fmt.Sprintf("the setting %q has no effect: %s prompts are as the file has them",
				setting.name, s.Kind))
		}
	}

	return notes
}
