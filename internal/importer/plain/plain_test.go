package plain

import (
	"encoding/binary"
	"testing"
	"unicode/utf16"
)

func TestNumberWithSeparators(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]float64{
		"1'234.5": 1234.5, "12’345": 12345, "1 234 567": 1234567, "1\u00a0025.25": 1025.25, "2\u202f345.5": 2345.5,
		"**1 234**": 1234, "1,234.5": 1234.5,
	} {
		if got, ok := Number(text); !ok || got != want {
			t.Errorf("Number(%q) = %v, %v; want %v", text, got, ok, want)
		}
	}
	for _, text := range []string{"1 2", "1 23 456", "0 123", "12 3456", "1'23", "1 234 a"} {
		if got, ok := Number(text); ok {
			t.Errorf("Number(%q) = %v, want none", text, got)
		}
	}
	if got, doubtful := Decimal.Plain("1 025,4", false); got != "1025.4" || doubtful {
		t.Errorf("Plain of a number with a blank and a comma = %q, %v", got, doubtful)
	}
}

func TestDecodeWithoutMark(t *testing.T) {
	t.Parallel()
	const text = `[{"avg_ts": 12.5, "n_prompt": 64}]`
	var little, big []byte
	for _, unit := range utf16.Encode([]rune(text)) {
		little, big = binary.LittleEndian.AppendUint16(little, unit), binary.BigEndian.AppendUint16(big, unit)
	}
	for want, data := range map[string][]byte{"utf-16le": little, "utf-16be": big, "utf-8": []byte(text)} {
		if got, encoding := Decode(data); string(got) != text || encoding != want {
			t.Errorf("Decode of %s = %q, %s", want, got, encoding)
		}
	}
}
