// Package calibrate measures what the load client costs and how far its stamps
// are from the truth on this machine, and how far any other client's figures are.
//
// What goes in: numbers of streams, and a command that starts a feeder (Serve)
// as a process of its own. What comes out: a results.Calibration with the
// client's transports beside the least that a reader of sockets does. All
// traffic stays on loopback; it starts no server but the feeder.
package calibrate

import (
	"context"
	"os/exec"
	"time"

	"github.com/benchrig/bench/load/spec"
)

// Options say what to measure. The zero value of a field is its default.
type Options struct {
	// Feeder makes the command that serves as feeder: it must call Serve with
	// its standard input and output. Required.
	Feeder  func(ctx context.Context) *exec.Cmd
	Widths  []int         // streams at once; 64, 512 and 2048
	Readers []string      // ReaderRaw, ReaderHTTPS and the transports of load; raw and sockets
	Gap     time.Duration // between the tokens of a stream; 20 ms, stretched above 2048 streams
	Tokens  int           // of a stream; 50
	Rounds  int           // each figure is the median of so many; 3
	Unpaced int           // events of an unpaced drive over all streams; 300,000
	Answers int           // of one token; 4,000
	Said    func(string)  // progress in words; nil: none
}

// Readers that are not transports of load: the least that any client does, and net/http
// over TLS, as load reads https.
const (
	ReaderRaw   = "raw"
	ReaderHTTPS = "https"
)

// Readers are all that can be measured.
func Readers() []string {
	return []string{ReaderRaw, spec.TransportSockets, spec.TransportHTTP, ReaderHTTPS}
}

const (
	ttft          = 100 * time.Millisecond
	mostEvents    = 51200 // per second; beyond 2048 streams the gap grows to keep to it
	requestsWidth = 64
)

func (o Options) filled() Options {
	if len(o.Widths) == 0 {
		o.Widths = []int{64, 512, 2048}
	}
	if len(o.Readers) == 0 {
		o.Readers = []string{ReaderRaw, spec.TransportSockets}
	}
	if o.Gap <= 0 {
		o.Gap = 20 * time.Millisecond
	}
	if o.Tokens <= 0 {
		o.Tokens = 50
	}
	if o.Rounds <= 0 {
		o.Rounds = 3
	}
	if o.Unpaced <= 0 {
		o.Unpaced = 300_000
	}
	if o.Answers <= 0 {
		o.Answers = 4000
	}
	if o.Said == nil {
		o.Said = func(string) {}
	}

	return o
}

// pace is the pace of a drive of so many streams.
func (o Options) pace(width int) pace {
	gap := o.Gap
	if width > 2048 {
		gap = max(gap, time.Duration(width)*time.Second/mostEvents)
	}
	return pace{ttft: ttft, gap: gap, tokens: o.Tokens}
}
