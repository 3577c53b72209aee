package schema

import (
	"math"
	"regexp"
	"strconv"
)

// maxSize bounds sizes, so that sums of them stay within an int64.
const maxSize = 1 << 60

var sizeText = regexp.MustCompile(`^([0-9]+(?:\.[0-9]+)?) ?(B|kB|KB|KiB|MB|MiB|GB|GiB|TB|TiB)$`)

// sizeUnit is the bytes of a unit: those with an i are powers of 1024.
func sizeUnit(name string) float64 {
	units := map[string]float64{
		"B": 1, "kB": 1e3, "KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12,
		"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40,
	}
	return units[name]
}

// ParseSize reads "512MiB" as bytes.
func ParseSize(s string) (int64, bool) {
	m := sizeText.FindStringSubmatch(s)
	if m == nil {
		return 0, false
	}
	v, err := strconv.ParseFloat(m[1], 64)
	if err != nil || v*sizeUnit(m[2]) > maxSize {
		return 0, false
	}
	return int64(math.Round(v * sizeUnit(m[2]))), true
}

// size reads "20GiB" and a plain 0.
func (r *Reader) size(n *Node) (int64, bool) {
	if n.Kind == Number && n.Text == "0" {
		return 0, true
	}
	if v, ok := ParseSize(n.Text); ok && n.Kind == Text {
		return v, true
	}
	if n.Kind == Number {
		r.Fail(n.Pos, "%s is %s, which has no unit, expected %s", r.Key(), n.Shown(), Simple(SizeShape).Words())
		return 0, false
	}
	r.Wrong(n, Simple(SizeShape))
	return 0, false
}

// SizeKey is a key whose value is a size such as 20GiB, read as bytes; of plain numbers only 0.
func SizeKey[T any](key, doc string, at func(*T) *int64) Field[T] {
	return valueKey(key, doc, Simple(SizeShape), (*Reader).size, func(into *T, v int64) { *at(into) = v })
}

// SizeTextKey is a size that others read as a text: plain bytes, which no program
// reads in units of its own.
func SizeTextKey[T any](key, doc string, at func(*T) *string) Field[T] {
	return valueKey(key, doc, Simple(SizeShape), (*Reader).size,
		func(into *T, v int64) { *at(into) = strconv.FormatInt(v, 10) })
}

// PercentText matches a percentage below 100 such as "2.5%"; its group is the number.
var PercentText = regexp.MustCompile(`^([0-9]{1,2}(?:\.[0-9]+)?) ?%$`)

// Percent reads "2%" as 0.02.
func (r *Reader) Percent(n *Node) (float64, bool) {
	m := PercentText.FindStringSubmatch(n.Text)
	switch {
	case n.Kind == Number:
		r.Fail(n.Pos, "%s is %s, which has no unit, expected %s", r.Key(), n.Shown(), Simple(PercentShape).Words())
		return 0, false
	case n.Kind != Text || m == nil:
		r.Wrong(n, Simple(PercentShape))
		return 0, false
	}

	v, _ := strconv.ParseFloat(m[1], 64) // digits, see PercentText
	if v == 0 {
		r.Fail(n.Pos, "%s is 0: every difference is larger than nothing", r.Key())
		return 0, false
	}

	return v / 100, true
}
