package text

import "testing"

func TestRanges(t *testing.T) {
	for _, tt := range []struct{ a, b, want string }{
		{"60.2 % of the gaps", "81.5 % of the gaps", "60.2 to 81.5 % of the gaps"},
		{"60.2 to 81.5 % of the gaps", "70.3 % of the gaps", "60.2 to 81.5 % of the gaps"},
		{"60.2 to 81.5 % of the gaps", "90.0 % of the gaps", "60.2 to 90.0 % of the gaps"},
		{"late by 9.5 ms (p99; 10 ms)", "late by 21.4 ms (p99; 10 ms)", "late by 9.5 to 21.4 ms (p99; 10 ms)"},
		{"up to 9.5 ms late", "up to 21.4 ms late", "up to 21.4 ms late"},
		{"up to 21.4 ms late", "up to 9.5 ms late", "up to 21.4 ms late"},
		{"1.1 of 2.2", "1.3 of 2.0", "1.1 to 1.3 of 2.0 to 2.2"},
		{"the same 1.5", "the same 1.5", "the same 1.5"},
		{"", "", ""},

		{"vllm 0.11.0 lacks it", "vllm 0.6.3 lacks it", ""},
		{"Llama-3.1-70B", "Llama-3.2-70B", ""},
		{"v0.11 lacks it", "v0.12 lacks it", ""},
		{"host 10.0.0.1", "host 10.0.0.2", ""},
		{"3 of 64 failed", "60 of 64 failed", ""},
		{"1.5 GiB are free", "1.5 GiB are used", ""},
		{"1.5", "1.5 and 2.5", ""},
		{"GPU 0 throttled", "GPU 1 throttled", ""},
	} {
		got, ok := Ranges(tt.a, tt.b)
		if got != tt.want || ok != (tt.want != "" || tt.a == "") {
			t.Errorf("Ranges(%q, %q) = %q, %v, want %q", tt.a, tt.b, got, ok, tt.want)
		}
	}
}
