package simengine

import (
	"cmp"
	"math"
)

// pipelineSerial is the share of a micro-batch's pass that does not overlap
// with the others: 0 would be a perfect pipeline, 1 none at all. Published
// tp2+pp4 runs lie far from perfect.
const pipelineSerial = 0.6

// Work is what one engine step has to do.
type Work struct {
	Tokens    int     // prefill, decode and draft tokens that the target scores
	Seqs      int     // sequences in the step
	Context   float64 // tokens whose KV is read
	Attention float64 // sum over sequences of new tokens x context
	drafts    int     // tokens drafted a sequence
	drafting  int     // sequences that draft
}

// costs is the cost model of one server. All times are seconds of the modelled
// engine, before Config.Speed.
type costs struct {
	tp, pp    float64
	bandwidth float64 // bytes/s a device, as reached
	flops     float64 // 1/s a device, as reached
	weights   float64 // bytes
	params    float64
	layers    float64
	hidden    float64
	kvBytes   float64 // a token
	overhead  float64 // a step
	perSeq    float64
	allReduce float64 // latency at this tp
	link      float64
	hop       float64
	decode    float64 // factor of all but the arithmetic of prefill
	prefill   float64 // factor of that arithmetic
	draft     *costs  // nil: no draft model
}

// NewCosts derives the cost model of a server, and that of its draft model if it has one.
func NewCosts(s Settings) *costs {
	c := costsOf(s, s.Network, s.Quantization, s.TensorParallelSize, s.PipelineParallelSize)
	if s.Speculation.Tokens > 0 && s.Speculation.Method != ngramMethod {
		shape := s.draft
		if shape.layers == 0 { // a head such as eagle: one layer of the target
			shape = s.Network
			shape.Billions /= float64(shape.layers)
			shape.layers = 1
		}
		tp := s.TensorParallelSize
		if s.Speculation.DraftTP > 0 {
			tp = s.Speculation.DraftTP
		}
		c.draft = costsOf(s, shape, "", tp, 1)
		c.draft.overhead = s.Hardware.overhead / 2
		c.draft.perSeq = s.Hardware.perSeq / 2
	}

	return c
}

func costsOf(s Settings, m model, quantization string, tp, pp int) *costs {
	d := s.Hardware
	c := &costs{
		tp: float64(tp), pp: float64(pp),
		bandwidth: d.bandwidth * d.bandwidthEf,
		flops:     d.flops * d.flopsEf,
		weights:   m.WeightBytes(quantization) * cmp.Or(m.read, 1),
		params:    cmp.Or(m.active, m.Billions) * 1e9,
		layers:    float64(m.layers),
		hidden:    float64(m.Hidden),
		kvBytes:   m.KvBytes(s.KVCacheDtype),
		overhead:  d.overhead,
		perSeq:    d.perSeq,
		allReduce: d.allReduce * math.Log2(float64(tp)),
		link:      d.link,
		hop:       d.hop,
	}

	if s.EnforceEager {
		c.overhead *= 1.8
	}

	c.overhead *= 0.4 + 0.6/float64(s.NumSchedulerSteps)
	c.decode, c.prefill = s.Decode, s.Prefill
	slow := FormatNamed(quantization).slowdown(d.Name)
	c.bandwidth /= slow
	c.flops /= max(1, slow/2) // unpacking weighs less on large products
	return c
}

// Step is the time one step takes.
func (c *costs) Step(w Work) float64 {
	if w.Seqs == 0 {
		return 0
	}
	t := c.round(w)
	if c.draft != nil && w.drafting > 0 {
		one := Work{Tokens: w.drafting, Seqs: w.drafting, Context: w.Context, Attention: w.Context}
		t += float64(w.drafts) * c.draft.round(one)
	}
	return t
}

// round is one forward pass of all sequences through all pipeline stages,
// split into as many micro-batches as there are stages.
func (c *costs) round(w Work) float64 {
	micro := min(c.pp, float64(w.Seqs))
	pass := c.pass(float64(w.Tokens)/micro, float64(w.Seqs)/micro, w.Context/micro, w.Attention/micro)
	pass += c.hop * (c.pp - 1)
	return pass * (1 + pipelineSerial*(micro-1))
}

// pass is one micro-batch through all layers.
func (c *costs) pass(tokens, seqs, context, attention float64) float64 {
	read := c.weights / (c.tp * c.bandwidth * c.decode)
	multiply := 2 * c.params * tokens / (c.tp * c.flops * c.prefill)
	cache := context * c.kvBytes / (c.tp * c.bandwidth)
	attend := 4 * c.layers * c.hidden * attention / (c.tp * c.flops * c.prefill)
	return max(read, multiply) + attend + (cache+c.communicate(tokens)+c.overhead+c.perSeq*seqs)/c.decode
}

// communicate is two all-reduces a layer.
func (c *costs) communicate(tokens float64) float64 {
	if c.tp == 1 {
		return 0
	}
	bytes := tokens * c.hidden * 2
	return 2 * c.layers * (c.allReduce + bytes*2*(c.tp-1)/c.tp/c.link)
}
