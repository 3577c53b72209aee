package sessions

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/benchrig/bench/dataset/table"
)

// row is a request as Mooncake's traces have it, with the session that Dynamo's
// and AIPerf's rows name. Times are in milliseconds.
type row struct {
	Session   json.RawMessage `json:"session_id"` // a text or a number
	Timestamp *float64        `json:"timestamp"`
	Delay     *float64        `json:"delay"`    // after the answer before it
	Duration  *float64        `json:"duration"` // of the request; "bench record" writes it
	Input     *int            `json:"input_length"`
	Output    *int            `json:"output_length"`
	Hashes    []uint64        `json:"hash_ids"`
}

// readRow reads one row. A row with a duration has its prompt as a whole, as
// "bench record" writes it.
func readRow(value json.RawMessage) ([]call, int, error) {
	var r row
	if err := json.Unmarshal(value, &r); err != nil {
		return nil, 0, table.JSONError(err)
	}
	if r.Input == nil || r.Output == nil {
		return nil, 0, errors.New(`want "input_length" and "output_length"`)
	}

	c := call{
		session: strings.Trim(string(r.Session), `"`), input: *r.Input, output: *r.Output, hashes: r.Hashes,
		whole: r.Duration != nil, untimed: r.Timestamp == nil,
	}
	if c.session == "null" {
		c.session = ""
	}
	if r.Timestamp != nil {
		c.startS = *r.Timestamp / 1e3
	}
	if r.Delay != nil {
		c.waitS = new(*r.Delay / 1e3)
	}
	if r.Duration != nil {
		c.endS = new(c.startS + *r.Duration/1e3)
	}

	return []call{c}, 0, c.check()
}
