package simengine

import "strings"

// format is how weights are stored.
type format struct {
	Name  string  // found anywhere in a quantization's or a model's name, in lower case
	bytes float64 // a weight
	slow  float64 // factor of reading them on devices that lack the format; 0: none does
	on    string  // those devices
}

// SixteenBit names the format of weights that are not quantized.
const SixteenBit = "16 bit"

// formats in the order in which names are searched: longer ones before those
// that they contain. The slowdowns are what an APU without the formats was
// seen to lose.
func formats() []format {
	const apu = "strix-halo"

	return []format{
		{"w8a8", 1, 5, apu},
		{"int8", 1, 5, apu},
		{"fp8", 1, 2, apu},
		{"q4_k", 0.606, 1.25, apu},
		{"q5_k", 0.71, 1.25, apu},
		{"q6_k", 0.82, 1.1, apu},
		{"q4_0", 0.567, 1.15, apu},
		{"q4_1", 0.62, 1.15, apu},
		{"q5_0", 0.69, 1.15, apu},
		{"q8_0", 1.063, 0, ""},
		{"iq4", 0.54, 1.3, apu},
		{"iq3", 0.44, 1.3, apu},
		{"iq2", 0.33, 1.3, apu},
		{"q3_k", 0.49, 1.3, apu},
		{"q2_k", 0.41, 1.3, apu},
		{"awq", 0.56, 1.9, apu},
		{"gptq", 0.56, 1.9, apu},
		{"w4a16", 0.56, 1.9, apu},
		{"int4", 0.56, 1.9, apu},
		{"mxfp4", 0.53, 1.5, apu},
		{"q8", 1, 0, ""},
		{"4bit", 0.56, 0, ""},
		{"bnb", 0.56, 0, ""},
	}
}

// FormatNamed finds the format that a name speaks of; without one it is 16 bit.
func FormatNamed(name string) format {
	name = strings.ToLower(name)
	for _, f := range formats() {
		if strings.Contains(name, f.Name) {
			return f
		}
	}
	return format{Name: SixteenBit, bytes: 2}
}

func (f format) slowdown(device string) float64 {
	if f.slow > 0 && f.on == device {
		return f.slow
	}
	return 1
}

// QuantizationOf is the quantization that was asked for, or the one that the
// model's name speaks of.
func QuantizationOf(asked, model string) string {
	if asked != "" && asked != "auto" && asked != "none" {
		return asked
	}
	if f := FormatNamed(model); f.Name != SixteenBit {
		return f.Name
	}
	return ""
}
