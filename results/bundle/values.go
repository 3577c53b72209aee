package bundle

import (
	"encoding/binary"
	"slices"
)

// values are the secrets that are known. The time to find them in a text hardly grows
// with their number: a log may name another on each of its lines.
type values struct {
	all     map[string]value
	starts  [1 << 16]bool    // whether something begins with these two bytes
	lengths map[uint32][]int // of what begins with these four bytes, the longest first
}

// value is what is known of a secret.
type value struct {
	what   string
	quotes int // bytes at each end that are not part of it
}

// Values shorter than everywhere are hidden only where they stand as a whole string;
// below shortest they are left alone: they would blacken everything.
const (
	everywhere = 6
	shortest   = 4
)

func newValues() values { return values{all: map[string]value{}, lengths: map[uint32][]int{}} }

// add notes a secret of at least shortest bytes.
func (v *values) add(text, what string) {
	if len(text) >= everywhere {
		v.note(text, value{what, 0})
		return
	}
	for _, quote := range []string{`"`, `'`} {
		v.note(quote+text+quote, value{what, len(quote)})
	}
}

func (v *values) note(text string, noted value) {
	if _, known := v.all[text]; known {
		return
	}
	v.all[text] = noted

	start := []byte(text[:4])
	v.starts[binary.LittleEndian.Uint16(start)] = true
	at := binary.LittleEndian.Uint32(start)
	i, found := slices.BinarySearchFunc(v.lengths[at], len(text), func(a, b int) int { return b - a })
	if !found {
		v.lengths[at] = slices.Insert(v.lengths[at], i, len(text))
	}
}

// hide replaces the secrets in a line and counts them by what they are. Those that
// overlap are replaced as one, so that nothing of either stays.
func (v *values) hide(line []byte, counts map[string]int) []byte {
	var out []byte
	last, from, to := 0, 0, 0 // the end of what out has, and the place of the secret that comes next
	for i := 0; i+everywhere <= len(line); i++ {
		if !v.starts[binary.LittleEndian.Uint16(line[i:])] {
			continue
		}
		begin, end, what := v.longest(line, i)
		if end <= to {
			continue
		}
		if begin >= to { // else it overlaps
			out, last = replaced(out, line, last, from, to)
			from = begin
		}
		to = end
		counts[what]++
	}

	if to == 0 {
		return line
	}
	out, last = replaced(out, line, last, from, to)
	return append(out, line[last:]...)
}

// longest is the longest secret that begins at i; its end is 0 where there is none.
func (v *values) longest(line []byte, i int) (from, to int, what string) {
	for _, n := range v.lengths[binary.LittleEndian.Uint32(line[i:])] {
		if i+n > len(line) {
			continue
		}
		if found, ok := v.all[string(line[i:i+n])]; ok {
			return i + found.quotes, i + n - found.quotes, found.what
		}
	}
	return 0, 0, ""
}

// replaced appends the line from last up to a secret and what stands in its place. It
// gives the end of what was appended.
func replaced(out, line []byte, last, from, to int) ([]byte, int) {
	if to == 0 {
		return out, last
	}
	return append(append(out, line[last:from]...), hidden...), to
}
