package load

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrig/bench/load/dialect"
	"github.com/benchrig/bench/load/dialect/event"
	"github.com/benchrig/bench/load/spec"
	"github.com/benchrig/bench/load/wire"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/results/vllm"
)

// rawRead is one read of a stream: bytes, or the error that ends it.
type rawRead struct {
	at    time.Duration
	bytes string
	err   error
}

// rawReads hands reads out one by one, a large one in pieces with one stamp.
type rawReads struct {
	reads []rawRead
	at    time.Duration
}

func (r *rawReads) ReadStamped(p []byte) (int, time.Duration, error) {
	if len(r.reads) == 0 {
		return 0, r.at, io.EOF
	}
	next := &r.reads[0]
	r.at = next.at
	n := copy(p, next.bytes)
	next.bytes = next.bytes[n:]
	err := next.err
	if next.bytes == "" {
		r.reads = r.reads[1:]
	} else {
		err = nil
	}
	return n, r.at, err
}

// recordOf reads a stream as the client does.
func recordOf(t *testing.T, reads []rawRead, apiName string) results.Record {
	t.Helper()
	return readStream(t, reads, apiName, func(*answer) {})
}

// parsedRecordOf is recordOf with every byte shown to the parsers.
func parsedRecordOf(t *testing.T, reads []rawRead, apiName string) results.Record {
	t.Helper()
	return readStream(t, reads, apiName, func(a *answer) {
		a.compat.base = a.compat.mark()
		a.compat.start()
		a.compat.resumed = resumedMax
	})
}

func readStream(t *testing.T, reads []rawRead, apiName string, begun func(*answer)) results.Record {
	t.Helper()
	api, err := dialect.APINamed(apiName)
	if err != nil {
		t.Fatal(err)
	}
	var pool answerPool
	a := pool.get(8)
	w := &watch{cancel: func(error) {}}
	w.start(wire.StartClock(), 0)
	defer w.stop()
	a.begin(&rawReads{reads: slices.Clone(reads)}, api, w, nil)
	begun(a)
	err = a.read(api, w, new(atomic.Int64))
	r := results.Record{
		SentS: new(0.0), LocalInputTokens: new(1), EndS: a.end.Seconds(),
		Failure: a.verdict(err, nil, false),
	}
	a.fill(&r, true)
	r.VLLMReading = a.compat.readings(err, http.StatusOK, r.Failure != nil && r.Failure.Class == results.FailProtocol)
	pool.put(a)
	return r
}

// Events that end with carriage returns alone are events for bench, and none for
// vLLM's clients, however the stream is cut into reads.
func TestReadingsOfCarriageReturns(t *testing.T) {
	t.Parallel()
	const event, done = "data: {\"choices\":[{\"index\":0,\"text\":\"a\"}]}\r\r", "data: [DONE]\r\r"
	for name, reads := range map[string][]rawRead{
		"one read": {{at: time.Second, bytes: event + event + done}},
		"a read each": {
			{at: time.Second, bytes: event}, {at: 2 * time.Second, bytes: event}, {at: 3 * time.Second, bytes: done},
		},
		"within an event": {
			{at: time.Second, bytes: event[:9]}, {at: 2 * time.Second, bytes: event[9:] + event + done},
		},
	} {
		r := recordOf(t, reads, "completions")
		if r.Failure != nil || len(r.ChunkS) != 2 {
			t.Errorf("%s: failure %v, %d chunks; want 2", name, r.Failure, len(r.ChunkS))
		}
		for _, g := range []results.Generation{results.VLLM, results.VLLM010, results.VLLM06} {
			if name == "a read each" && g == results.VLLM {
				continue // a read that is JSON is an event for it
			}
			if found, other := r.VLLMReading[g]; !other || len(found.ChunkS) > 0 {
				t.Errorf("%s: %s reads %+v, want no chunk", name, g, found)
			}
		}
	}
}

// sseCases are hostile streams, as written to the wire, and what four versions
// of vLLM's client made of them.
type sseCases struct {
	Cases   map[string][][2]any            `json:"cases"` // name -> [delay in ms, bytes as characters; null: cut]
	Results map[string]map[string]sseFound `json:"results"`
}

type sseFound struct {
	Success bool      `json:"success"`
	TTFT    float64   `json:"ttft_ms"`
	ITL     []float64 `json:"itl_ms"`
	Latency float64   `json:"latency_ms"`
	Output  int       `json:"output_len"`
	Usage   bool      `json:"usage_used"`
	Prompt  int       `json:"prompt_len"`
	Text    string    `json:"text"`
}

func readCases(t *testing.T, file string) (sseCases, map[string]results.Generation) {
	t.Helper()
	var cases sseCases
	data, err := os.ReadFile("testdata/compat/" + file)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &cases); err != nil {
		t.Fatal(err)
	}
	versions := map[string]results.Generation{
		"newest": results.VLLM, "may2026": results.VLLM2605, "v010": results.VLLM010, "v06": results.VLLM06,
	}
	if len(cases.Results) != len(versions) {
		t.Fatalf("%s has %d versions, want %d", file, len(cases.Results), len(versions))
	}
	return cases, versions
}

// TestReadingsOfOddStreams: streams that the recorded ones leave out, against
// the four clients' loops restated in Python, with a clock of whole seconds:
// several choices, members of other types, usage of 0, broken and split UTF-8,
// reasoning. Texts are those that the clients save.
func TestReadingsOfOddStreams(t *testing.T) {
	cases, versions := readCases(t, "odd-streams.json")
	if len(cases.Cases) != 71 {
		t.Fatalf("there are %d cases, want 71", len(cases.Cases))
	}
	for name := range cases.Cases {
		api, _, _ := strings.Cut(name, "/")
		reads := cases.reads(name)
		for i := range reads {
			reads[i].at = time.Duration(i+1) * time.Second
		}
		r := recordOf(t, reads, api)
		r.TextTokens = new(len(strings.Fields(r.Text))) // that run's tokenizer
		if r.Content != nil {
			r.ContentTokens = new(len(strings.Fields(*r.Content)))
		}
		for version, g := range versions {
			t.Run(name+"/"+version, func(t *testing.T) {
				compareExactly(t, r, g, api, cases.Results[version][name])
			})
		}
	}
}

func compareExactly(t *testing.T, r results.Record, g results.Generation, api string, want sseFound) {
	t.Helper()
	seen, _ := vllm.Read(&r, g, api, false)
	if seen.Text == nil || *seen.Text != want.Text || seen.Success != want.Success {
		t.Fatalf("success %v (%s) with text %v, want %v with %q", seen.Success, seen.Error, seen.Text,
			want.Success, want.Text)
	}
	if !want.Success {
		return
	}

	got := sseFound{
		Success: true, TTFT: 1000 * seen.TTFTS, Latency: 1000 * seen.LatencyS, Usage: seen.UsageRead,
		Prompt: *seen.PromptLen,
		Text:   *seen.Text, ITL: []float64{},
	}
	for _, gap := range seen.ITLS {
		got.ITL = append(got.ITL, 1000*gap)
	}
	if got.Output = want.Output; seen.OutputLen != nil {
		got.Output = *seen.OutputLen
	} else if *seen.Text == r.Text {
		t.Error("the length of the text that was counted is not known")
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("reading (-want +got):\n%s", diff)
	}
}

// A line of more than 128 KiB is too long for aiohttp's readline, which the
// clients used until September 2025.
func TestReadingsOfALongLine(t *testing.T) {
	long := `data: {"choices":[{"text":"` + strings.Repeat("a", 140_000) + `"}]}` + "\n\n"
	r := recordOf(t, []rawRead{{time.Second, long, nil}, {2 * time.Second, "data: [DONE]\n\n", nil}}, "completions")
	for g, want := range map[results.Generation]bool{
		results.VLLM: true, results.VLLM2605: true, results.VLLM010: false, results.VLLM06: false,
	} {
		if seen, _ := vllm.Read(&r, g, "completions", false); seen.Success != want {
			t.Errorf("%s: success %v (%s), want %v", g, seen.Success, seen.Error, want)
		}
	}
}

func (c sseCases) reads(name string) []rawRead {
	var reads []rawRead
	at := time.Duration(0)
	for _, step := range c.Cases[name] {
		at += time.Duration((step[0].(float64) + 0.5) * float64(time.Millisecond)) // reads of their own
		text, sent := step[1].(string)
		if !sent {
			return append(reads, rawRead{at, "", io.ErrUnexpectedEOF})
		}
		var raw []byte
		for _, char := range text {
			raw = append(raw, byte(char))
		}
		if len(raw) > 0 {
			reads = append(reads, rawRead{at, string(raw), nil})
		}
	}
	return reads
}

func TestReadingsAreVLLMs(t *testing.T) {
	cases, versions := readCases(t, "sse_cases.json")
	if len(cases.Cases) != 30 {
		t.Fatalf("there are %d cases, want 30", len(cases.Cases))
	}
	for name := range cases.Cases {
		api, _, _ := strings.Cut(name, "/")
		reads := cases.reads(name)
		r := recordOf(t, reads, api)
		for version, g := range versions {
			t.Run(name+"/"+version, func(t *testing.T) {
				compareReading(t, r, g, api, cases.Results[version][name], len(reads))
			})
		}
	}
}

// compareReading allows for the milliseconds that the recorded run took longer
// than asked, at each read.
func compareReading(t *testing.T, r results.Record, g results.Generation, api string, want sseFound, reads int) {
	t.Helper()
	words := len(strings.Fields(r.Text)) // that run's tokenizer
	r.TextTokens = &words
	got, _ := vllm.Read(&r, g, api, false)
	near := func(what string, seconds, ms, slack float64) {
		if math.Abs(seconds*1000-ms) > slack {
			t.Errorf("%s = %.1f ms, want %v", what, seconds*1000, ms)
		}
	}
	if got.Success != want.Success || len(got.ITLS) != len(want.ITL) {
		t.Fatalf("Read(%s) = success %v, %d gaps (%s); want %v, %d", g, got.Success, len(got.ITLS), got.Error,
			want.Success, len(want.ITL))
	}
	near("ttft", got.TTFTS, want.TTFT, 2.5*float64(reads))
	near("latency", got.LatencyS, want.Latency, 2.5*float64(reads)+1)
	for i := range got.ITLS {
		near(fmt.Sprintf("itl[%d]", i), got.ITLS[i], want.ITL[i], 6)
	}
	if !want.Success {
		return
	}
	of := g
	if g == results.VLLM2605 {
		of = results.VLLM
	}
	reading, parsed := r.VLLMReading[of]
	unknown := got.OutputLen == nil && parsed && reading.TextDiffers // another text than the one that can be counted
	if got.UsageRead != want.Usage || *got.PromptLen != want.Prompt || !unknown &&
		(got.OutputLen == nil || *got.OutputLen != want.Output) {
		t.Errorf("usage read %v, output %v, prompt %v; want %+v", got.UsageRead, got.OutputLen, *got.PromptLen, want)
	}
	if same := r.Text == want.Text; same == (parsed && reading.TextDiffers) && !strings.Contains(r.ChunkKinds, "k") {
		t.Errorf("text differs: %v, but ours is %q and theirs %q", !same, r.Text, want.Text)
	}
}

// TestReadingsOfOtherReads are cases that the recorded ones leave out.
func TestReadingsOfOtherReads(t *testing.T) {
	chunk := func(text string) string { return `data: {"choices":[{"text":"` + text + `"}]}` + "\n\n" }
	const done = "data: [DONE]\n\n"
	for _, tt := range []struct {
		name  string
		reads []string
		want  map[results.Generation]string // kinds, then the error's start; absent: as ours
	}{
		{"plain", []string{chunk("a"), chunk("b") + chunk("c"), done}, nil},
		{"a comment after a token", []string{chunk("a"), ": ping\n\n", chunk("b"), done}, map[results.Generation]string{
			results.VLLM: "t", results.VLLM06: "t not JSON",
		}},
		{
			"a comment that the next read ends",
			[]string{chunk("a"), ":\n\n", chunk("b") + chunk("c"), done},
			map[results.Generation]string{
				results.VLLM: "tt", results.VLLM06: "t not JSON", // b is lost
			},
		},
		{
			"a read that ends with a blank",
			[]string{chunk("a"), `data: {"choices":[{"text":"b `, `c"}]}` + "\n\n", done},
			map[results.Generation]string{
				results.VLLM: "tt text",
			},
		},
		{
			"an event name",
			[]string{chunk("a"), "event: x\n" + chunk("b") + chunk("c"), done},
			map[results.Generation]string{
				results.VLLM: "t not JSON", results.VLLM010: "t not JSON", results.VLLM06: "t not JSON",
			},
		},
		{"lone garbage", []string{chunk("a"), "data: {x}\n\n", chunk("b"), done}, map[results.Generation]string{
			results.VLLM: "t", results.VLLM010: "t not JSON", results.VLLM06: "t not JSON",
		}},
		{
			"garbage before more in its read",
			[]string{chunk("a"), "data: {x}\n\n" + chunk("b"), done},
			map[results.Generation]string{
				results.VLLM: "t not JSON", results.VLLM010: "t not JSON", results.VLLM06: "t not JSON",
			},
		},
		{
			"tokens after an error",
			[]string{chunk("a"), `data: {"error":"x"}` + "\n\n", chunk("b"), done},
			map[results.Generation]string{
				results.VLLM: "txt", results.VLLM010: "txt", results.VLLM06: "txt",
			},
		},
		{
			"tokens after an error in one read",
			[]string{chunk("a") + `data: {"error":"x"}` + "\n\n" + chunk("b") + done},
			map[results.Generation]string{
				results.VLLM: "txt", results.VLLM010: "txt", results.VLLM06: "txt",
			},
		},
		{"tokens after the end", []string{chunk("a"), done + chunk("b")}, map[results.Generation]string{
			results.VLLM: "tt", results.VLLM010: "tt", results.VLLM06: "tt",
		}},
		{"a long event in one read", []string{chunk(strings.Repeat("ab ", 5000)) + chunk("c"), done}, nil},
		{"a comment in one read with the rest, given in parts", []string{
			"+" + chunk("a"), "+: ping\n\n",
			"+" + chunk("b"), "+" + done,
		}, map[results.Generation]string{
			results.VLLM06: "t not JSON",
		}},
		{"CRLF", []string{strings.ReplaceAll(chunk("a")+chunk("b"), "\n", "\r\n"), done}, map[results.Generation]string{
			results.VLLM: "", // one message that is not JSON, for ever
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			reads := make([]rawRead, len(tt.reads))
			for i, text := range tt.reads {
				text, together := strings.CutPrefix(text, "+") // with the stamp of the others
				reads[i] = rawRead{time.Duration(i+1) * time.Second, text, nil}
				if together {
					reads[i].at = time.Second
				}
			}
			r := recordOf(t, reads, "completions")
			got := map[results.Generation]string{}
			for g, reading := range r.VLLMReading {
				text := reading.ChunkKinds
				if reading.Error != "" {
					text += " " + reading.Error[:min(8, len(reading.Error))]
				} else if reading.TextDiffers && len(reading.ChunkKinds) == len(r.ChunkKinds) {
					text += " text"
				}
				got[g] = text
			}
			if tt.want == nil {
				tt.want = map[results.Generation]string{}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("readings (-want +got):\n%s", diff)
			}
		})
	}
}

func TestReadingsOfACutAfterTheEnd(t *testing.T) {
	reads := []rawRead{
		{time.Second, "data: {\"choices\":[{\"text\":\"a\"}]}\n\ndata: [DONE]\n\n", nil},
		{time.Second, "", io.ErrUnexpectedEOF},
	}
	r := recordOf(t, reads, "completions")
	if r.Failure != nil || r.VLLMReading[results.VLLM].Error == "" {
		t.Errorf("failure %v, reading %+v; want none of ours, and an error of vLLM's", r.Failure,
			r.VLLMReading[results.VLLM])
	}
}

// Plain reads must cost no allocation and no parser.
func TestPlainReadsStartNoParser(t *testing.T) {
	a := &answer{usage: event.NoCounts}
	api, err := dialect.APINamed("chat")
	if err != nil {
		t.Fatal(err)
	}
	event := []byte("data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n")
	a.compat.tap(&rawReads{}, a, api)
	allocs := testing.AllocsPerRun(100, func() { a.compat.read(event, false, time.Second) })
	if allocs != 0 || a.compat.parsers != nil {
		t.Errorf("a plain read allocates %v times, parsers %v; want none", allocs, a.compat.parsers)
	}
}

// cutReads cuts a stream into reads of up to most bytes. Unless they are apart, a fourth of
// them have the stamp of the read before them: they are one read of the network.
func cutReads(stream string, seed uint64, most int, apart bool) []rawRead {
	rng := rand.New(rand.NewPCG(seed, 1))
	var reads []rawRead
	at := time.Millisecond
	for stream != "" {
		n := min(1+rng.IntN(most), len(stream))
		if rng.IntN(4) > 0 || apart {
			at += time.Millisecond
		}
		reads = append(reads, rawRead{at, stream[:n], nil})
		stream = stream[n:]
	}
	return reads
}

// checkReadings compares the readings with those of parsers that were shown every byte.
func checkReadings(t *testing.T, reads []rawRead, api string) results.Record {
	t.Helper()
	got, want := recordOf(t, reads, api), parsedRecordOf(t, reads, api)
	if diff := cmp.Diff(want.VLLMReading, got.VLLMReading); diff != "" {
		t.Fatalf("%s, reads %+v: readings (-of all bytes +as read):\n%s", api, reads, diff)
	}
	return got
}

// Whatever the cuts of a stream, most of whose reads the parsers are not shown, the
// readings are those of parsers that see all.
func TestReadingsWhateverTheCuts(t *testing.T) {
	token := func(text string) string {
		return `data: {"choices":[{"delta":{"content":"` + text + `"},"finish_reason":null}]}` + "\n\n"
	}
	const done = "data: [DONE]\n\n"
	plain := token(" a") + token("\u00e9b ") + token("{} ") + token(" c") + token("日本")
	usage := `data: {"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":2}}` + "\n\n"
	broken := map[string]bool{"garbage": true, "not UTF-8": true} // what follows in such a read matters to it
	for name, stream := range map[string]string{
		"plain": plain + plain + usage + done, "a comment": plain + ": ping\n\n" + plain + done,
		"no end": plain + token("x")[:30], "no blank line": plain + strings.TrimSpace(token("x")),
		"more after the end": plain + done + plain, "an error": plain + `data: {"error":"x"}` + "\n\n" + plain,
		"garbage": plain + "data: {x}\n\n" + plain + done, "not UTF-8": plain + token("\xff") + plain + done,
		"CRLF": strings.ReplaceAll(plain+done, "\n", "\r\n"), "usage twice": usage + plain + usage + done,
	} {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(60) {
				for _, most := range []int{2, 90, 300} {
					checkReadings(t, cutReads(stream, seed, most, broken[name]), "chat")
				}
			}
		})
	}
}

// Reads that are cut within events start no parser, but where the cut may matter.
func TestCutEventsStartNoParser(t *testing.T) {
	message := "data: " + vllmEvent + "\n\n"
	a := &answer{usage: event.NoCounts}
	api, err := dialect.APINamed("completions")
	if err != nil {
		t.Fatal(err)
	}
	a.compat.tap(&rawReads{}, a, api)
	for i := 1; i < len(message)-3; i++ {
		if strings.ContainsAny(message[i-1:i], " }") || message[i] == ' ' {
			continue
		}
		a.compat.read([]byte(message+message[:i]), false, 0)
		a.compat.read([]byte(message[i:]), false, 1)
		if a.compat.parsers != nil || len(a.compat.pending) > 0 {
			t.Fatalf("a cut before %.9q: parsers %v, held %q; want none", message[i:], a.compat.parsers,
				a.compat.pending)
		}
	}

	for _, at := range []time.Duration{0, 1} { // of one read of the network, and of three
		a.compat.read([]byte(message+message[:20]), false, 2)
		a.compat.read([]byte(message[20:30]), false, 2+at)
		a.compat.read([]byte(message[30:40]), false, 2+2*at)
		a.compat.read([]byte(message[40:]), false, 2+3*at)
		if a.compat.parsers != nil || len(a.compat.pending) > 0 {
			t.Fatalf("an event in four pieces: parsers %v, held %q; want none", a.compat.parsers, a.compat.pending)
		}
	}
}

// A reading that differs by the time of one event alone does not keep the parsers at work for the
// rest of the stream.
func TestRetimedReadingsDropTheParsers(t *testing.T) {
	event := "data: " + vllmEvent + "\n\n"
	reads := []rawRead{{1, event + event[:len(event)-1], nil}, {2, "\n" + event, nil}}
	for i := range time.Duration(6) {
		reads = append(reads, rawRead{3 + i, event, nil})
	}
	var parsers []int
	readStream(t, reads, "completions", func(a *answer) {
		a.events.Watch = aliveFunc(func(time.Duration) { parsers = append(parsers, len(a.compat.parsers)) })
	})
	if want := []int{0, 3, 0, 0, 0, 0, 0, 0}; !slices.Equal(parsers, want) {
		t.Errorf("parsers after each read: %v, want %v", parsers, want)
	}

	r := checkReadings(t, append(reads, rawRead{20, "data: [DONE]\n\n", nil}), "completions")
	if got := r.VLLMReading[results.VLLM].ChunkS; len(got) != 9 || got[1] != 1e-9 || r.ChunkS[1] != 2e-9 {
		t.Errorf("vLLM's client reads the second event at %v, bench at %v; want 1 and 2 ns", got, r.ChunkS)
	}
}

type aliveFunc func(at time.Duration)

func (f aliveFunc) Alive(at time.Duration) { f(at) }

// A long event in small pieces is not looked at from its start with each of them.
func TestLongEventsInPieces(t *testing.T) {
	a := &answer{usage: event.NoCounts}
	api, err := dialect.APINamed("completions")
	if err != nil {
		t.Fatal(err)
	}
	a.compat.tap(&rawReads{}, a, api)
	a.compat.read([]byte(`data: {"choices":[{"text":"`), false, 1)
	for i := range time.Duration(2 * continuationMax) {
		a.compat.read([]byte("x"), false, 2+i)
	}
	if a.compat.tail || a.compat.parsers == nil {
		t.Errorf("%d bytes are held as the start of an event, want %d at most", len(a.compat.pending), continuationMax)
	}
}

// FuzzReadings cuts a stream at random places: the readings are those of parsers that
// see every byte, and a failure of bench's never panics the others.
func FuzzReadings(f *testing.F) {
	f.Add("data: {\"choices\":[{\"text\":\"a b\"}]}\n\ndata: [DONE]\n\n", uint64(7), uint8(30))
	f.Add(": x\n\ndata: {\"choices\":[]}\r\n\r\nevent: y\n\n", uint64(2), uint8(9))
	f.Add("data: {\"error\":1}\n\ndata: {\n\ndata: {\"choices\":[{\"text\":\"\"}]}\n\n", uint64(50), uint8(100))
	f.Fuzz(func(t *testing.T, stream string, seed uint64, most uint8) {
		r := checkReadings(t, cutReads(stream, seed, int(most)+1, true), "completions")
		for g, reading := range r.VLLMReading {
			if len(reading.ChunkS) != len(reading.ChunkKinds) {
				t.Errorf("reading %s has %d times and %d kinds", g, len(reading.ChunkS), len(reading.ChunkKinds))
			}
			for i, s := range reading.ChunkS {
				if i > 0 && s < reading.ChunkS[i-1] {
					t.Errorf("reading %s goes back in time: %v", g, reading.ChunkS)
				}
			}
		}
		if _, made := vllm.Read(&r, results.VLLM06, "chat", true); !made {
			t.Error("a request that was made was not seen")
		}
	})
}

// A real server that sends a comment of its own read between tokens, over both
// transports: the record is whole, and says what vLLM's client loses.
func TestRunKeepsReadings(t *testing.T) {
	for _, transport := range []string{spec.TransportSockets, spec.TransportHTTP} {
		t.Run(transport, func(t *testing.T) {
			parts := []string{
				"data: {\"choices\":[{\"text\":\"a\"}]}\n\n", ": ping\n\n",
				"data: {\"choices\":[{\"text\":\"b\"}]}\n\n", "data: [DONE]\n\n",
			}
			s := newRawServer(t, func(w io.Writer, _ *http.Request, _ int) bool {
				_, err := io.WriteString(w, streamHeader)
				for i, part := range parts {
					tail := ""
					if i == len(parts)-1 {
						tail = "0\r\n\r\n"
					}
					if err == nil {
						_, err = fmt.Fprintf(w, "%x\r\n%s\r\n%s", len(part), part, tail)
					}
					time.Sleep(20 * time.Millisecond) // a read of its own
				}
				return err == nil
			})
			o := options(s.url, "completions")
			o.Transport = transport
			r := one(t, o)
			if r.Failure != nil || r.ChunkKinds != "tt" || r.DoneS == nil {
				t.Fatalf("record = %q, failure %v; want two tokens and [DONE]", r.ChunkKinds, r.Failure)
			}
			if got := r.VLLMReading[results.VLLM]; got.ChunkKinds != "t" || !got.TextDiffers || got.Error != "" {
				t.Errorf("vLLM's reading = %+v, want one token and no failure", got)
			}
			if _, differs := r.VLLMReading[results.VLLM010]; differs {
				t.Error("the reading of August 2025 differs, want it as ours")
			}
		})
	}
}

// BenchmarkPlainRead is what looking at an ordinary read costs.
func BenchmarkPlainRead(b *testing.B) {
	a := &answer{usage: event.NoCounts}
	api, err := dialect.APINamed("completions")
	if err != nil {
		b.Fatal(err)
	}
	a.compat.tap(&rawReads{}, a, api)
	read := []byte("data: " + vllmEvent + "\n\n")
	b.SetBytes(int64(len(read)))
	b.ReportAllocs()
	for b.Loop() {
		a.compat.read(read, false, time.Second)
	}
}
