package text

import "testing"

// As vLLM's human_readable_int: small letters are powers of 1000, capitals of 1024.
func TestWholeNumber(t *testing.T) {
	for text, want := range map[string]int64{
		"8192": 8192, "1k": 1000, "1K": 1024, "25.6k": 25_600, "2m": 2_000_000, "2M": 2 << 20, "1G": 1 << 30,
		"1t": 1e12,
	} {
		if got, ok := WholeNumber(text); !ok || got != want {
			t.Errorf("WholeNumber(%q) = %d, %t, want %d", text, got, ok, want)
		}
	}
	for _, text := range []string{"", "k", "1.5", "1.5K", "auto", "-1", "1e3", "8kb", "8 k", "99999999T"} {
		if got, ok := WholeNumber(text); ok {
			t.Errorf("WholeNumber(%q) = %d, want none", text, got)
		}
	}
}
