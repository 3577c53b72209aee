package scenarios

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

// parseSize reads "512MiB" as bytes.
func parseSize(s string) (int64, bool) {
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
func (r *reader) size(n *node) (int64, bool) {
	if n.kind == number && n.text == "0" {
		return 0, true
	}
	if v, ok := parseSize(n.text); ok && n.kind == text {
		return v, true
	}
	if n.kind == number {
		r.fail(n.pos, "%s is %s, which has no unit, expected %s", r.key(), n.shown(), simple(sizeShape).words())
		return 0, false
	}
	r.wrong(n, simple(sizeShape))
	return 0, false
}

func sizeKey[T any](key, doc string, at func(*T) *int64) field[T] {
	return freeKey(key, doc, simple(sizeShape), func(r *reader, n *node, into *T) {
		if v, ok := r.size(n); ok {
			*at(into) = v
		}
	})
}

// sizeTextKey is a size that others read as a text: plain bytes, which no
// program reads in units of its own.
func sizeTextKey[T any](key, doc string, at func(*T) *string) field[T] {
	return freeKey(key, doc, simple(sizeShape), func(r *reader, n *node, into *T) {
		if v, ok := r.size(n); ok {
			*at(into) = strconv.FormatInt(v, 10)
		}
	})
}
