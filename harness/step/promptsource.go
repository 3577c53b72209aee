package step

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/benchrig/bench/dataset"
	"github.com/benchrig/bench/dataset/mixture"
	"github.com/benchrig/bench/harness/plan"
	"github.com/benchrig/bench/load/spec"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/results/store"
	"github.com/benchrig/bench/scenarios"
)

// promptSource makes the prompts of a run's steps, each set once while there is
// room: variants of one model get the very same prompts. Every set that is used is kept in the
// run's folder, from where dataset kind frozen reads it back.
type promptSource struct {
	folder     *store.Folder
	frozen     *plan.Frozen            // prompts to send in place of new ones; nil: none
	sets       map[string]*dataset.Set // by spec and tokenizer; some, see remember
	order      []string                // of sets, the latest one last
	bytes      int                     // of all sets
	kept       map[string]bool         // sets that are in the folder, by hash
	tokenizers Tokenizers
}

func newPromptSource(folder *store.Folder, frozen *plan.Frozen) promptSource {
	return promptSource{
		folder: folder, frozen: frozen,
		sets: map[string]*dataset.Set{}, kept: map[string]bool{}, tokenizers: Tokenizers{},
	}
}

// prompts makes the measured prompts and the warm-ups of a load. Warm-up
// prompts are never measured ones: those would be warm in a prefix cache.
func (p *promptSource) prompts(ctx context.Context, l scenarios.Load, seed uint64, c TokenCounter) (measured,
	warm *dataset.Set, err error,
) {
	var sets, warmSets []*dataset.Set
	for _, part := range plan.Parts(l, seed) {
		if measured, warm, err = p.partOf(ctx, part, c); err != nil {
			return nil, nil, err
		}
		sets, warmSets = append(sets, measured), append(warmSets, warm)
	}

	kinds := l.Kinds()
	if len(kinds) == 0 {
		return measured, warm, nil
	}
	if measured, err = mixture.Whole(kinds, l.NumPrompts, seed, sets); err != nil {
		return nil, nil, results.Failf(results.FailDataset, "%v: lower num-prompts, or remove oversample: false", err)
	}
	warmups := mixture.RoundRobin(kinds, spec.MixedWarmups(kinds, l.Warmups))
	return measured, mixture.Merge(kinds, warmups, warmSets), nil
}

// partOf makes the prompts of a part of a load, and its warm-ups.
func (p *promptSource) partOf(ctx context.Context, part plan.Part, c TokenCounter) (measured, warm *dataset.Set,
	err error,
) {
	order := part.Measured()
	if measured, err = p.set(ctx, order, c); err != nil {
		return nil, nil, err
	}
	if err := p.keep(plan.PromptsName, measured, order, c); err != nil || part.Load.Warmups == 0 {
		return measured, &dataset.Set{}, err
	}

	order = part.Warm()
	if warm, err = p.set(ctx, order, c); err != nil {
		return nil, nil, err
	}
	if err := p.keep(plan.WarmupsName, warm, order, c); err != nil {
		return nil, nil, err
	}

	warm = without(warm, measured)
	warm.Prompts = warm.Prompts[:min(len(warm.Prompts), part.Load.Warmups)]
	return measured, warm, nil
}

func (p *promptSource) set(ctx context.Context, order dataset.Spec, c TokenCounter) (*dataset.Set, error) {
	key, err := json.Marshal(order)
	if err != nil {
		return nil, fmt.Errorf("make prompts: %w", err)
	}

	name := string(key) + " " + c.Name + " " + c.SHA256
	if set, ok := p.sets[name]; ok {
		return set, nil
	}

	from, _ := p.frozen.Find(order, c.Name)
	set, err := dataset.Build(ctx, from, c.Tokenizer)
	if err != nil {
		return nil, results.Failf(results.FailDataset, "%v", err)
	}

	p.remember(name, set)
	return set, nil
}

// mostSetBytes bounds the prompts that stay in memory for further variants. What
// was forgotten is made again, and is the same.
const mostSetBytes = 64 << 20

// remember keeps a set, in place of the oldest ones where all are too large.
func (p *promptSource) remember(name string, set *dataset.Set) {
	p.sets[name], p.order = set, append(p.order, name)
	p.bytes += set.Bytes()
	for p.bytes > mostSetBytes && len(p.order) > 1 {
		oldest := p.order[0]
		p.bytes -= p.sets[oldest].Bytes()
		delete(p.sets, oldest)
		p.order = p.order[1:]
	}
}

// keep stores a set in a folder of the run, once.
func (p *promptSource) keep(folder string, set *dataset.Set, order dataset.Spec, c TokenCounter) error {
	if p.kept[set.SHA256] {
		return nil
	}

	var file bytes.Buffer
	meta := dataset.Meta{Spec: order, Tokenizer: c.Name, TokenizerSHA256: c.SHA256}
	if err := dataset.Write(&file, set, meta); err != nil {
		return results.Failf(results.FailDataset, "%v", err)
	}
	if err := p.folder.WriteFile(folder+"/"+set.SHA256+".jsonl", file.Bytes()); err != nil {
		return results.WriteFailure(err)
	}
	p.kept[set.SHA256] = true
	return nil
}
