package scenarios

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
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
		{name: "random", input: must, output: must, random: true, keys: slices.Concat(ids, ratios, []string{"prefix-len"})},
		{name: "random_mm", input: must, output: must, random: true, keys: slices.Concat(ratios, []string{"prefix-len", "images"})},
		{name: "sharegpt", path: true, input: never, shuffled: true, keys: slices.Concat(file, []string{"turns"})},
		{name: "jsonl", path: true, input: never, keys: file},
		{name: "custom", path: true, input: never, shuffled: true, keys: file},
		{name: "tok_inputs", path: true, input: never, output: must, keys: slices.Concat(file, []string{"field"})},
		{name: "sonnet", path: true, keys: []string{"prefix-len", "template-tokens"}},
		{name: "prefix_repetition", input: never, output: must, random: true, keys: slices.Concat(ids, []string{"prefix-len", "suffix-len", "num-prefixes"})},
		{name: "burstgpt", path: true, input: never, output: never, random: true, keys: slices.Concat(ids, []string{"subset", "shuffle"})},
		{name: "trace", path: true, input: never, output: never, random: true, keys: slices.Concat(ids, []string{"block-len", "time-unit"})},
		{name: "hf", path: true, input: never, shuffled: true, keys: slices.Concat(file, []string{"subset", "field", "turns"})},
		{name: "text", path: true, input: must, output: must, keys: slices.Concat(ratios, []string{"shuffle"})},
		{name: "shared_prefix", input: must, output: must, random: true, keys: slices.Concat(ids, ratios, []string{"prefix-len", "num-prefixes", "shuffle"})},
		{name: "conversation", input: must, output: must, random: true, keys: slices.Concat(ratios, []string{"prefix-len", "suffix-len", "turns"})},
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

func datasetBlock() block[Dataset] {
	return block[Dataset]{
		name: "under dataset:", doc: "Where prompts and their lengths come from.",
		example: "\nkind: random\nseed: 0\ntokens: ids\nvocab-size: 32000\nrange-ratio: 0.1\n",
		fields:  slices.Concat(sourceFields(), shapeFields()),
	}
}

// sourceFields say where prompts come from.
func sourceFields() []field[Dataset] {
	return []field[Dataset]{
		enumKey("kind", "Made up: random text or token ids; random_mm with images; prefix_repetition and shared_prefix: groups that begin alike; conversation: "+
			"several turns. From a file: sharegpt, jsonl and custom (one prompt a line), tok_inputs (token ids as they stand), hf (parquet, JSON lines or JSON), sonnet, text cut to length, "+
			"burstgpt and trace (lengths and times of recorded traffic), frozen (what bench dataset build wrote).",
			datasetKindNames(), func(d *Dataset) *string { return &d.Kind }).or("random"),
		textKey("path", "File of the kinds that read one, relative to the scenario file.", func(d *Dataset) *string { return &d.Path }),
		textKey("tokenizer", "tokenizer.json, its folder, or a GGUF file, relative to the scenario file: counts and makes prompts, and counts the answers' text.",
			func(d *Dataset) *string { return &d.Tokenizer }).elseNote("the server's own"),
		wholeKey("seed", "Of lengths, contents and choice.", notNegative(), func(d *Dataset) *uint64 { return &d.Seed }).or("0"),
		flagKey("vary", "Other prompts for each point and repeat, so that none is warm in a prefix cache.",
			func(d *Dataset) *bool { return &d.Vary }).or("true"),
	}
}

// shapeFields are those that only some kinds know.
func shapeFields() []field[Dataset] {
	fields := []field[Dataset]{
		freeKey("tokens", "Send prompts as text or as token ids.", enumOf("text", "ids"), readTokens).or("text"),
		wholeKey("vocab-size", "With token ids: ids are below it.", between(1, maxCount), func(d *Dataset) *int { return &d.VocabSize }).elseNote("the tokenizer's"),
		numberKey("range-ratio", "Lengths from l(1-r) to l(1+r).", limits{max: 1, below: true}, func(d *Dataset) *float64 { return &d.RangeRatio }).or("0"),
		maybeNumber("output-range-ratio", "The same for the answers.", limits{max: 1, below: true}, func(d *Dataset) **float64 { return &d.OutputRangeRatio }).
			elseNote("range-ratio"),
		wholeKey("prefix-len", "Tokens that all prompts, or those of a group, share.", between(0, maxCount), func(d *Dataset) *int { return &d.PrefixLen }).
			elseNote("0; prefix_repetition: 256, sonnet: 200"),
		wholeKey("suffix-len", "Tokens after the prefix; conversation: of each further turn.", between(1, maxCount), func(d *Dataset) *int { return &d.SuffixLen }).elseNote("256; conversation: input-len"),
		wholeKey("num-prefixes", "Different prefixes.", between(1, maxCount), func(d *Dataset) *int { return &d.NumPrefixes }).elseNote("10; shared_prefix: 1"),
		flagKey("shuffle", "In an order made by seed; burstgpt: a sample by seed, without its times.", func(d *Dataset) *bool { return &d.Shuffle }).elseNote("true for sharegpt, custom and hf, else false"),
		flagKey("oversample", "Take prompts again where the file has too few; else send fewer.", func(d *Dataset) *bool { return &d.Oversample }).or("true"),
		wholeKey("turns", "Turns of the user in each conversation.", between(1, maxCount), func(d *Dataset) *int { return &d.Turns }).or("1"),
		blockKey("images", "Images that go with each prompt.", imagesBlock(), func(d *Dataset) *Images { return &d.Images }),
		textKey("subset", "hf: folder below path. burstgpt: model whose rows are used.", func(d *Dataset) *string { return &d.Subset }).elseNote("all; burstgpt: GPT-4"),
		textKey("field", "Column to take prompts from.", func(d *Dataset) *string { return &d.Field }).elseNote("found by its name; tok_inputs: tok_inputs"),
		wholeKey("template-tokens", "Tokens that the model's chat template adds.", between(0, maxCount), func(d *Dataset) *int { return &d.TemplateTokens }).or("0"),
		wholeKey("block-len", "Tokens of a hashed block.", between(1, maxCount), func(d *Dataset) *int { return &d.BlockLen }).elseNote("found from the lengths"),
		durationKey("time-unit", "Unit of the time stamps.", func(d *Dataset) *time.Duration { return &d.TimeUnit }).elseNote("found from the block length"),
	}
	for i := range fields {
		fields[i].doc = usersOf(fields[i].key) + ": " + strings.ToLower(fields[i].doc[:1]) + fields[i].doc[1:]
	}
	return fields
}

func imagesBlock() block[Images] {
	return block[Images]{
		name: "under images:", doc: "Random images, as data URLs.", example: "\nper-request: 2\nsizes: [512x512, 1280x720]\n",
		fields: []field[Images]{
			wholeKey("per-request", "Images a prompt.", between(1, 100), func(i *Images) *int { return &i.PerRequest }).or("1"),
			freeKey("sizes", "Sizes to draw from, WIDTHxHEIGHT, all alike often.", listOf(simple(textShape)), readSizes).elseNote("256x256 and 1280x720"),
			enumKey("format", "Format of the files.", []string{"jpeg", "png"}, func(i *Images) *string { return &i.Format }).or("jpeg"),
			wholeKey("quality", "Of jpeg files.", between(1, 100), func(i *Images) *int { return &i.Quality }).or("75"),
		},
	}
}

var imageSize = regexp.MustCompile(`^([1-9][0-9]{0,3})x([1-9][0-9]{0,3})$`)

func readSizes(r *reader, n *node, i *Images) {
	if n.kind != list || len(n.items) == 0 {
		r.wrong(n, listOf(simple(textShape)))
		return
	}
	for _, it := range n.items {
		m := imageSize.FindStringSubmatch(it.text)
		if m == nil || it.kind != text {
			if it.kind != broken {
				r.fail(it.pos, "size %s: expected WIDTHxHEIGHT in pixels, such as 512x512", it.shown())
			}
			continue
		}
		width, _ := strconv.Atoi(m[1]) // digits, see imageSize
		height, _ := strconv.Atoi(m[2])
		i.Sizes = append(i.Sizes, ImageSize{width, height})
	}
}

func readTokens(r *reader, n *node, d *Dataset) {
	if v, ok := r.enum(n, enumOf("text", "ids")); ok {
		d.TokenIDs = v == "ids"
	}
}
