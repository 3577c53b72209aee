package rawjson

import "testing"

// A count is a whole number from 0 on, however it is written; what follows it is read on.
func TestCount(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		"0": 0, "5": 5, "123456789012345": 123456789012345, "9007199254740992": 1 << 53, "5.0": 5, "1e2": 100, "-0": 0,
		"-1": -1, "5.5": -1, "1e400": -1, "9007199254740994": -1, "null": -1, `"5"`: -1, "[5]": -1, "{}": -1, "true": -1,
	} {
		if got := Count([]byte(text)); got != want {
			t.Errorf("Count(%s) = %d, want %d", text, got, want)
		}
		s := Scan([]byte(" " + text + " , 7"))
		if got, n := s.Count(), 1; got != want || !s.More(&n, ']') || s.Count() != 7 || !s.Complete() {
			t.Errorf("%s before another: %d, want %d; complete: %v", text, got, want, s.Complete())
		}
	}
	for _, text := range []string{"01", "1.", "-", "tru", ""} {
		s := Scan([]byte(text))
		if got := s.Count(); got >= 0 && s.Complete() {
			t.Errorf("Count of %q = %d, which is not JSON", text, got)
		}
	}
}
