package store

import (
	"iter"

	"github.com/benchrig/bench/results"
)

// ReadRecords yields the records of the step in folder dir, compressed or
// plain, in the order they were written. A last line that was cut by a kill is
// left out. A line that is not a record is an error value and does not end the
// sequence; an error of reading does. A step without records yields none.
func ReadRecords(dir string) iter.Seq2[results.Record, error] {
	return jsonLines[results.Record](dir, results.RequestsName, "records")
}
