package dataset

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/benchrig/bench/dataset/table"
	"github.com/benchrig/bench/internal/userfile"
)

// kind is one way to make prompts. A new one is a new file with a build
// function and a line in kinds.
type kind struct {
	name  string
	file  bool // it reads a file or folder at Path
	build func(ctx context.Context, spec Spec, tok Tokenizer) (*Set, error)
}

func kinds() []kind {
	return []kind{
		{"random", false, buildRandom},            // token ids or text of a set length, no two alike
		{"random_mm", false, buildRandomMM},       // random text with random images
		{"random_audio", false, buildRandomAudio}, // WAV files of tones and noise, to be transcribed
		{"audio", true, buildAudio},               // WAV files
		// a random query with random documents, for rerankers
		{"random_rerank", false, buildRandomRerank},
		{"sharegpt", true, ofFile(buildShareGPT)}, // first turns of recorded conversations, one JSON array
		{"jsonl", true, ofFile(buildJSONL)},       // prompts as they stand in a file of JSON lines
		// vLLM's custom dataset: JSON lines with prompt and output_tokens
		{"custom", true, ofFile(buildCustom)},
		// prompts as token ids: JSON lines, a parquet column or a pandas pickle
		{"tok_inputs", true, buildTokInputs},
		{"sonnet", true, ofFile(buildSonnet)}, // lines of a poem, the first ones shared
		// random prefixes, each with many random suffixes, as vLLM makes them
		{"prefix_repetition", false, buildPrefixRepetition},
		{"burstgpt", true, ofFile(buildBurstGPT)}, // lengths and times of a BurstGPT trace (CSV)
		// lengths, times and shared blocks of a timed trace (JSON lines)
		{"trace", true, ofFile(buildTrace)},
		// sessions of recorded traffic: requests that wait for each other's answers (JSON lines)
		{"sessions", true, ofFile(buildSessions)},
		// a chat dataset of Hugging Face as local parquet, JSON lines or JSON
		{"hf", true, buildHF},
		// any text, cut to an exact number of tokens at different places
		{"text", true, ofFile(buildText)},
		{"shared_prefix", false, buildSharedPrefix}, // groups of prompts with a prefix of their own
		{"conversation", false, buildConversation},  // made-up conversations of several turns
		{"frozen", true, ofFile(buildFrozen)},       // a prompt set that was written before, prompt by prompt
	}
}

// ofFile is a kind of one file.
func ofFile(build func(ctx context.Context, file *os.File, spec Spec, tok Tokenizer) (*Set, error)) func(
	context.Context, Spec, Tokenizer) (*Set, error) {
	return func(ctx context.Context, spec Spec, tok Tokenizer) (*Set, error) {
		file, err := userfile.Open(spec.Path)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", spec.Path, table.Cause(err))
		}
		defer file.Close()
		return build(ctx, file, spec, tok)
	}
}

// Kinds lists the names that Spec.Kind may have.
func Kinds() []string {
	var names []string
	for _, k := range kinds() {
		names = append(names, k.name)
	}
	return names
}

func lookup(name string) (kind, bool) {
	for _, k := range kinds() {
		if k.name == name {
			return k, true
		}
	}
	return kind{}, false
}

// Build makes the prompts of spec. tok may be nil: lengths are then estimated
// or left unknown, and a note says so. An error says what to change; it wraps
// ctx's error when ctx ends first, and tok's error when counting fails.
func Build(ctx context.Context, spec Spec, tok Tokenizer) (*Set, error) {
	if err := spec.check(); err != nil {
		return nil, fmt.Errorf("build dataset: %w", err)
	}

	k, ok := lookup(spec.Kind)
	if !ok {
		return nil, fmt.Errorf("build dataset: unknown kind %q: want one of %s", spec.Kind, strings.Join(Kinds(), ", "))
	}
	if k.file && spec.Path == "" {
		return nil, fmt.Errorf("build dataset %s: %w", k.name, errNoPath)
	}

	set, err := k.build(ctx, spec, tok)
	if err != nil {
		if other := otherForm(ctx, spec, err); other != "" {
			return nil, fmt.Errorf("build dataset %s: %w; %s", k.name, err, other)
		}
		return nil, fmt.Errorf("build dataset %s: %w", k.name, err)
	}

	if set.audioBytes() > maxAudioBytes {
		return nil, fmt.Errorf("build dataset %s: "+errMuchAudio, k.name, maxAudioBytes>>20)
	}

	set.SHA256 = digest(set.Prompts)
	return set, nil
}

// otherForm says what a file is that its kind of dataset could not read, and
// which kind reads it; "" where there is nothing to say.
func otherForm(ctx context.Context, spec Spec, err error) string {
	if spec.Path == "" || ctx.Err() != nil {
		return ""
	}
	if errors.Is(err, fs.ErrNotExist) {
		return "nothing is downloaded: give a file or folder of this machine"
	}
	form := table.Sniff(spec.Path)
	switch {
	case form.What == "" || slices.Contains(form.Kinds, spec.Kind):
		return ""
	case len(form.Kinds) > 0:
		return fmt.Sprintf("the file looks like %s, which kind %s reads", form.What, form.Kinds[0])
	}

	return fmt.Sprintf("the file is %s: %s", form.What, form.Do)
}

var errNoPath = errors.New("no path: name the file with the prompts")
