package engines

import (
	"fmt"
	"slices"

	"github.com/benchrig/bench/launchers/recipe"
)

// Drafts says whether a recipe makes its engine decode speculatively, and how
// many tokens it drafts at once; 0: that is not said. known is false where the
// recipe cannot tell: the server runs already, or is of an unknown kind.
func Drafts(kind Kind, args []recipe.Arg) (drafts bool, tokens int, known bool) {
	if kind.Drafts == nil {
		return false, 0, false
	}
	drafts, tokens = kind.Drafts(args)
	if !drafts {
		tokens = 0
	}
	return drafts, tokens, true
}

// wholeOption is an option's whole number; 0: there is none.
func wholeOption(s recipe.Spelling, args []recipe.Arg, name string) int {
	value, _ := s.Find(args, name)
	n, _ := positive(value)
	return n
}

// generates refuses a server that answers with numbers instead of tokens:
// pooling are the values of arguments that make it one.
func generates(s recipe.Spelling, args []recipe.Arg, pooling map[string][]any) error {
	for _, arg := range args {
		if slices.Contains(pooling[s.Key(arg.Name)], arg.Value) {
			return fmt.Errorf("args: %s: such a server generates no tokens, and generation is what bench measures: "+
				"remove it", arg.Name)
		}
	}
	return nil
}
