package parse

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/benchrig/bench/scenarios"
	"github.com/benchrig/bench/scenarios/schema"
)

// datasetKind says what one kind of dataset needs and knows.
type datasetKind struct {
	name          string
	path          bool // reads a file
	input, output use  // of input-len and output-len
	random        bool // answers to nonsense: ignore-eos is on by default
	shuffled      bool // shuffle is on by default
	keys          []string
}

// use says whether a key must, may or must not be given.
type use int

const (
	may use = iota
	must
	never
)

func datasetKinds() []datasetKind {
	ids := []string{"tokens", "vocab-size"}
	ratios := []string{"range-ratio", "output-range-ratio"}
	file := []string{"shuffle", "oversample"}

	return []datasetKind{
		{
			name: "random", input: must, output: must, random: true,
			keys: slices.Concat(ids, ratios, []string{"prefix-len"}),
		},
		{
			name: "random_mm", input: must, output: must, random: true,
			keys: slices.Concat(ratios, []string{"prefix-len", "images"}),
		},
		{name: "sharegpt", path: true, input: never, shuffled: true, keys: slices.Concat(file, []string{"turns"})},
		{name: "jsonl", path: true, input: never, keys: file},
		{name: "custom", path: true, input: never, shuffled: true, keys: file},
		{name: "tok_inputs", path: true, input: never, output: must, keys: slices.Concat(file, []string{"field"})},
		{name: "sonnet", path: true, keys: []string{"prefix-len", "template-tokens"}},
		{
			name: "prefix_repetition", input: never, output: must, random: true,
			keys: slices.Concat(ids, []string{"prefix-len", "suffix-len", "num-prefixes"}),
		},
		{
			name: "burstgpt", path: true, input: never, output: never, random: true,
			keys: slices.Concat(ids, []string{"subset", "shuffle"}),
		},
		{
			name: "trace", path: true, input: never, output: never, random: true,
			keys: slices.Concat(ids, []string{"block-len", "time-unit"}),
		},
		{
			name: "hf", path: true, input: never, shuffled: true,
			keys: slices.Concat(file, []string{"subset", "field", "turns"}),
		},
		{name: "text", path: true, input: must, output: must, keys: slices.Concat(ratios, []string{"shuffle"})},
		{
			name: "shared_prefix", input: must, output: must, random: true,
			keys: slices.Concat(ids, ratios, []string{"prefix-len", "num-prefixes", "shuffle"}),
		},
		{
			name: "conversation", input: must, output: must, random: true,
			keys: slices.Concat(ratios, []string{"prefix-len", "suffix-len", "turns"}),
		},
		{name: "frozen", path: true, input: never, keys: []string{"oversample"}},
	}
}

func datasetKindNames() []string {
	var names []string
	for _, k := range datasetKinds() {
		names = append(names, k.name)
	}
	return names
}

func kindNamed(name string) datasetKind {
	for _, k := range datasetKinds() {
		if k.name == name {
			return k
		}
	}
	return datasetKind{}
}

// usersOf lists the kinds that know a key.
func usersOf(key string) string {
	var names []string
	for _, k := range datasetKinds() {
		if slices.Contains(k.keys, key) {
			names = append(names, k.name)
		}
	}
	return strings.Join(names, ", ")
}

func datasetBlock() schema.Block[scenarios.Dataset] {
	return schema.Block[scenarios.Dataset]{
		Name: "under dataset:", Doc: "Source of the prompts and their lengths.",
		Example: "\nkind: random\nseed: 0\ntokens: ids\nvocab-size: 32000\nrange-ratio: 0.1\n",
		Fields:  slices.Concat(sourceFields(), shapeFields()),
	}
}

// sourceFields say where prompts come from.
func sourceFields() []schema.Field[scenarios.Dataset] {
	return []schema.Field[scenarios.Dataset]{
		schema.EnumKey("kind", "Generated: random (text or token ids), random_mm (with images), prefix_repetition "+
			"and shared_prefix (groups with a common beginning), conversation (several turns). From a file: "+
			"sharegpt, jsonl and custom (one prompt per line), tok_inputs (token ids, sent unchanged), hf "+
			"(parquet, JSON lines or JSON), sonnet, text (cut to length), burstgpt and trace (lengths and times "+
			"of recorded traffic), frozen (output of bench dataset build).",
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

// shapeFields are those that only some kinds know.
func shapeFields() []schema.Field[scenarios.Dataset] {
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
		schema.FlagKey("shuffle", "Shuffle the prompts by seed; burstgpt: draw a sample by seed, without its "+
			"times.",
			func(d *scenarios.Dataset) *bool { return &d.Shuffle }).DefaultNote("true for sharegpt, custom and hf, " +
			"else false"),
		schema.FlagKey("oversample", "Repeat prompts if the file has too few; otherwise send fewer.",
			func(d *scenarios.Dataset) *bool { return &d.Oversample }).Or("true"),
		schema.WholeKey("turns", "User turns in each conversation.", schema.Between(1, schema.MaxCount),
			func(d *scenarios.Dataset) *int { return &d.Turns }).Or("1"),
		schema.BlockKey("images", "Images that go with each prompt.", imagesBlock(),
			func(d *scenarios.Dataset) *scenarios.Images { return &d.Images }),
		schema.TextKey("subset", "hf: folder below path. burstgpt: model whose rows are used.",
			func(d *scenarios.Dataset) *string { return &d.Subset }).DefaultNote("all; burstgpt: GPT-4"),
		schema.TextKey("field", "Column that holds the prompts.",
			func(d *scenarios.Dataset) *string { return &d.Field }).DefaultNote("found by its name; tok_inputs: " +
			"tok_inputs"),
		schema.WholeKey("template-tokens", "Tokens that the model's chat template adds.",
			schema.Between(0, schema.MaxCount), func(d *scenarios.Dataset) *int { return &d.TemplateTokens }).Or("0"),
		schema.WholeKey("block-len", "Number of tokens in a hashed block.", schema.Between(1, schema.MaxCount),
			func(d *scenarios.Dataset) *int { return &d.BlockLen }).DefaultNote("found from the lengths"),
		schema.DurationKey("time-unit", "Unit of the time stamps.",
			func(d *scenarios.Dataset) *time.Duration { return &d.TimeUnit }).
			DefaultNote("found from the block length"),
	}

	for i := range fields {
		fields[i].Doc = usersOf(fields[i].Key) + ": " + strings.ToLower(fields[i].Doc[:1]) + fields[i].Doc[1:]
	}

	return fields
}

func imagesBlock() schema.Block[scenarios.Images] {
	return schema.Block[scenarios.Images]{
		Name: "under images:", Doc: "Random images, as data URLs.", Example: "\nper-request: 2\nsizes: [512x512, " +
			"1280x720]\n",
		Fields: []schema.Field[scenarios.Images]{
			schema.WholeKey("per-request", "Images per prompt.", schema.Between(1, 100),
				func(i *scenarios.Images) *int { return &i.PerRequest }).Or("1"),
			schema.FreeKey("sizes", "Sizes to draw from with equal probability, WIDTHxHEIGHT.",
				schema.ListOf(schema.Simple(schema.TextShape)), readSizes).DefaultNote("256x256 and 1280x720"),
			schema.EnumKey("format", "Format of the files.", []string{"jpeg", "png"},
				func(i *scenarios.Images) *string { return &i.Format }).Or("jpeg"),
			schema.WholeKey("quality", "Quality of JPEG files.", schema.Between(1, 100),
				func(i *scenarios.Images) *int { return &i.Quality }).Or("75"),
		},
	}
}

var imageSize = regexp.MustCompile(`^([1-9][0-9]{0,3})x([1-9][0-9]{0,3})$`)

func readSizes(r *schema.Reader, n *schema.Node, i *scenarios.Images) {
	if n.Kind != schema.List || len(n.Items) == 0 {
		r.Wrong(n, schema.ListOf(schema.Simple(schema.TextShape)))
		return
	}

	for _, it := range n.Items {
		m := imageSize.FindStringSubmatch(it.Text)
		if m == nil || it.Kind != schema.Text {
			if it.Kind != schema.Broken {
				r.Fail(it.Pos, "size %s: expected WIDTHxHEIGHT in pixels, such as 512x512", it.Shown())
			}
			continue
		}
		width, _ := strconv.Atoi(m[1]) // digits, see imageSize
		height, _ := strconv.Atoi(m[2])
		i.Sizes = append(i.Sizes, scenarios.ImageSize{Width: width, Height: height})
	}
}

func readTokens(r *schema.Reader, n *schema.Node, d *scenarios.Dataset) {
	if v, ok := r.Enum(n, schema.EnumOf("text", "ids")); ok {
		d.TokenIDs = v == "ids"
	}
}
