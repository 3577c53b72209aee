package vllmcli

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/benchrig/bench/dataset"
	"github.com/benchrig/bench/load/spec"
)

// class is a kind of request that the load mixes: flags of its own over those of
// the whole command line.
type class struct {
	name  string
	share float64 // weight
	flags *Flags
}

// addClasses defines the flags of mixtures.
func (f *Flags) addClasses(fs *pflag.FlagSet) {
	fs.StringArrayVar(&f.classTexts, "class", nil, "`\"NAME SHARE FLAGS\"`, split at blanks: requests of this kind "+
		"have this share of the load and further flags of datasets and requests; may be given more than once "+
		"(not in vLLM)")
	fs.IntVar(&f.Priority, "priority", -1, "`number` to send as priority in the request body (not in vLLM)")
	fs.StringArrayVar(&f.Adapters, "lora-modules", nil, "`NAME` ... of LoRA adapters that the server serves: requests "+
		"are split among them evenly, or by weights as NAME:WEIGHT (weights are not in vLLM)")
}

// ofClass are the flags that a class may have.
func ofClass(name string) bool {
	whole := []string{
		"num-prompts", "seed", "tokenizer", "skip-tokenizer-init", "compat", "header", "request-id-prefix",
		"max-tokens-field", "random-batch-size", "no-reranker",
	}
	fs := pflag.NewFlagSet("", pflag.ContinueOnError)
	var f Flags
	f.Dataset.AddFlags(fs)
	f.Request.addFlags(fs)
	return !slices.Contains(whole, name) &&
		(fs.Lookup(name) != nil || slices.Contains([]string{"goodput", "priority", "lora-modules"}, name))
}

// readClasses reads the flags of every class. args are those of the command line,
// spread.
func (f *Flags) readClasses(args []string) error {
	args = slices.DeleteFunc(slices.Clone(args), func(arg string) bool { return strings.HasPrefix(arg, "--class=") })
	for _, text := range f.classTexts {
		c, err := readClass(args, text)
		if err != nil {
			return fmt.Errorf("--class %q: %w", text, err)
		}
		if slices.ContainsFunc(f.classes, func(had class) bool { return had.name == c.name }) {
			return fmt.Errorf("--class %q: the name %s is given twice", text, c.name)
		}
		f.classes = append(f.classes, c)
	}
	return f.countClasses()
}

func readClass(args []string, text string) (class, error) {
	words := strings.Fields(text)
	if len(words) < 2 || strings.HasPrefix(words[0], "-") {
		return class{}, fmt.Errorf("want NAME SHARE FLAGS, such as \"chat 0.7 --input-len 256\"")
	}
	share, err := strconv.ParseFloat(words[1], 64)
	if err != nil || !(share > 0) || math.IsInf(share, 1) {
		return class{}, fmt.Errorf("share %q: want a number above 0", words[1])
	}

	c := class{name: words[0], share: share, flags: &Flags{}}
	fs := pflag.NewFlagSet("", pflag.ContinueOnError)
	c.flags.AddFlags(fs)
	own, err := spread(fs, words[2:])
	if err != nil {
		return c, err
	}
	for _, arg := range own {
		name, _, _ := strings.Cut(strings.TrimPrefix(arg, "--"), "=")
		args = slices.DeleteFunc(slices.Clone(args), func(of string) bool {
			return of == "--"+name || strings.HasPrefix(of, "--"+name+"=") // in its place
		})
		if fs.Lookup(name) != nil && !ofClass(name) {
			return c, fmt.Errorf("--%s is for the whole load, not for a class", name)
		}
	}
	return c, c.flags.Parse(fs, append(args, own...))
}

// countClasses gives every class its number of prompts.
func (f *Flags) countClasses() error {
	if len(f.classes) == 0 {
		return nil
	}
	settings := spec.Settings{}
	if err := f.mix(&settings); err != nil {
		return err
	}
	kinds := settings.Kinds()
	counts := spec.Counts(kinds, f.Dataset.NumPrompts)
	for i, c := range f.classes {
		if c.flags.Dataset.NumPrompts = spec.OfClass(kinds, counts, i+1); c.flags.Dataset.NumPrompts == 0 {
			return fmt.Errorf("--class %s gets none of %d prompts: raise --num-prompts or its share", c.name,
				f.Dataset.NumPrompts)
		}
	}
	return nil
}

// checkClasses refuses what does not go with a mixture.
func (f *Flags) checkClasses() error {
	mixed := len(f.classTexts)+len(f.Adapters) > 0
	switch {
	case f.Priority < -1:
		return fmt.Errorf("--priority %d: want 0 or more", f.Priority)
	case mixed && f.Dataset.Compat != "":
		return fmt.Errorf("--class and --lora-modules: --compat %s has requests that are all alike, and vLLM's client "+
			"draws adapters in another way", f.Dataset.Compat)
	case mixed && f.Dataset.BatchSize > 1:
		return fmt.Errorf("--random-batch-size %d: requests of a mixture have one text", f.Dataset.BatchSize)
	}
	_, err := f.adapters()
	return err
}

// adapters are the LoRA adapters with their shares.
func (f *Flags) adapters() ([]spec.Adapter, error) {
	var all []spec.Adapter
	for _, text := range f.Adapters {
		a := spec.Adapter{Name: text, Share: 1}
		if at := strings.LastIndexByte(text, ':'); at > 0 {
			weight, err := strconv.ParseFloat(text[at+1:], 64)
			if err != nil || !(weight > 0) || math.IsInf(weight, 1) {
				return nil, fmt.Errorf("--lora-modules %q: want NAME, or NAME:WEIGHT with a weight above 0", text)
			}
			a = spec.Adapter{Name: text[:at], Share: weight}
		}

		if a.Name == "" || slices.ContainsFunc(all, func(had spec.Adapter) bool { return had.Name == a.Name }) {
			return nil, fmt.Errorf("--lora-modules %q: want names, each once", text)
		}
		all = append(all, a)
	}

	spec.NormalizeAdapters(all)
	return all, nil
}

// mix sets the kinds of request that the load mixes.
func (f *Flags) mix(s *spec.Settings) error {
	adapters, err := f.adapters()
	if err != nil {
		return err
	}
	if len(f.classes) == 0 {
		s.Adapters = adapters
		return nil
	}

	for _, c := range f.classes {
		own, err := c.settings()
		if err != nil {
			return fmt.Errorf("--class %s: %w", c.name, err)
		}
		own.Share = c.share
		s.Classes = append(s.Classes, own)
	}
	spec.NormalizeClasses(s.Classes)
	return nil
}

// settings are a class as the client takes it.
func (c class) settings() (own spec.Class, err error) {
	f := c.flags
	own = spec.Class{Name: c.name, IgnoreEOS: f.ignoreEOS(), Sampling: f.sampling()}
	if own.Adapters, err = f.adapters(); err != nil {
		return own, err
	}

	api, _, err := f.API()
	if err != nil {
		return own, err
	}
	if own.Body, err = f.body(api.Name); err != nil {
		return own, err
	}
	if own.Tools, err = f.tools(api); err != nil {
		return own, err
	}

	goals, err := f.Goals()
	if err != nil {
		return own, err
	}
	own.GoodputS = spec.GoalsS(goals)

	order, err := f.Dataset.Spec()
	own.Dataset, own.DatasetPath, own.InputLen, own.OutputLen = order.Kind, order.Path, order.InputLen, order.OutputLen
	return own, err
}

// Specs are the orders for prompts: one, or one for each class of a mixture.
func (f *Flags) Specs() ([]dataset.Spec, error) {
	if len(f.classes) == 0 {
		s, err := f.Dataset.Spec()
		return []dataset.Spec{s}, err
	}
	var all []dataset.Spec
	for i, c := range f.classes {
		s, err := c.flags.Dataset.Spec()
		if err != nil {
			return nil, fmt.Errorf("--class %s: %w", c.name, err)
		}
		s.Seed += uint64(i) * spec.ClassSeed
		all = append(all, s)
	}
	return all, nil
}
