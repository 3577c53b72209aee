package prng_test

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/benchrig/bench/dataset/prng"
)

func load(t *testing.T, name string, into any) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, into); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

type randomCase struct {
	Seed       uint64
	N          int
	InputLen   int       `json:"input_len"`
	OutputLen  int       `json:"output_len"`
	RangeRatio any       `json:"range_ratio"` // a number; an object in the newest generation
	PrefixLen  int       `json:"prefix_len"`
	InputLow   int       `json:"input_low"`
	InputHigh  int       `json:"input_high"`
	OutputLow  int       `json:"output_low"`
	OutputHigh int       `json:"output_high"`
	Prefix     []int     `json:"prefix"`
	InputLens  []int     `json:"input_lens"`
	OutputLens []int     `json:"output_lens"`
	Offsets    []int     `json:"offsets"`
	Next       []int     `json:"next"`
	Intervals  []float64 `json:"intervals_rate10"`
	Vocab      int
}

type streams struct {
	RandomNewest []randomCase `json:"random_newest"`
	RandomV06    []randomCase `json:"random_v06"`
	RandomV10    []randomCase `json:"random_v10"`
	ShareGPT     []struct {
		Seed            uint64
		N               int
		Shuffle, Choice []int
	}
	Sonnet []struct {
		Seed    uint64
		N       int
		Choices [][]int
	}
	Repetition []struct {
		Seed                 uint64
		Vocab                int
		NumPrefixes          int `json:"num_prefixes"`
		PrefixLen, SuffixLen int
		PerPrefix            int `json:"prompts_per_prefix"`
		Draws                [][]int
		Order                []int
	} `json:"prefix_repetition"`
	BurstGPT []struct {
		Seed      uint32
		Total     int   `json:"N"`
		Few       int   `json:"n"`
		NoReplace []int `json:"no_replace"`
		Replace   []int
	}
	Arrivals []struct {
		Seed             uint32
		Rate, Burstiness float64
		Raw              []float64
	} `json:"arrival_newest"`
}

func loadStreams(t *testing.T) streams {
	t.Helper()
	var s streams
	load(t, "streams.json", &s)
	return s
}

func checkInts(t *testing.T, what string, got, want []int) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s = %v, want %v", what, got, want)
	}
}

func checkFloats(t *testing.T, what string, got, want []float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d values, want %d", what, len(got), len(want))
	}
	for i := range got {
		if math.Abs(got[i]-want[i]) > 1e-12*math.Abs(want[i]) {
			t.Errorf("%s[%d] = %v, want %v", what, i, got[i], want[i])
		}
	}
}

func TestShuffleAndChoice(t *testing.T) {
	for _, c := range loadStreams(t).ShareGPT {
		list := make([]int, c.N)
		for i := range list {
			list[i] = i
		}
		prng.NewPython(c.Seed).Shuffle(c.N, func(i, j int) { list[i], list[j] = list[j], list[i] })
		checkInts(t, "Shuffle", list[:len(c.Shuffle)], c.Shuffle)

		var picked []int
		for p := prng.NewPython(c.Seed); len(picked) < len(c.Choice); {
			picked = append(picked, p.Choice(c.N))
		}
		checkInts(t, "Choice", picked, c.Choice)
	}
}

func TestChoices(t *testing.T) {
	for _, c := range loadStreams(t).Sonnet {
		p := prng.NewPython(c.Seed)
		for _, want := range c.Choices {
			checkInts(t, "Choices", p.Choices(c.N, len(want)), want)
		}
	}
}

// The figures are CPython 3.11's.
func TestPythonWideSeedsAndRanges(t *testing.T) {
	for _, c := range []struct {
		seed          uint64
		floats        []float64
		below, beyond []int
		word, huge    int
	}{
		{
			0,
			[]float64{0.8444218515250481, 0.7579544029403025},
			[]int{87705687125, 1067347797602, 788025983492},
			[]int{3900315155, 2167613558},
			1210484339, 874659381428118137,
		},
		{
			1<<40 + 5,
			[]float64{0.5043802970418443, 0.2686044399723282},
			[]int{64105765088, 102613415019, 172509342378},
			[]int{574919823, 2949429290},
			3479373706, 1117107231469463031,
		},
		{
			1<<64 - 1,
			[]float64{0.021825695401270107, 0.3380953268613758},
			[]int{1001637773393, 208800376259, 119153246635},
			[]int{3165929296, 5711515419},
			1125832446, 338330944558886035,
		},
	} {
		p := prng.NewPython(c.seed)
		for i, f := range c.floats {
			// random.choices multiplies random.random, which has 53 bits
			want := int(f * (1 << 53))
			if got := p.Choices(1<<53, 1)[0]; got != want {
				t.Errorf("seed %d: random %d is %d of 2**53, want %d", c.seed, i, got, want)
			}
		}
		checkInts(t, "Below(1<<40)", []int{p.Below(1 << 40), p.Below(1 << 40), p.Below(1 << 40)}, c.below)
		checkInts(t, "Below(1<<33+1)", []int{p.Below(1<<33 + 1), p.Below(1<<33 + 1)}, c.beyond)
		checkInts(t, "Below(1<<32)", []int{p.Below(1 << 32)}, []int{c.word})
		checkInts(t, "Below(1<<62+12345)", []int{p.Below(1<<62 + 12345)}, []int{c.huge})
	}
}

func TestPCG64Streams(t *testing.T) {
	for _, c := range loadStreams(t).RandomNewest {
		p := prng.NewPCG64(c.Seed)
		checkInts(t, "input lengths", p.Integers(c.InputLow, c.InputHigh+1, c.N), c.InputLens)
		checkInts(t, "output lengths", p.Integers(c.OutputLow, c.OutputHigh+1, c.N), c.OutputLens)
		checkInts(t, "offsets", p.Integers(0, c.Vocab, c.N), c.Offsets)
		checkInts(t, "prefix", p.Integers(0, c.Vocab, c.PrefixLen), c.Prefix)
		checkInts(t, "next", p.Integers(0, c.Vocab, len(c.Next)), c.Next)
	}
}

// The figures are numpy 1.24's.
func TestPCG64WideSeedsAndRanges(t *testing.T) {
	for _, c := range []struct {
		seed              uint64
		full, wide, small []int
	}{
		{
			0,
			[]int{3653403231, 2735729615, 2195314465},
			[]int{579362555, 87989969, 1960127682},
			[]int{1, 1, 2, 2, 1, 1, 1, 2},
		},
		{
			1<<40 + 5,
			[]int{60812779, 20355823, 1932608278},
			[]int{800119298, 1966563137, 1261065593},
			[]int{2, 0, 0, 1, 2, 2, 0, 1},
		},
		{
			1<<64 - 1,
			[]int{2353485455, 2920692346, 4080542553},
			[]int{1815293183, 769747237, 15897993},
			[]int{0, 2, 1, 0, 0, 0, 2, 1},
		},
	} {
		p := prng.NewPCG64(c.seed)
		checkInts(t, "Integers(0, 1<<32)", p.Integers(0, 1<<32, 3), c.full)
		checkInts(t, "Integers(-3, 1<<31+7)", p.Integers(-3, 1<<31+7, 3), c.wide)
		checkInts(t, "Integers(9, 10)", p.Integers(9, 10, 2), []int{9, 9})
		checkInts(t, "Integers(0, 3)", p.Integers(0, 3, 8), c.small)
	}
}

// vLLM 0.6 drew the prompts and then the gaps from one legacy generator.
func TestNumpyLegacyRandomDataset(t *testing.T) {
	for _, c := range loadStreams(t).RandomV06 {
		ratio := c.RangeRatio.(float64)
		low := func(length int) int { return int(float64(length) * ratio) }
		n := prng.NewNumpy(c.Seed)
		checkInts(t, "prefix", n.RandInt(0, c.Vocab, c.PrefixLen), c.Prefix)
		checkInts(t, "input lengths", n.RandInt(low(c.InputLen), c.InputLen+1, c.N), c.InputLens)
		checkInts(t, "output lengths", n.RandInt(low(c.OutputLen), c.OutputLen+1, c.N), c.OutputLens)
		checkInts(t, "offsets", n.RandInt(0, c.Vocab, c.N), c.Offsets)
		checkFloats(t, "gaps", gammas(n, 1, 0.1, len(c.Intervals)), c.Intervals)
	}
	for _, c := range loadStreams(t).RandomV10 {
		ratio := c.RangeRatio.(float64)
		draw := func(n *prng.Numpy, length int) []int {
			low, high := float64(length)*(1-ratio), float64(length)*(1+ratio)
			return n.RandInt(int(low), int(high)+1, c.N)
		}
		n := prng.NewNumpy(c.Seed)
		checkInts(t, "prefix", n.RandInt(0, c.Vocab, c.PrefixLen), c.Prefix)
		checkInts(t, "input lengths", draw(n, c.InputLen), c.InputLens)
		checkInts(t, "output lengths", draw(n, c.OutputLen), c.OutputLens)
		checkInts(t, "offsets", n.RandInt(0, c.Vocab, c.N), c.Offsets)
		checkFloats(t, "gaps", gammas(n, 1, 0.1, len(c.Intervals)), c.Intervals)
	}
}

func gammas(n *prng.Numpy, shape, scale float64, count int) []float64 {
	out := make([]float64, count)
	for i := range out {
		out[i] = n.Gamma(shape, scale)
	}
	return out
}

func TestGamma(t *testing.T) {
	for _, c := range loadStreams(t).Arrivals {
		n := prng.NewNumpy(uint64(c.Seed))
		checkFloats(t, "Gamma", gammas(n, c.Burstiness, 1/(c.Rate*c.Burstiness), len(c.Raw)), c.Raw)
	}
	if got := prng.NewNumpy(0).Gamma(0, 3); got != 0 {
		t.Errorf("Gamma(0, 3) = %v, want 0", got)
	}
}

// Send times are the running sum of the gaps, stretched so that the last one
// falls at count/rate.
func TestArrivals(t *testing.T) {
	var file struct {
		Cases []struct {
			Seed       uint32
			Rates      []any     `json:"rates_rps"`
			Rate       any       `json:"request_rate"`
			Burstiness any       `json:"burstiness"`
			Ramp       string    `json:"ramp_up_strategy"`
			Times      []float64 `json:"send_time_s"`
		}
	}
	load(t, "arrivals-newest.json", &file)
	checked := 0
	for _, c := range file.Cases {
		rate, finite := c.Rate.(float64)
		shape, random := c.Burstiness.(float64)
		if !random || (!finite && c.Ramp == "") {
			continue // nothing is drawn
		}
		n, sum, got := prng.NewNumpy(uint64(c.Seed)), 0.0, []float64{}
		for _, r := range c.Rates {
			sum += n.Gamma(shape, 1/(r.(float64)*shape))
			got = append(got, sum)
		}
		if c.Ramp == "" {
			stretch := float64(len(got)) / rate / sum
			for i := range got {
				got[i] *= stretch
			}
		}
		checkFloats(t, "send times", got, c.Times)
		checked++
	}
	if checked < 8 {
		t.Errorf("%d cases checked, want at least 8", checked)
	}
}

// The figures are numpy 1.24's.
func TestNumpyLegacy(t *testing.T) {
	for _, c := range []struct {
		seed                uint32
		normals             []float64
		exponential         float64
		full, small, orders []int
		last                float64
	}{
		{
			0,
			[]float64{5.028104691935328, 2.3003144167344467, 3.4574759682114786, 5.981786398402916},
			1.6531454732864979,
			[]int{2774094096, 1650906861, 1879422751},
			[]int{7, 6, 8, 8},
			[]int{0, 3, 5, 1, 2, 4},
			0.5288949197529045,
		},
		{
			42,
			[]float64{2.4934283060224653, 1.2234713976576308, 2.795377076201385, 4.546059712816051},
			0.5088746113870388,
			[]int{669991373, 429389009, 249467205},
			[]int{7, 4, 3, 7},
			[]int{0, 5, 3, 1, 4, 2},
			0.0007787658410143283,
		},
		{
			1<<32 - 1,
			[]float64{2.7968173484613055, 2.838647061267632, -0.6610874454948985, 2.069002089597262},
			7.203077907280093,
			[]int{2378279345, 2804808786, 4228633906},
			[]int{6, 5, 9, 9},
			[]int{2, 5, 3, 0, 4, 1},
			0.4898871547605784,
		},
	} {
		n := prng.NewNumpy(uint64(c.seed))
		checkFloats(t, "Normal", []float64{n.Normal(1.5, 2), n.Normal(1.5, 2), n.Normal(1.5, 2), n.Normal(1.5, 2)},
			c.normals)
		checkFloats(t, "Exponential", []float64{n.Exponential(3)}, []float64{c.exponential})
		checkInts(t, "RandInt(-5, 1<<32-5)", n.RandInt(-5, 1<<32-5, 3), c.full)
		checkInts(t, "RandInt(7, 8)", n.RandInt(7, 8, 2), []int{7, 7})
		checkInts(t, "RandInt(0, 10)", n.RandInt(0, 10, 4), c.small)
		checkInts(t, "Permutation(6)", n.Permutation(6), c.orders)
		if got := n.Float64(); got != c.last {
			t.Errorf("seed %d: Float64 = %v, want %v", c.seed, got, c.last)
		}
	}
}

func TestPermutation(t *testing.T) {
	for _, c := range loadStreams(t).BurstGPT {
		checkInts(t, "Permutation", prng.NewNumpy(uint64(c.Seed)).Permutation(c.Total)[:c.Few], c.NoReplace)
		checkInts(t, "RandInt", prng.NewNumpy(uint64(c.Seed)).RandInt(0, c.Total, len(c.Replace)), c.Replace)
	}
	for _, c := range loadStreams(t).Repetition {
		n := prng.NewNumpy(c.Seed)
		for _, want := range c.Draws {
			checkInts(t, "RandInt", n.RandInt(0, c.Vocab, len(want)), want)
		}
		order := make([]int, len(c.Order))
		for i := range order {
			order[i] = i
		}
		prng.NewPython(c.Seed).Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		checkInts(t, "Shuffle", order, c.Order)
	}
}

func TestBadRangesPanic(t *testing.T) {
	for name, draw := range map[string]func(){
		"Below(0)":              func() { prng.NewPython(0).Below(0) },
		"RandInt(3, 3)":         func() { prng.NewNumpy(0).RandInt(3, 3, 1) },
		"Integers(4, 3)":        func() { prng.NewPCG64(0).Integers(4, 3, 1) },
		"Integers(0, 1<<32 +1)": func() { prng.NewPCG64(0).Integers(0, 1<<32+1, 1) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s did not panic", name)
				}
			}()
			draw()
		}()
	}
}
