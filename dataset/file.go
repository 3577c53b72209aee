package dataset

import (
	"context"
	"fmt"

	"github.com/benchrig/bench/dataset/prng"
)

// shuffle puts a list into the order that vLLM's client would with the seed.
func shuffle[T any](list []T, seed uint64) {
	prng.NewPython(seed).Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
}

// rowOrder lists so many rows in the order in which they are used.
func rowOrder(total int, spec Spec) []int {
	order := make([]int, total)
	for i := range order {
		order[i] = i
	}
	if spec.Shuffle {
		shuffle(order, spec.Seed)
	}
	return order
}

// oversample makes the set of a file's prompts. When they are fewer than asked,
// it repeats some as vLLM's client does, chosen with the seed.
func oversample(kept []Prompt, spec Spec) *Set {
	set := &Set{Prompts: kept, Notes: spec.uselessNotes()}
	missing := spec.N - len(kept)
	if missing <= 0 {
		return set
	}

	usable := fmt.Sprintf("the file has %d usable prompts, %d were asked: ", len(kept), spec.N)
	if spec.NoOversample {
		set.Notes = append(set.Notes, usable+"no more are sent")
		return set
	}

	for _, index := range repeats(len(kept), missing, spec) {
		set.Prompts = append(set.Prompts, kept[index])
	}

	set.Notes = append(set.Notes, usable+fmt.Sprintf("%d are repeats, which a prefix cache may serve", missing))
	return set
}

// repeats draws with random.choice for each, as of 2025 with random.choices.
func repeats(n, missing int, spec Spec) []int {
	rng := prng.NewPython(spec.Seed)
	if spec.Compat == CompatVLLM010 {
		return rng.Choices(n, missing)
	}
	out := make([]int, missing)
	for i := range out {
		out[i] = rng.Choice(n)
	}
	return out
}

// estimateNote goes with lengths that nobody counted.
const estimateNote = "token lengths are estimated at 4 bytes a token: no tokenizer to count with"

// countTokens counts, with the tokens around a prompt as vLLM's client does for
// files, or estimates without a tokenizer.
func countTokens(ctx context.Context, tok Tokenizer, text string) (int, error) {
	if tok == nil {
		return (len(text) + 3) / 4, ctx.Err()
	}
	ids, err := tok.Encode(ctx, text, true)
	if err != nil {
		return 0, fmt.Errorf("count tokens: %w", err)
	}
	return len(ids), nil
}
