package scenarios

import (
	"time"
)

// Evaluation is a command of the user that measures the quality of a variant's
// answers while its servers are up.
type Evaluation struct {
	Name    string // of the score, for people
	Command []string
	File    string        // pattern below BENCH_EVALUATION_DIR of the JSON file that has the score; "": the last line
	Score   []string      // keys of objects and numbers of list items down to the score; nil: the value itself
	Min     *float64      // nil: none
	Timeout time.Duration // SIGKILL to the whole process tree after it
}

// Given reports whether there is one.
func (e Evaluation) Given() bool { return len(e.Command) > 0 }
