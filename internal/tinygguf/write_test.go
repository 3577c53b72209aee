package tinygguf

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"math"
	"strings"
	"testing"
)

// parsed is what the mini reader of the tests finds in a file.
type parsed struct {
	fields  map[string]any
	tensors map[string]parsedTensor
	data    []byte
}

type parsedTensor struct {
	shape  []uint64
	kind   uint32
	offset uint64
}

// parser reads little-endian GGUF values; it panics at the end of the bytes.
type parser struct {
	b  []byte
	at int
}

func (p *parser) take(n int) []byte { p.at += n; return p.b[p.at-n : p.at] }
func (p *parser) u32() uint32       { return binary.LittleEndian.Uint32(p.take(4)) }
func (p *parser) u64() uint64       { return binary.LittleEndian.Uint64(p.take(8)) }
func (p *parser) str() string       { return string(p.take(int(p.u64()))) }

func (p *parser) value(kind uint32) any {
	switch kind {
	case 4:
		return p.u32()
	case 5:
		return int32(p.u32())
	case 6:
		return math.Float32frombits(p.u32())
	case 7:
		return p.take(1)[0] == 1
	case 8:
		return p.str()
	case 9:
		kind, list := p.u32(), []any{}
		for range p.u64() {
			list = append(list, p.value(kind))
		}
		return list
	}
	panic("unknown kind")
}

func parse(t *testing.T, file []byte) parsed {
	t.Helper()
	p := &parser{b: file}
	if magic, version := string(p.take(4)), p.u32(); magic != "GGUF" || version != 3 {
		t.Fatalf("file starts with %q version %d, want GGUF version 3", magic, version)
	}
	tensors, fields := p.u64(), p.u64()
	out := parsed{map[string]any{}, map[string]parsedTensor{}, nil}
	for range fields {
		key := p.str()
		out.fields[key] = p.value(p.u32())
	}
	for range tensors {
		name, found := p.str(), parsedTensor{}
		for range p.u32() {
			found.shape = append(found.shape, p.u64())
		}
		found.kind, found.offset = p.u32(), p.u64()
		out.tensors[name] = found
	}
	out.data = file[alignUp(p.at):]
	return out
}

func write(t *testing.T, o Options) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, o); err != nil {
		t.Fatalf("Write(%+v): %v", o, err)
	}
	return b.Bytes()
}

func TestStructure(t *testing.T) {
	bytesPerBlock := map[uint32]int{0: 128, 1: 64, 2: 18, 8: 34}
	for _, c := range []struct {
		kind     string
		number   uint32
		fileType uint32
	}{{"", 1, 1}, {"f32", 0, 0}, {"f16", 1, 1}, {"q8_0", 8, 7}, {"q4_0", 2, 2}} {
		t.Run("type "+c.kind, func(t *testing.T) {
			m := parse(t, write(t, Options{Type: c.kind, Embd: 64, FF: 96, Layers: 3}))
			if got := m.fields["general.file_type"]; got != c.fileType {
				t.Errorf("file type = %v, want %v", got, c.fileType)
			}
			if got, want := len(m.tensors), 3+3*9; got != want {
				t.Errorf("%d tensors, want %d", got, want)
			}
			parameters, end := 0, 0
			for name, x := range m.tensors {
				count := 1
				for _, n := range x.shape {
					count *= int(n)
				}
				parameters += count
				want := c.number
				if strings.HasSuffix(name, "norm.weight") {
					want = 0
				}
				if x.kind != want {
					t.Errorf("%s has type %d, want %d", name, x.kind, want)
				}
				if x.offset%32 != 0 {
					t.Errorf("%s starts at %d, want a multiple of 32", name, x.offset)
				}
				end = max(end, int(x.offset)+alignUp(count/32*bytesPerBlock[x.kind]))
			}
			if len(m.data) != end {
				t.Errorf("data has %d bytes, the tensors end at %d", len(m.data), end)
			}
			// two matrices of the vocabulary, 7 vectors, and 3 layers of 30720
			if want := 2*VocabSize*64 + 7*64 + 3*30720; parameters != want {
				t.Errorf("%d parameters, want %d", parameters, want)
			}
		})
	}
}

func TestVocabulary(t *testing.T) {
	m := parse(t, write(t, Options{}))
	tokens := m.fields["tokenizer.ggml.tokens"].([]any)
	seen := map[any]bool{}
	for _, token := range tokens {
		if seen[token] {
			t.Errorf("token %q comes twice", token)
		}
		seen[token] = true
	}
	for _, key := range []string{"tokens", "scores", "token_type"} {
		if got := len(m.fields["tokenizer.ggml."+key].([]any)); got != VocabSize {
			t.Errorf("%d %s, want %d", got, key, VocabSize)
		}
	}
	for word := range strings.FieldsSeq(wordList) {
		for end := 1; end <= len(word); end++ {
			if !seen["▁"+word[:end]] {
				t.Fatalf("no token %q, so %q is not reached by merges", word[:end], word)
			}
		}
	}
	if !seen["<unused0>"] {
		t.Errorf("the words fill the vocabulary to the brim: some may have been left out")
	}
}

// An answer must hold whole printable text only, and must not stop.
func TestBiases(t *testing.T) {
	v := newVocabulary()
	for _, stops := range []bool{false, true} {
		for id, bias := range v.biases(stops) {
			want := 0.0
			switch {
			case id == endID && stops:
				want = 6
			case v.kinds[id] != kindNormal:
				want = -60
			}
			if bias != want {
				t.Errorf("biases(%v)[%d] = %v, want %v", stops, id, bias, want)
			}
		}
	}
}

func TestSameOptionsSameBytes(t *testing.T) {
	sum := func(o Options) string {
		s := sha256.Sum256(write(t, o))
		return hex.EncodeToString(s[:8])
	}
	small := Options{Seed: 1, Embd: 32, FF: 32}
	first := sum(small)
	if again := sum(small); again != first {
		t.Errorf("second write = %s, want %s", again, first)
	}
	if other := sum(Options{Seed: 2, Embd: 32, FF: 32}); other == first {
		t.Errorf("seeds 1 and 2 give the same file")
	}
	if other := sum(Options{Seed: 1, Embd: 32, FF: 32, NaturalStops: true}); other == first {
		t.Errorf("NaturalStops changes nothing")
	}
	// Golden: a change here makes every stored result incomparable.
	for kind, want := range map[string]string{"f16": goldenF16, "q8_0": goldenQ8, "q4_0": goldenQ4} {
		if got := sum(Options{Type: kind}); got != want {
			t.Errorf("sha256 of the tiny %s model starts with %s, want %s", kind, got, want)
		}
	}
}

const (
	goldenF16 = "c5011758570927cf"
	goldenQ8  = "278d3a772d7cec71"
	goldenQ4  = "eff36c91637cb697"
)

// A draft model works only if its embedding agrees with its target's.
func TestModelsOfOneSeedShareDimensions(t *testing.T) {
	row := func(embd, n int) []float32 {
		m := parse(t, write(t, Options{Type: "f32", Embd: embd}))
		x := m.tensors["token_embd.weight"]
		out, scale := make([]float32, 32), float32(math.Sqrt(float64(embd)/32))
		for i := range out {
			at := int(x.offset) + 4*(n*embd+i)
			out[i] = math.Float32frombits(binary.LittleEndian.Uint32(m.data[at:])) / scale
		}
		return out
	}
	small, large := row(64, 500), row(128, 500)
	for i := range small {
		if math.Abs(float64(small[i]-large[i])) > 1e-6 {
			t.Errorf("dimension %d is %v with 64 and %v with 128", i, small[i], large[i])
		}
	}
}

func TestSizes(t *testing.T) {
	for name, millions := range map[string][2]float64{"tiny": {0.5, 0.7}, "small": {33, 36}} {
		o, err := Size(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := o.check(); err != nil {
			t.Errorf("Size(%q): %v", name, err)
		}
		count := 0.0
		for _, x := range tensors(o, float32Format(), make([]float64, VocabSize)) {
			count += float64(x.width*max(1, x.rows)) / 1e6
		}
		if count < millions[0] || count > millions[1] {
			t.Errorf("Size(%q) has %.2f million parameters, want %v", name, count, millions)
		}
	}
	if _, err := Size("huge"); err == nil || !strings.Contains(err.Error(), `"huge"`) {
		t.Errorf(`Size("huge") = %v, want an error that quotes it`, err)
	}
}

func TestBadOptions(t *testing.T) {
	for _, c := range []struct {
		o    Options
		want string
	}{
		{Options{Type: "q3_k"}, `type "q3_k"`},
		{Options{Embd: 100}, "embedding length 100"},
		{Options{FF: 33}, "feed-forward length 33"},
		{Options{Layers: -1}, "layers -1"},
		{Options{Heads: 3}, "3 heads"},
		{Options{Heads: 128}, "no even width"},
		{Options{KVHeads: 3}, "3 kv heads"},
		{Options{Context: -5}, "context length -5"},
	} {
		if err := Write(&bytes.Buffer{}, c.o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Write(%+v) = %v, want an error with %q", c.o, err, c.want)
		}
	}
}

// fullDisk takes some bytes and then fails.
type fullDisk struct{ room int }

var errFull = errors.New("no space left")

func (d *fullDisk) Write(b []byte) (int, error) {
	if d.room -= len(b); d.room < 0 {
		return 0, errFull
	}
	return len(b), nil
}

func TestWriteErrorsAreKept(t *testing.T) {
	for _, room := range []int{0, 300_000, 1_200_000} {
		if err := Write(&fullDisk{room}, Options{}); !errors.Is(err, errFull) {
			t.Errorf("Write to a disk with %d bytes = %v, want %v", room, err, errFull)
		}
	}
}
