package page

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/benchrig/bench/metrics"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/results/store"
)

// bigFolder describes a folder of a long night: variants x points x repeats
// steps of so many requests each.
type bigFolder struct {
	variants, points, repeats int
	requests                  int // a step
	tokens                    int // an answer
}

// bigStart is when the night began.
var bigStart = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// write makes the folder in dir. Everything in it is of the kinds that a run
// leaves: records, telemetry, logs, journal.
func (b bigFolder) write(t testing.TB, dir string) {
	t.Helper()
	folder, err := store.Create(filepath.Dir(filepath.Dir(dir)), filepath.Base(filepath.Dir(dir)), filepath.Base(dir))
	if err != nil {
		t.Fatal(err)
	}
	m := results.Manifest{
		Bench: "v1.0.0", Scenario: "night", Run: filepath.Base(dir), StartedAt: bigStart.Format(time.RFC3339),
		Description: "A long night",
	}
	for v := range b.variants {
		m.Variants = append(m.Variants, fmt.Sprintf("variant-%02d", v+1))
	}
	for p := range b.points {
		m.Points = append(m.Points, fmt.Sprintf("c%d", 1<<p))
	}
	w := &bigWriter{b: b, t: t, folder: folder, at: bigStart}
	w.event(results.Event{Kind: results.RunStarted, Message: "night"})
	for r := range b.repeats {
		for v, variant := range m.Variants {
			life := fmt.Sprintf("%03d-%s", r*b.variants+v+1, variant)
			w.life(life)
			for p, point := range m.Points {
				ref := results.StepRef{
					ID: fmt.Sprintf("%s_%s_r%d", variant, point, r+1), Variant: variant,
					Point: point, Repeat: r + 1, Attempt: 1,
				}
				m.Planned = append(m.Planned, ref)
				w.step(ref, life, v, p)
			}
			w.event(results.Event{Kind: results.LifeStopping, Life: life})
			w.at = w.at.Add(4 * time.Second)
			w.event(results.Event{
				Kind: results.LifeStopped, Life: life,
				Proof: &results.Proof{PIDsGone: true, PortFree: true, StopS: 4},
			})
		}
	}
	w.event(results.Event{Kind: results.RunFinished})
	if err := folder.WriteJSON("environment.json", map[string]any{
		"gpu": map[string]any{"gpus": []any{map[string]any{
			"index": 0, "name": "AMD Instinct MI300X",
			"partition": "SPX", "memory_mode": "NPS1",
		}}, "drivers": map[string]string{"amdgpu": "6.12"}},
		"host": map[string]any{"hostname": "node-7", "kernel": "6.8", "cpu_model": "EPYC 9654", "threads": 384},
	}); err != nil {
		t.Fatal(err)
	}
	if err := folder.WriteManifest(m); err != nil {
		t.Fatal(err)
	}
}

type bigWriter struct {
	b      bigFolder
	t      testing.TB
	folder *store.Folder
	at     time.Time
	seq    int
	lines  []byte
}

func (w *bigWriter) check(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *bigWriter) event(e results.Event) {
	w.seq++
	e.Seq, e.Time = w.seq, w.at
	line, err := json.Marshal(e)
	w.check(err)
	w.lines = append(append(w.lines, line...), '\n')
	if e.Kind == results.RunFinished {
		w.check(w.folder.WriteFile(results.JournalName, w.lines))
	}
}

func (w *bigWriter) life(id string) {
	w.event(results.Event{Kind: results.LifeStarting, Life: id})
	w.at = w.at.Add(40 * time.Second)
	w.event(results.Event{Kind: results.LifeReady, Life: id})
	w.check(os.MkdirAll(w.folder.LifeDir(id), 0o755))
	log := ""
	for i := range 200 {
		log += fmt.Sprintf("INFO 01-02 03:%02d:%02d engine.py:%d] Avg prompt throughput: %d.0 tokens/s, Running: %d "+
			"reqs, GPU KV cache usage: %d.1%%\n", i/60, i%60, i, 100+i, i%64, i%100)
	}
	path := filepath.Join(w.folder.LifeDir(id), store.ServerLogName(0))
	w.check(os.WriteFile(path, []byte(log), 0o644))
	w.check(store.CloseServerLog(path, 0, func(s string) string { return s }))
}

func (w *bigWriter) step(ref results.StepRef, life string, variant, point int) {
	w.event(results.Event{Kind: results.StepStarted, Step: ref.ID, Attempt: 1, Life: life})
	started := w.at
	random := rand.New(rand.NewPCG(uint64(variant*1000+point), uint64(ref.Repeat)))
	concurrency := 1 << point
	records := w.records(ref, concurrency, 1+float64(variant)/20, random)
	figures := metrics.Summarize(records, metrics.Params{DurationS: slices.MaxFunc(records, byEnd).EndS})
	w.at = w.at.Add(time.Duration(figures.DurationS * float64(time.Second)))
	w.telemetry(ref, figures.DurationS, random)
	r := &results.Result{
		Bench: "v1.0.0", Scenario: "night", Run: filepath.Base(w.folder.Dir()), Step: ref,
		StartedAt: started.Format(time.RFC3339), EndedAt: w.at.Format(time.RFC3339),
		Verdict: results.OK, Figures: &figures,
		Asked: results.Asked{
			Endpoint: "/v1/completions", API: "completions", Dataset: "random", NumPrompts: w.b.requests,
			MaxConcurrency: &concurrency,
			InputLen:       new(256), OutputLen: new(w.b.tokens), IgnoreEOS: true,
			Body: `{"model":"m","prompt":"…","max_tokens":32,"stream":true}`,
		},
		Client: &results.ClientReport{
			DurationS: figures.DurationS, StartTime: started.Format(time.RFC3339Nano),
			Transport: "sockets", Stamps: "kernel",
		},
		Servers: []results.Server{{
			Life: life, Launcher: "vllm", BaseURL: "http://127.0.0.1:8000", Model: "meta-llama/Llama-3.1-70B-Instruct",
			Version: "0.11.0", GPUs: []int{0},
			Argv: []string{
				"vllm", "serve", "meta-llama/Llama-3.1-70B-Instruct", "--max-num-seqs",
				fmt.Sprint(64 + variant), "--tensor-parallel-size", "1",
			},
			Env: map[string]string{"HIP_VISIBLE_DEVICES": "0", "HF_TOKEN": "***"},
			ReadyPhases: []results.Phase{
				{Name: "alive", AtS: 0.1},
				{Name: "tcp", AtS: 30},
				{Name: "health", AtS: 38},
				{Name: "model", AtS: 38.1},
				{Name: "token", AtS: 39},
			},
		}},
	}
	w.check(w.folder.WriteResult(r))
	w.event(results.Event{Kind: results.StepFinished, Step: ref.ID, Attempt: 1, Life: life, Verdict: results.OK})
}

func byEnd(a, b results.Record) int { return cmp.Compare(a.EndS, b.EndS) }

// records are those of a closed loop.
func (w *bigWriter) records(ref results.StepRef, concurrency int, speed float64, random *rand.Rand) []results.Record {
	out, err := w.folder.RecordWriter(ref.ID)
	w.check(err)
	free := make([]float64, concurrency)
	records := make([]results.Record, w.b.requests)
	round := func(v float64) float64 { return float64(int64(v*1e9)) / 1e9 }
	kinds := make([]byte, w.b.tokens+1)
	for i := range kinds {
		kinds[i] = byte(results.ChunkText)
	}
	kinds[w.b.tokens] = byte(results.ChunkUsage)
	for i := range records {
		lane := i % concurrency
		sent := round(free[lane])
		at := sent + (0.05+0.05*random.ExpFloat64())/speed
		chunks := make([]float64, 0, w.b.tokens+1)
		for range w.b.tokens {
			chunks = append(chunks, round(at))
			at += (0.01 + 0.002*float64(concurrency)/16 + 0.002*random.ExpFloat64()) / speed
		}
		end := chunks[len(chunks)-1]
		chunks = append(chunks, end)
		free[lane] = end
		records[i] = results.Record{
			Index: i, RequestID: fmt.Sprintf("bench-%d", i), SentS: &sent, HeaderS: new(round(sent + 0.001)),
			DoneS: &end, EndS: end, ChunkS: chunks, ChunkKinds: string(kinds),
			AskedOutputTokens: w.b.tokens, LocalInputTokens: new(256), InputTokens: new(256),
			OutputTokens: new(w.b.tokens), OutputTokensSource: results.CountUsage,
			FinishReason: "length", TextSHA256: fmt.Sprintf("%064x", random.Uint64()),
		}
		w.check(out.Write(records[i]))
	}
	w.check(out.Close())
	return records
}

func (w *bigWriter) telemetry(ref results.StepRef, durationS float64, random *rand.Rand) {
	out, err := store.NewSampleWriter(w.folder.StepDir(ref.ID), results.TelemetryName, time.Minute)
	w.check(err)
	for at := -0.5; at < durationS+0.5; at += 0.5 {
		w.check(out.Write(results.TelemetrySample{AtS: at, GPU: &results.GPUReading{
			Device: "0000:05:00.0", VRAMUsedBytes: new(int64(150 << 30)), PowerW: new(500 + 100*random.Float64()),
			Busy: new(0.9), HotspotC: new(70 + 10*random.Float64()), PowerLimitW: new(750.),
		}}))
	}
	w.check(out.Close())
}
