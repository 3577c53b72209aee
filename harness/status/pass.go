package status

import (
	"fmt"
	"math"
	"time"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/launchers/scrape"
	"github.com/benchrig/bench/load"
	"github.com/benchrig/bench/results"
)

// liveWindow is results.LiveWindowS.
const liveWindow = results.LiveWindowS * time.Second

// liveLog is how much of a server's log is looked at, and liveLines how many
// lines of it are told.
const (
	liveLog   = 16 << 10
	liveLines = 20
)

// BeginPass says that requests are measured from now on.
func (l *Live) BeginPass(asked results.Asked) {
	if l == nil {
		return
	}
	l.Enter(results.LiveMeasuring, 0, "")
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pass = livePass{on: true, began: time.Now()}
	l.pass.progress.Total = asked.NumPrompts
	if asked.SendForS != nil {
		l.pass.sendFor = time.Duration(*asked.SendForS * float64(time.Second))
	}
}

// progress takes in a snapshot of the client.
func (l *Live) progress(p load.Progress) {
	l.mu.Lock()
	defer l.mu.Unlock()
	at := time.Now()
	l.pass.progress = p
	l.pass.window = append(l.pass.window, chunksAt{at, p.OutputChunks})
	for len(l.pass.window) > 2 && at.Sub(l.pass.window[1].at) >= liveWindow {
		l.pass.window = l.pass.window[1:]
	}
}

// Record takes in a request that has ended. It is called between two reads of
// the client's sockets, so it does little: no clock, no memory of its own.
func (l *Live) Record(r *results.Record) {
	if l == nil {
		return
	}

	first, last, chunks := -1, -1, int64(0)
	for i := range len(r.ChunkKinds) {
		switch results.ChunkKind(r.ChunkKinds[i]) {
		case results.ChunkText, results.ChunkReasoning, results.ChunkTool:
			if first < 0 {
				first = i
			}
			last = i
			chunks++
		default: // no token
		}
	}

	l.mu.Lock()
	defer l.mu.Unlock()

	p := &l.pass
	if r.OutputTokens == nil {
		p.unknown = p.unknown || r.Failure == nil
	} else {
		p.output += int64(*r.OutputTokens)
	}

	if r.Failure != nil || r.SentS == nil || first < 0 || last >= len(r.ChunkS) {
		return
	}

	p.ttft.Add(r.ChunkS[first] - *r.SentS)
	if r.OutputTokens == nil {
		return
	}

	p.chunks += chunks
	p.tokens += int64(*r.OutputTokens)
	if n := *r.OutputTokens; n > 1 {
		p.tpot.Add((r.ChunkS[last] - r.ChunkS[first]) / float64(n-1))
	}
}

// fillPass fills in the requests; the caller holds the mutex.
func (l *Live) fillPass(now *results.Live, at time.Time) {
	p := &l.pass
	if !p.on {
		return
	}

	done := p.progress.Completed + p.progress.Failed
	now.Requests = &results.LiveRequests{Done: done, InFlight: p.progress.InFlight, Failed: p.progress.Failed}
	if p.progress.Total > 0 {
		now.Requests.Total = new(p.progress.Total)
		now.Share = new(float64(done) / float64(p.progress.Total))
	}
	if p.sendFor > 0 {
		now.Requests.Total, now.Share = nil, new(min(1, at.Sub(p.began).Seconds()/p.sendFor.Seconds()))
	}

	tokens := &results.LiveTokens{PerS: p.rate()}
	if !p.unknown {
		tokens.Output = new(p.output)
	}

	tokens.TTFT, tokens.TPOT = timesOf(&p.ttft), timesOf(&p.tpot)
	now.Tokens = tokens
}

// rate is output tokens a second over the last seconds: chunks, by the tokens
// that chunks of ended requests had. Null before it can be told.
func (p *livePass) rate() *float64 {
	if len(p.window) < 2 {
		return nil
	}
	first, last := p.window[0], p.window[len(p.window)-1]
	took := last.at.Sub(first.at).Seconds()
	if took <= 0 {
		return nil
	}
	perChunk := 1.0
	if p.chunks > 0 {
		perChunk = float64(p.tokens) / float64(p.chunks)
	}
	return new(float64(last.chunks-first.chunks) / took * perChunk)
}

// sketch is the distribution that timesOf reads.
type sketch interface {
	N() int
	Quantile(p float64) float64
}

func timesOf(s sketch) results.LiveTimes {
	out := results.LiveTimes{N: s.N()}
	const middle, tail, enough = 0.5, 0.99, 100
	if v := s.Quantile(middle); out.N > 0 && !math.IsNaN(v) {
		out.P50 = &v
	}
	if v := s.Quantile(tail); out.N >= enough && !math.IsNaN(v) {
		out.P99 = &v
	}
	return out
}

// Metrics takes in what a server says about itself.
func (l *Live) Metrics(s results.ServerSample) {
	if s.Values != nil {
		l.change(func() { l.servers[s.Replica], l.readAt = s.Values, time.Now() })
	}
}

// fillServer adds up the servers' gauges; the caller holds the mutex.
func (l *Live) fillServer(now *results.Live, at time.Time) {
	if len(l.servers) == 0 {
		return
	}

	sum := func(name string) *float64 {
		total, known := 0.0, false
		for _, values := range l.servers {
			if v, ok := values[name]; ok {
				total, known = total+v, true
			}
		}
		if !known {
			return nil
		}
		return &total
	}

	now.Server = &results.LiveServer{
		Running: sum(scrape.Running), Waiting: sum(scrape.Waiting),
		AgeS: at.Sub(l.readAt).Seconds(),
	}
	for _, values := range l.servers {
		if v, ok := values[scrape.KVUse]; ok && (now.Server.KVUse == nil || v > *now.Server.KVUse) {
			now.Server.KVUse = &v
		}
	}
}

// WarmUp says how many of the warm-up's requests have ended.
func (l *Live) WarmUp(total, ended int) {
	if l == nil {
		return
	}
	if ended == 0 {
		l.Enter(results.LiveWarmUp, 0, "")
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.now.Message = fmt.Sprintf("%d of %s", ended, text.Count(total, "request"))
}
