package proc

import (
	"bytes"
	"math"
	"time"
)

// RunDelay reads the text of a schedstat: for how long the thread was ready to run
// and waited for a core, its second number. It allocates nothing.
func RunDelay(text []byte) (time.Duration, bool) {
	_, text, ok := bytes.Cut(text, []byte{' '})
	if !ok {
		return 0, false
	}
	var n int64
	for i, c := range text {
		switch {
		case c >= '0' && c <= '9' && n < math.MaxInt64/10-1:
			n = n*10 + int64(c-'0')
		default:
			return time.Duration(n), i > 0 && (c == ' ' || c == '\n')
		}
	}
	return time.Duration(n), len(text) > 0
}
