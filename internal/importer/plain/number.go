// Package plain brings text and numbers of any file into one form.
//
// What goes in: the bytes of a file, the text of a cell. What comes out: UTF-8,
// numbers as programs write them, and what the commas within them mean. It knows
// nothing of figures and formats.
package plain

import (
	"regexp"
	"strconv"
	"strings"
)

// Commas says what a comma within a number means in one file. People write
// 1,024 for a thousand and 0,512 for a half, so that a number alone may not
// tell: the file as a whole does.
type Commas int

// What a comma means in a file.
const (
	Unknown Commas = iota // nothing in the file shows it: read as of thousands, with a warning
	Thousands
	Decimal
	Both // the file has both: a number that could be either is not read
)

var (
	valueCell = regexp.MustCompile(`^[+-]?(\d[\d.,]*)(?:\s*[^\s\d]{1,4}\s*(\d[\d.,]*))?(?:\s*[A-Za-z/%]+)?$`)

	// Numbers whose comma can mean one thing only, and those whose comma can mean both.
	plainDecimal   = regexp.MustCompile(`^(?:0,\d+|\d+,(?:\d{1,2}|\d{4,})|\d{1,3}(?:\.\d{3})+,\d+)$`)
	plainThousands = regexp.MustCompile(`^\d{1,3}(?:(?:,\d{3})+\.\d+|(?:,\d{3}){2,})$`)
	eitherComma    = regexp.MustCompile(`^[1-9]\d{0,2},\d{3}$`)

	dotDecimal   = regexp.MustCompile(`^\d+\.(?:\d{1,2}|\d{4,})$`)
	dotThousands = regexp.MustCompile(`^\d{1,3}(?:\.\d{3})+$`)
)

// Value is a cell or the like, and whether it counts something, so that it has no
// fraction.
type Value struct {
	Text  string
	Count bool
}

// CommasIn decides by those values of a file that are numbers.
func CommasIn(values []Value) Commas {
	decimal, groups, counts := false, false, false
	for _, v := range values {
		m := valueCell.FindStringSubmatch(Cell(v.Text))
		if m == nil {
			continue
		}
		for _, text := range m[1:] {
			switch {
			case plainDecimal.MatchString(text):
				decimal = true
			case plainThousands.MatchString(text), dotDecimal.MatchString(text):
				groups = true
			case eitherComma.MatchString(text) && v.Count:
				counts = true
			}
		}
	}

	switch {
	case decimal && groups:
		return Both
	case decimal:
		return Decimal
	case groups, counts:
		return Thousands
	}
	return Unknown
}

// Plain returns a number in the form of programs: no commas, a point before the
// fraction. whole says that it has no fraction. doubtful is set if its comma may mean
// either. Other text stays as it is.
func (c Commas) Plain(text string, whole bool) (plain string, doubtful bool) {
	text = Cell(text)
	sign := ""
	if strings.HasPrefix(text, "-") || strings.HasPrefix(text, "+") {
		sign, text = text[:1], text[1:]
	}

	switch {
	case plainDecimal.MatchString(text):
		text = decimalPoint(text)
	case plainThousands.MatchString(text), eitherComma.MatchString(text) && (whole || c == Thousands):
		text = strings.ReplaceAll(text, ",", "")
	case eitherComma.MatchString(text) && c == Decimal:
		text = decimalPoint(text)
	case eitherComma.MatchString(text):
		if doubtful = true; c == Unknown {
			text = strings.ReplaceAll(text, ",", "")
		}
	case dotThousands.MatchString(text) && c == Decimal:
		text = strings.ReplaceAll(text, ".", "")
	}

	return sign + text, doubtful
}

func decimalPoint(text string) string {
	return strings.Replace(strings.ReplaceAll(text, ".", ""), ",", ".", 1)
}

var (
	thousands = regexp.MustCompile(`^[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d+)?$`)
	number    = regexp.MustCompile(`^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$`)
)

// Number reads a value as people print it: bold, with thousands separators.
func Number(text string) (float64, bool) {
	text = Cell(text)
	if thousands.MatchString(text) {
		text = strings.ReplaceAll(text, ",", "")
	}
	if !number.MatchString(text) {
		return 0, false
	}
	v, err := strconv.ParseFloat(text, 64)
	return v, err == nil
}

// groups are digits in threes between apostrophes or blanks, of any width.
var groups = regexp.MustCompile("^[+-]?[1-9]\\d{0,2}(?:['’ \u00a0\u2009\u202f]\\d{3})+(?:[.,]\\d+)?$")

// Cell returns a cell without Markdown's emphasis, and a number without the apostrophes
// or blanks between its thousands.
func Cell(text string) string {
	text = strings.Trim(strings.TrimSpace(text), "*`_ ")
	if !groups.MatchString(text) {
		return text
	}
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune("'’ \u00a0\u2009\u202f", r) {
			return -1
		}
		return r
	}, text)
}

// IsNumber reports whether text is a number as programs write it.
func IsNumber(text string) bool { return number.MatchString(text) }
