package text

import "testing"

func TestCount(t *testing.T) {
	for n, want := range map[int]string{0: "0 steps", 1: "1 step", 2: "2 steps"} {
		if got := Count(n, "step"); got != want {
			t.Errorf("Count(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestUnknownValuesAreDashes(t *testing.T) {
	for what, got := range map[string]string{
		"Gibibytes": Gibibytes(nil), "Percent": Percent(nil), "Number": Number(nil, 1, 1), "OrDash": OrDash(""),
	} {
		if got != "-" {
			t.Errorf("%s of an unknown value = %q, want a dash", what, got)
		}
	}
}

func TestNumbers(t *testing.T) {
	for got, want := range map[string]string{
		Gibibytes(new(int64(3 << 29))): "1.5",
		Percent(new(0.125)):            "12 %",
		Number(new(1.5e9), 1e6, 0):     "1500",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestParsePercent(t *testing.T) {
	for _, tt := range []struct {
		text string
		want float64
		ok   bool
	}{
		{"2%", 0.02, true},
		{"0.5 %", 0.005, true},
		{" 99.5 % ", 0.995, true},
		{"100%", 0, false},
		{"200%", 0, false},
		{"", 0, false},
		{"2", 0, false},
		{"0%", 0, false},
		{"-1%", 0, false},
		{"2%x", 0, false},
		{"NaN%", 0, false},
		{"Inf%", 0, false},
		{"2 0%", 0, false},
		{"2%abc", 0, false},
	} {
		got, err := ParsePercent(tt.text)
		if (err == nil) != tt.ok || got != tt.want {
			t.Errorf("ParsePercent(%q) = %v, %v, want %v, ok %v", tt.text, got, err, tt.want, tt.ok)
		}
	}
}

func TestLastLine(t *testing.T) {
	for text, want := range map[string]string{"": "", "a\nb\n\n": "b", "  a  ": "a", "a\r\nb\r\n": "b"} {
		if got := LastLine(text); got != want {
			t.Errorf("LastLine(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestCleanLines(t *testing.T) {
	const dirty = "a\x1b[2Jb\n  c\x1b]0;title\x07d\r\n\x1b[31mred\x1b[0m"
	if got, want := CleanLines(dirty), "ab\n  cd\nred"; got != want {
		t.Errorf("CleanLines(%q) = %q, want %q", dirty, got, want)
	}
}
