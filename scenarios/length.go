package scenarios

import (
	"fmt"
	"strconv"

	"github.com/benchrig/bench/scenarios/schema"
)

// inputLenKey is a number of tokens, or what the server's longest context
// leaves.
func inputLenKey() schema.Field[Load] {
	s := schema.Shape{Kind: schema.LengthShape, Limits: schema.Between(1, schema.MaxCount)}
	return schema.FreeKey("input-len", "Prompt tokens; required by dataset random, others have their own. max-model-len - N: what the longest context of the server that runs leaves.",
		s, func(r *schema.Reader, n *schema.Node, l *Load) {
			if m := schema.LengthOfRest.FindStringSubmatch(n.Text); n.Kind == schema.Text && m != nil {
				l.InputLenSpare, _ = strconv.Atoi(m[1]) // digits, see lengthOfRest
				return
			}
			if v, ok := r.Whole(n, s); ok {
				l.InputLen = int(v)
			}
		})
}

// inputLenLabel is the part of a label that tells input-len.
func inputLenLabel(l Load) string {
	if l.InputLenSpare > 0 {
		return "max-" + strconv.Itoa(l.InputLenSpare)
	}
	return strconv.Itoa(l.InputLen)
}

// For is the point on a server that takes so many tokens a request, prompt and
// answer together; 0: it is not known. The error says why input-len cannot be
// told.
func (l Load) For(maxModelLen int) (Load, error) {
	if l.InputLenSpare == 0 {
		return l, nil
	}
	switch {
	case maxModelLen <= 0:
		return l, fmt.Errorf("input-len is max-model-len - %d, and the server does not say its max-model-len", l.InputLenSpare)
	case maxModelLen <= l.InputLenSpare:
		return l, fmt.Errorf("input-len is max-model-len - %d, and the server's max-model-len is %d", l.InputLenSpare, maxModelLen)
	}
	l.InputLen, l.InputLenSpare = maxModelLen-l.InputLenSpare, 0
	return l, nil
}
