package results

import "strconv"

// DraftSource says where the counts of drafted tokens come from.
type DraftSource string

// The sources, best first.
const (
	DraftsByCounters DraftSource = "counters" // of the engine, change over the pass
	DraftsByAnswers  DraftSource = "answers"  // what each answer says about itself: llama-server, SGLang
	// lines of the server's log; an interval at either end of the pass may be cut off
	DraftsByLog    DraftSource = "log"
	DraftsByGauges DraftSource = "gauges" // means of what the engine says about its last moments: there are no counts
)

// Drafting is what one server did with drafted tokens over the measured pass.
type Drafting struct {
	Source         DraftSource `json:"source"`
	Tokens         *int        `json:"k"`      // drafted at once at most, as the server was configured; null: not known
	Drafts         *float64    `json:"drafts"` // steps of the large model that checked a draft
	DraftTokens    *float64    `json:"draft_tokens"`
	AcceptedTokens *float64    `json:"accepted_tokens"`
	EmittedTokens  *float64    `json:"emitted_tokens"` // by those steps; null: the engine does not count them apart
	AcceptedAt     []float64   `json:"accepted_at"`    // tokens by their position in the draft; null: not counted
	OutputTokens   *float64    `json:"output_tokens"`  // of all steps, also of those that checked no draft

	Rate *float64 `json:"acceptance_rate"` // accepted / draft tokens
	// tokens a step that checked a draft: emitted / drafts, or where the engine does not count them
	// 1 + accepted / drafts
	Length *float64 `json:"acceptance_length"`
	// output tokens a step of a request, those without a draft included: n-gram drafts are made in some steps only
	PerStep    *float64  `json:"output_per_step"`
	AtPosition []float64 `json:"per_position"` // accepted at a position / drafts
	// emitted / (draft tokens + drafts): 1 if every draft is accepted whole
	Efficiency *float64 `json:"system_efficiency"`

	LogLines []string `json:"log_lines"` // the last lines of its log about it, as they are
}

// Names of the counters, as in Server.Counters.
const (
	counterDrafts      = "drafts_total"
	counterDraftTokens = "draft_tokens_total"
	counterAccepted    = "accepted_tokens_total"
	counterEmitted     = "emitted_tokens_total"
	counterAtPosition  = "accepted_tokens_total_at_" // and the position, from 0
	counterOutput      = "output_tokens_total"

	logCounters = "log_" // stands before the names of what was counted by the log
)

// DraftingBy reads counters of a server, changes over a pass, of source
// counters or log; nil where nothing was drafted or nothing counts it.
func DraftingBy(source DraftSource, counters map[string]float64) *Drafting {
	prefix := ""
	if source == DraftsByLog {
		prefix = logCounters
	}

	read := func(name string) *float64 {
		if v, ok := counters[prefix+name]; ok {
			return &v
		}
		return nil
	}

	d := &Drafting{
		Source: source, Drafts: read(counterDrafts), DraftTokens: read(counterDraftTokens),
		AcceptedTokens: read(counterAccepted), EmittedTokens: read(counterEmitted),
	}

	if d.DraftTokens == nil || *d.DraftTokens <= 0 || d.AcceptedTokens == nil {
		return nil
	}
	if d.Drafts != nil && *d.Drafts <= 0 {
		d.Drafts = nil
	}
	if source == DraftsByCounters {
		d.OutputTokens = read(counterOutput) // lines of a log are of another time than the pass
	}

	for i := 0; ; i++ {
		at := read(counterAtPosition + strconv.Itoa(i))
		if at == nil {
			return d
		}
		d.AcceptedAt = append(d.AcceptedAt, *at)
	}
}

// Derive fills in the rates from the counts, under one definition for all
// engines. An engine that counts emitted tokens (vLLM before V1) always drafts
// k tokens, so that its drafts follow from its draft tokens.
func (d *Drafting) Derive() {
	if d.DraftTokens == nil || *d.DraftTokens <= 0 || d.AcceptedTokens == nil {
		return
	}

	d.Rate = new(*d.AcceptedTokens / *d.DraftTokens)
	if d.Drafts == nil && d.EmittedTokens != nil && d.Tokens != nil && *d.Tokens > 0 {
		d.Drafts = new(*d.DraftTokens / float64(*d.Tokens))
	}
	d.PerStep = d.perStep()
	if d.Drafts == nil {
		return
	}

	emitted := *d.AcceptedTokens + *d.Drafts
	if d.EmittedTokens != nil {
		emitted = *d.EmittedTokens // fewer, where an answer ends within a draft
	}

	d.Length = new(emitted / *d.Drafts)
	d.Efficiency = new(emitted / (*d.DraftTokens + *d.Drafts))
	d.AtPosition = nil
	for _, n := range d.AcceptedAt {
		d.AtPosition = append(d.AtPosition, n / *d.Drafts)
	}
}

// perStep is the output over the steps that gave it: each gave one token of its
// own, and the accepted ones of its draft if it had one.
func (d *Drafting) perStep() *float64 {
	if d.OutputTokens == nil {
		return nil
	}

	steps := *d.OutputTokens - *d.AcceptedTokens
	if d.EmittedTokens != nil { // the engine counts as accepted what it does not emit
		if d.Drafts == nil {
			return nil
		}
		steps = *d.OutputTokens - *d.EmittedTokens + *d.Drafts
	}
	if steps <= 0 || steps > *d.OutputTokens {
		return nil
	}

	return new(*d.OutputTokens / steps)
}

// add sums up two servers; what one of them does not count is not known.
func (d Drafting) add(other Drafting) Drafting {
	sum := func(a, b *float64) *float64 {
		if a == nil || b == nil {
			return nil
		}
		return new(*a + *b)
	}

	all := Drafting{
		Source: d.Source, Tokens: d.Tokens, Drafts: sum(d.Drafts, other.Drafts), DraftTokens: sum(d.DraftTokens,
			other.DraftTokens),
		AcceptedTokens: sum(d.AcceptedTokens, other.AcceptedTokens), EmittedTokens: sum(d.EmittedTokens,
			other.EmittedTokens),
		OutputTokens: sum(d.OutputTokens, other.OutputTokens),
	}

	for i := range min(len(d.AcceptedAt), len(other.AcceptedAt)) {
		all.AcceptedAt = append(all.AcceptedAt, d.AcceptedAt[i]+other.AcceptedAt[i])
	}

	return all
}

// Speculation is what the servers of a step count of speculative decoding over
// the pass, added up.
type Speculation struct {
	Source           DraftSource
	K                int // 0: not known
	DraftTokens      float64
	AcceptedTokens   float64
	AcceptanceRate   float64   // accepted / draft tokens, 0 to 1
	Drafts           float64   // 0: not counted by the server
	AcceptanceLength float64   // 1 + accepted / drafts; 0 without drafts
	OutputPerStep    *float64  // see Drafting
	PerPosition      []float64 // accepted at a position / drafts; nil: not counted
	SystemEfficiency *float64  // see Drafting; nil without drafts
}

// SpeculationOf is nil where nothing was drafted or no server counts it.
func SpeculationOf(servers []Server) *Speculation {
	var sum *Drafting
	for _, s := range servers {
		d := s.Speculation
		if d == nil {
			d = DraftingBy(DraftsByCounters, s.Counters) // of an older result
		}
		switch {
		case d == nil || d.DraftTokens == nil || *d.DraftTokens <= 0 || d.AcceptedTokens == nil:
		case sum == nil:
			sum = new(d.add(Drafting{
				Drafts: new(0.), DraftTokens: new(0.), AcceptedTokens: new(0.), EmittedTokens: new(0.),
				OutputTokens: new(0.), AcceptedAt: make([]float64, len(d.AcceptedAt)),
			}))
		default:
			sum = new(sum.add(*d))
		}
	}

	if sum == nil {
		return nil
	}

	sum.Derive()
	s := &Speculation{
		Source: sum.Source, DraftTokens: *sum.DraftTokens, AcceptedTokens: *sum.AcceptedTokens,
		AcceptanceRate: *sum.Rate,
		PerPosition:    sum.AtPosition, SystemEfficiency: sum.Efficiency, OutputPerStep: sum.PerStep,
	}

	if sum.Tokens != nil {
		s.K = *sum.Tokens
	}
	if sum.Drafts != nil {
		s.Drafts, s.AcceptanceLength = *sum.Drafts, *sum.Length
	}

	return s
}
