package keys

import (
	"slices"
	"strings"
	"time"

	"github.com/benchrig/bench/scenarios"
	"github.com/benchrig/bench/scenarios/schema"
)

// DatasetKind says what one kind of dataset needs and knows.
type DatasetKind struct {
	Name          string
	Path          bool     // reads a file
	Input, Output Use      // of input-len and output-len
	Random        bool     // answers to nonsense: ignore-eos is on by default
	Shuffled      bool     // shuffle is on by default
	Keys          []string // that it knows, of ShapeFields
}

// Use says whether a key must, may or must not be given.
type Use int

// A key may be given, must be, or must not be.
const (
	may Use = iota
	Must
	Never
)

func datasetKinds() []DatasetKind {
	ids := []string{"tokens", "vocab-size"}
	ratios := []string{"range-ratio", "output-range-ratio"}
	file := []string{"shuffle", "oversample"}

	return []DatasetKind{
		{
			Name: "random", Input: Must, Output: Must, Random: true,
			Keys: slices.Concat(ids, ratios, []string{"prefix-len", "batch-size"}),
		},
		{Name: "random_rerank", Input: Must, Output: Never, Random: true, Keys: []string{"range-ratio", "batch-size"}},
		{
			Name: "random_mm", Input: Must, Output: Must, Random: true,
			Keys: slices.Concat(ratios, []string{"prefix-len", "images"}),
		},
		{Name: "random_audio", Input: Never, Keys: []string{"audio-len", "range-ratio"}},
		{Name: "audio", Path: true, Input: Never, Keys: file},
		{Name: "sharegpt", Path: true, Input: Never, Shuffled: true, Keys: slices.Concat(file, []string{"turns"})},
		{Name: "jsonl", Path: true, Input: Never, Keys: file},
		{Name: "custom", Path: true, Input: Never, Shuffled: true, Keys: file},
		{Name: "tok_inputs", Path: true, Input: Never, Output: Must, Keys: slices.Concat(file, []string{"field"})},
		{Name: "sonnet", Path: true, Keys: []string{"prefix-len", "template-tokens"}},
		{
			Name: "prefix_repetition", Input: Never, Output: Must, Random: true,
			Keys: slices.Concat(ids, []string{"prefix-len", "suffix-len", "num-prefixes"}),
		},
		{
			Name: "burstgpt", Path: true, Input: Never, Output: Never, Random: true,
			Keys: slices.Concat(ids, []string{"subset", "shuffle"}),
		},
		{
			Name: "trace", Path: true, Input: Never, Output: Never, Random: true,
			Keys: slices.Concat(ids, []string{"block-len", "time-unit"}),
		},
		{
			Name: "sessions", Path: true, Input: Never, Random: true,
			Keys: slices.Concat(ids, []string{"block-len", "max-wait"}),
		},
		{
			Name: "hf", Path: true, Input: Never, Shuffled: true,
			Keys: slices.Concat(file, []string{"subset", "field", "turns"}),
		},
		{Name: "text", Path: true, Input: Must, Output: Must, Keys: slices.Concat(ratios, []string{"shuffle"})},
		{
			Name: "shared_prefix", Input: Must, Output: Must, Random: true,
			Keys: slices.Concat(ids, ratios, []string{"prefix-len", "num-prefixes", "shuffle"}),
		},
		{
			Name: "conversation", Input: Must, Output: Must, Random: true,
			Keys: slices.Concat(ratios, []string{"prefix-len", "suffix-len", "turns", "sub-agents"}),
		},
		{Name: "frozen", Path: true, Input: Never, Keys: []string{"oversample"}},
	}
}

func datasetKindNames() []string {
	var names []string
	for _, k := range datasetKinds() {
		names = append(names, k.Name)
	}
	return names
}

// DatasetNamed is the kind of that name; the zero value if there is none.
func DatasetNamed(name string) DatasetKind {
	for _, k := range datasetKinds() {
		if k.Name == name {
			return k
		}
	}
	return DatasetKind{}
}

// DatasetsWith lists the kinds that know a key.
func DatasetsWith(key string) string {
	var names []string
	for _, k := range datasetKinds() {
		if slices.Contains(k.Keys, key) {
			names = append(names, k.Name)
		}
	}
	return strings.Join(names, ", ")
}

// Dataset are the keys of dataset:.
func Dataset() schema.Block[scenarios.Dataset] {
	return schema.Block[scenarios.Dataset]{
		Name: "under dataset:", Doc: "Source of the prompts and their lengths.",
		Example: "\nkind: random\nseed: 0\ntokens: ids\nvocab-size: 32000\nrange-ratio: 0.1\n",
		Fields:  slices.Concat(sourceFields(), ShapeFields()),
	}
}

// sourceFields say where prompts come from.
func sourceFields() []schema.Field[scenarios.Dataset] {
	return []schema.Field[scenarios.Dataset]{
		schema.EnumKey("kind", "Generated: random (text or token ids), random_mm (with images), random_rerank "+
			"(queries with documents), random_audio (tones to be transcribed), prefix_repetition "+
			"and shared_prefix (groups with a common beginning), conversation (several turns). From a file: "+
			"sharegpt, jsonl and custom (one prompt per line), tok_inputs (token ids, sent unchanged), audio "+
			"(WAV files), hf (parquet, JSON lines or JSON), sonnet, text (cut to length), burstgpt and "+
			"trace (lengths and times of recorded traffic), sessions (recorded requests that wait for each "+
			"other's answers), frozen (output of bench dataset build).",
			datasetKindNames(), func(d *scenarios.Dataset) *string { return &d.Kind }).Or("random"),
		schema.TextKey("path", "File to read, for the kinds that read one; relative to the scenario file.",
			func(d *scenarios.Dataset) *string { return &d.Path }),
		schema.TextKey("tokenizer", "A tokenizer.json, its folder, or a GGUF file, relative to the scenario file. "+
			"It generates and counts prompts, and counts the answers' text.",
			func(d *scenarios.Dataset) *string { return &d.Tokenizer }).DefaultNote("the server's own"),
		schema.WholeKey("seed", "Seed of lengths, contents and selection.", schema.NotNegative(),
			func(d *scenarios.Dataset) *uint64 { return &d.Seed }).Or("0"),
		schema.FlagKey("vary", "Use different prompts for each load point and repeat, so that none is in a prefix "+
			"cache. Load points that each get a new server (restart: point or step) share their prompts, and so "+
			"do all steps under compat.",
			func(d *scenarios.Dataset) *bool { return &d.Vary }).Or("true"),
	}
}

// ShapeFields are the keys of dataset: that only some kinds know.
func ShapeFields() []schema.Field[scenarios.Dataset] {
	fields := []schema.Field[scenarios.Dataset]{
		schema.FreeKey("tokens", "Send prompts as text or as token ids.", schema.EnumOf("text", "ids"),
			readTokens).Or("text"),
		schema.WholeKey("vocab-size", "Upper bound of random token ids.", schema.Between(1, schema.MaxCount),
			func(d *scenarios.Dataset) *int { return &d.VocabSize }).DefaultNote("the tokenizer's"),
		schema.NumberKey("range-ratio", "Lengths are drawn from l(1-r) to l(1+r).", schema.Limits{Max: 1, Below: true},
			func(d *scenarios.Dataset) *float64 { return &d.RangeRatio }).Or("0"),
		maybeNumber("output-range-ratio", "Range-ratio of the answers' lengths.", schema.Limits{Max: 1, Below: true},
			func(d *scenarios.Dataset) **float64 { return &d.OutputRangeRatio }).
			DefaultNote("range-ratio"),
		schema.WholeKey("prefix-len", "Number of tokens that all prompts, or those of a group, have in common.",
			schema.Between(0, schema.MaxCount), func(d *scenarios.Dataset) *int { return &d.PrefixLen }).
			DefaultNote("0; prefix_repetition: 256, sonnet: 200"),
		schema.WholeKey("suffix-len", "Number of tokens after the prefix; conversation: of each further turn.",
			schema.Between(1, schema.MaxCount), func(d *scenarios.Dataset) *int { return &d.SuffixLen }).
			DefaultNote("256; conversation: input-len"),
		schema.WholeKey("num-prefixes", "Number of different prefixes.", schema.Between(1, schema.MaxCount),
			func(d *scenarios.Dataset) *int { return &d.NumPrefixes }).DefaultNote("10; shared_prefix: 1"),
		schema.WholeKey("batch-size", "Texts of one request, for endpoint embeddings; documents of one query, for "+
			"rerank and score.", schema.Between(1, 10_000),
			func(d *scenarios.Dataset) *int { return &d.BatchSize }).Or("1"),
		schema.FlagKey("shuffle", "Shuffle the prompts by seed; burstgpt: draw a sample by seed, without its "+
			"times.",
			func(d *scenarios.Dataset) *bool { return &d.Shuffle }).DefaultNote("true for sharegpt, custom and hf, " +
			"else false"),
		schema.FlagKey("oversample", "Repeat prompts if the file has too few; otherwise send fewer.",
			func(d *scenarios.Dataset) *bool { return &d.Oversample }).Or("true"),
		schema.WholeKey("turns", "User turns in each conversation.", schema.Between(1, schema.MaxCount),
			func(d *scenarios.Dataset) *int { return &d.Turns }).Or("1"),
		schema.WholeKey("sub-agents", "Number of further conversations that each conversation starts after its first "+
			"turn, with turns like its own; its last turn waits for them.", schema.Between(0, 100),
			func(d *scenarios.Dataset) *int { return &d.SubAgents }).Or("0"),
		schema.BlockKey("images", "Images that go with each prompt.", Images(),
			func(d *scenarios.Dataset) *scenarios.Images { return &d.Images }),
		schema.DurationKey("audio-len", "Length of a file; range-ratio draws others around it.",
			func(d *scenarios.Dataset) *time.Duration { return &d.AudioLen }).DefaultNote("none: it must be given"),
		schema.TextKey("subset", "hf: folder below path. burstgpt: model whose rows are used.",
			func(d *scenarios.Dataset) *string { return &d.Subset }).DefaultNote("all; burstgpt: GPT-4"),
		schema.TextKey("field", "Column with the prompts.",
			func(d *scenarios.Dataset) *string { return &d.Field }).DefaultNote("found by its name; tok_inputs: " +
			"tok_inputs"),
		schema.WholeKey("template-tokens", "Tokens that the model's chat template adds.",
			schema.Between(0, schema.MaxCount), func(d *scenarios.Dataset) *int { return &d.TemplateTokens }).Or("0"),
		schema.WholeKey("block-len", "Number of tokens in a hashed block.", schema.Between(1, schema.MaxCount),
			func(d *scenarios.Dataset) *int { return &d.BlockLen }).DefaultNote("found from the lengths"),
		schema.DurationKey("time-unit", "Unit of the time stamps.",
			func(d *scenarios.Dataset) *time.Duration { return &d.TimeUnit }).
			DefaultNote("found from the block length"),
		schema.DurationKey("max-wait", "Longest wait between the requests of a session.",
			func(d *scenarios.Dataset) *time.Duration { return &d.MaxWait }).DefaultNote("as recorded"),
	}

	for i := range fields {
		fields[i].Doc = DatasetsWith(fields[i].Key) + ": " + strings.ToLower(fields[i].Doc[:1]) + fields[i].Doc[1:]
	}

	return fields
}

// Images are the keys of images:.
func Images() schema.Block[scenarios.Images] {
	return schema.Block[scenarios.Images]{
		Name: "under images:", Doc: "Random images, as data URLs.", Example: "\nper-request: 2\nsizes: [512x512, " +
			"1280x720]\n",
		Fields: []schema.Field[scenarios.Images]{
			schema.WholeKey("per-request", "Images per prompt.", schema.Between(1, 100),
				func(i *scenarios.Images) *int { return &i.PerRequest }).Or("1"),
			schema.FreeKey("sizes", "Sizes to draw from with equal probability, WIDTHxHEIGHT.",
				schema.Texts(), readSizes).DefaultNote("256x256 and 1280x720"),
			schema.EnumKey("format", "Format of the files.", []string{"jpeg", "png"},
				func(i *scenarios.Images) *string { return &i.Format }).Or("jpeg"),
			schema.WholeKey("quality", "Quality of JPEG files.", schema.Between(1, 100),
				func(i *scenarios.Images) *int { return &i.Quality }).Or("75"),
		},
	}
}

func readSizes(r *schema.Reader, n *schema.Node, i *scenarios.Images) {
	if n.Kind != schema.List || len(n.Items) == 0 {
		r.Wrong(n, schema.Texts())
		return
	}

	for _, it := range n.Items {
		size, ok := scenarios.ParseImageSize(it.Text)
		if !ok || it.Kind != schema.Text {
			if it.Kind != schema.Broken {
				r.Fail(it.Pos, "size %s: expected WIDTHxHEIGHT in pixels, such as 512x512", it.Shown())
			}
			continue
		}
		i.Sizes = append(i.Sizes, size)
	}
}

func readTokens(r *schema.Reader, n *schema.Node, d *scenarios.Dataset) {
	if v, ok := r.Enum(n, schema.EnumOf("text", "ids")); ok {
		d.TokenIDs = v == "ids"
	}
}
