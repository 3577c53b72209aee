package engines

import (
	"cmp"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/benchrig/bench/launchers/recipe"
)

// Conflict is a setting of a recipe that its engine refuses or ignores.
type Conflict struct {
	Arg      string // as the recipe names it; "": it is no argument
	Env      string // name of the variable; "": it is none
	Message  string // what happens, from which version on, and what to do
	NoEffect bool   // the engine starts all the same
}

// Conflicts lists what is known to be wrong with a recipe for a version of its
// engine, and for some versions where version is "". An image's tag may tell
// it then.
func Conflicts(kind Kind, spec recipe.Spec, version string) []Conflict {
	version = cmp.Or(version, imageVersion(spec.Container.Image))
	found := retired(kind, spec, version)
	switch kind.Name {
	case "vllm":
		found = append(found, multiStep(spec.Args, version)...)
	case "llamacpp":
		found = append(found, splitContext(spec.Args)...)
	case "command":
		found = append(found, bareFlashAttention(spec.Command)...)
	}
	return append(found, doubleVisibility(kind, spec)...)
}

// retirement is a setting that an engine had once.
type retirement struct {
	kind    string
	arg     string // canonical name
	written bool   // only as it stands, with its dashes: without them it is spelled anew
	env     string
	since   string // version from which on it is gone; "": see when
	when    string // where no version is known: a month; "never": it was no setting of a release
	ignored bool   // else refused
	instead string
}

// retirements are the settings of well-known recipes that have gone.
func retirements() []retirement {
	v := func(arg, since, instead string) retirement {
		return retirement{kind: "vllm", arg: arg, since: since, instead: instead}
	}
	const config = "give speculative-config: {model: ..., num_speculative_tokens: ...}"
	return []retirement{
		v("speculative-model", "0.8.3", config),
		v("num-speculative-tokens", "0.8.3", config),
		v("speculative-draft-tensor-parallel-size", "0.8.3", "give speculative-config: {draft_tensor_parallel_size: ...}"),
		v("speculative-disable-by-batch-size", "0.8.3", "give speculative-config: {disable_by_batch_size: ...}"),
		v("speculative-max-model-len", "0.8.3", "give speculative-config: {max_model_len: ...}"),
		v("ngram-prompt-lookup-max", "0.8.3", "give speculative-config: {method: ngram, prompt_lookup_max: ...}"),
		v("ngram-prompt-lookup-min", "0.8.3", "give speculative-config: {method: ngram, prompt_lookup_min: ...}"),
		v("spec-decoding-acceptance-method", "0.8.3", config),
		v("use-v2-block-manager", "0.10.1", "leave it out"),
		v("guided-decoding-backend", "0.10.1", "leave it out, or see the version's structured outputs"),
		v("num-scheduler-steps", "0.10.1", "leave it out, or see async-scheduling"),
		v("max-seq-len-to-capture", "0.11.0", "leave it out"),
		{kind: "vllm", arg: "disable-log-requests", since: "0.10.1", ignored: true, instead: "leave it out: requests are no longer logged unless enable-log-requests says so. Versions of March 2026 and later refuse it"},
		{kind: "vllm", arg: "swap-space", when: "March 2026", instead: "leave it out"},
		{kind: "vllm", env: "VLLM_USE_V1", since: "0.12.0", ignored: true, instead: "remove it: there is only the V1 engine"},
		{kind: "vllm", env: "VLLM_USE_TRITON_FLASH_ATTN", since: "0.12.0", ignored: true, instead: "choose the attention backend by VLLM_ATTENTION_BACKEND, or by attention-backend from 0.15 on"},
		{kind: "vllm", env: "VLLM_ATTENTION_BACKEND", since: "0.15.0", ignored: true, instead: "give the argument attention-backend"},
		{kind: "vllm", env: "VLLM_SWIZZLE_TENSOR", when: "never", ignored: true},
		{kind: "llamacpp", arg: "draft-max", written: true, when: "April 2026", instead: "write it without dashes, or --spec-draft-n-max"},
		{kind: "llamacpp", arg: "draft-min", written: true, when: "April 2026", instead: "write it without dashes, or --spec-draft-n-min"},
		{kind: "llamacpp", arg: "draft", written: true, when: "April 2026", instead: "write it without dashes, or --spec-draft-n-max"},
	}
}

// retired finds settings that are gone, or may be.
func retired(kind Kind, spec recipe.Spec, version string) []Conflict {
	var found []Conflict
	for _, r := range retirements() {
		if r.kind != kind.Name {
			continue
		}
		text, holds := r.says(kind.Name, version)
		if !holds {
			continue
		}
		if r.env != "" {
			if _, set := spec.Env[r.env]; set {
				found = append(found, Conflict{Env: r.env, Message: r.env + ": " + text, NoEffect: r.ignored})
			}
			continue
		}
		for _, arg := range spec.Args {
			if arg.Value != nil && r.names(arg.Name) {
				found = append(found, Conflict{Arg: arg.Name, Message: arg.Name + ": " + text, NoEffect: r.ignored})
			}
		}
	}
	return found
}

// names reports whether an argument is the one that has gone.
func (r retirement) names(arg string) bool {
	if r.written {
		return strings.TrimLeft(arg, "-") == r.arg && strings.HasPrefix(arg, "-")
	}
	return vllmSpelling().Key(arg) == r.arg
}

// says is what becomes of the setting, for a version or for any.
func (r retirement) says(engine, version string) (text string, holds bool) {
	what := "refuses it"
	if r.ignored {
		what = "ignores it"
	}
	switch {
	case r.when == "never":
		return fmt.Sprintf("no release of %s knows it, only a branch of its own: any other build ignores it", engine), true
	case r.since == "":
		text = fmt.Sprintf("if %s is of %s or later, it %s", engine, r.when, what)
	case version == "":
		text = fmt.Sprintf("if %s is %s or newer, it %s", engine, r.since, what)
	case older(version, r.since):
		return "", false
	default:
		text = fmt.Sprintf("%s %s %s", engine, version, what)
	}
	return text + ": " + r.instead, true
}

// multiStep finds what several scheduler steps at once do not go together with.
func multiStep(args []recipe.Arg, version string) []Conflict {
	s := vllmSpelling()
	const name = "num-scheduler-steps"
	if wholeOption(s, args, name) <= 1 {
		return nil
	}
	given := name
	for _, arg := range args {
		if s.Key(arg.Name) == name {
			given = arg.Name
		}
	}
	add := func(found []Conflict, text string) []Conflict {
		return append(found, Conflict{Arg: given, Message: given + ": " + text})
	}
	var found []Conflict
	if drafts, _ := vllmDrafts(args); drafts {
		found = add(found, "more than one scheduler step is not supported with speculative decoding: leave it out for this variant")
	}
	chunked, _ := s.Find(args, "enable-chunked-prefill")
	if chunked == true && wholeOption(s, args, "pipeline-parallel-size") > 1 {
		found = add(found, "more than one scheduler step with chunked prefill is not supported with pipeline-parallel-size above 1: leave one of the three out")
	}
	if version == "" || !older(version, "0.8.0") && older(version, "0.10.1") {
		found = add(found, "from vllm 0.8 on the V1 engine has no such steps, and the server goes back to the older engine: compare only variants of one engine")
	}
	return found
}

// tightSlot is the context, in tokens, below which a slot takes few prompts of
// the usual data sets.
const tightSlot = 2048

// splitContext warns of a context that llama-server splits over its slots.
func splitContext(args []recipe.Arg) []Conflict {
	s := llamaSpelling()
	size, slots := wholeOption(s, args, "ctx-size"), wholeOption(s, args, "parallel")
	unified, _ := s.Find(args, "kv-unified")
	if size == 0 || slots < 2 || size/slots >= tightSlot || unified == true {
		return nil
	}
	given := "ctx-size"
	for _, arg := range args {
		if s.Key(arg.Name) == given {
			given = arg.Name
		}
	}
	return []Conflict{{Arg: given, Message: fmt.Sprintf(
		"%s: %d tokens are split over %d slots: a prompt and its answer must fit %d tokens, or the request fails: raise it, or set kv-unified: true", given, size, slots, size/slots)}}
}

// bareFlashAttention finds -fa without a value, which builds since the end of
// August 2025 take from the word behind it.
func bareFlashAttention(argv []string) []Conflict {
	if len(argv) == 0 || !slices.ContainsFunc(argv, func(word string) bool { return path.Base(word) == "llama-server" }) {
		return nil
	}
	for i, word := range argv {
		bare := i+1 == len(argv) || strings.HasPrefix(argv[i+1], "-")
		if (word == "-fa" || word == "--flash-attn") && bare {
			return []Conflict{{Message: word + ": if llama-server is of September 2025 or later, it takes a value (on, off, auto), and the word behind it for one: write " + word + " on"}}
		}
	}
	return nil
}

// doubleVisibility finds GPUs that are chosen twice.
func doubleVisibility(kind Kind, spec recipe.Spec) []Conflict {
	hip, hasHIP := spec.Env["HIP_VISIBLE_DEVICES"]
	_, hasROCR := spec.Env["ROCR_VISIBLE_DEVICES"]
	cuda, hasCUDA := spec.Env["CUDA_VISIBLE_DEVICES"]
	var found []Conflict
	if hasHIP && hasROCR {
		found = append(found, Conflict{Env: "ROCR_VISIBLE_DEVICES", Message: "ROCR_VISIBLE_DEVICES: HIP_VISIBLE_DEVICES counts within what it leaves, which may be no GPU at all: set HIP_VISIBLE_DEVICES alone"})
	}
	if hasHIP && hasCUDA && hip != cuda && kind.Name == "vllm" {
		found = append(found, Conflict{Env: "HIP_VISIBLE_DEVICES", Message: "HIP_VISIBLE_DEVICES: vllm refuses a CUDA_VISIBLE_DEVICES that says otherwise: set one of them"})
	}
	return found
}

var (
	versionNumbers = regexp.MustCompile(`^v?(\d+)\.(\d+)(?:\.(\d+))?`)
	imageTag       = regexp.MustCompile(`:v?(\d+\.\d+(?:\.\d+)?[^/:@]*)(?:@|$)`)
)

// imageVersion is the version that an image's tag names, "" if it names none.
func imageVersion(image string) string {
	if m := imageTag.FindStringSubmatch(image); m != nil {
		return m[1]
	}
	return ""
}

// older compares versions by their first three numbers; what is no version is
// not older.
func older(version, than string) bool {
	numbers := func(text string) []int {
		m := versionNumbers.FindStringSubmatch(text)
		if m == nil {
			return nil
		}
		var out []int
		for _, digits := range m[1:] {
			n, _ := strconv.Atoi(cmp.Or(digits, "0"))
			out = append(out, n)
		}
		return out
	}
	a, b := numbers(version), numbers(than)
	return a != nil && b != nil && slices.Compare(a, b) < 0
}
