package simengine

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// device describes one accelerator. Efficiencies say which share of the data
// sheet's figure an engine reaches; they and the overheads were chosen so that
// a 70B model on MI300X behaves like published runs of late 2024.
type device struct {
	Name        string
	memory      float64 // bytes
	bandwidth   float64 // bytes/s
	bandwidthEf float64
	flops       float64 // dense 16 bit, 1/s
	flopsEf     float64
	overhead    float64 // s a step: scheduling, launching, sampling
	perSeq      float64 // s a step and sequence
	allReduce   float64 // s latency of one all-reduce over two devices
	link        float64 // bytes/s between devices
	hop         float64 // s to hand activations to the next pipeline stage
}

// Gib is the number of bytes of a gibibyte.
const Gib = 1 << 30

func devices() []device {
	return []device{
		{"mi300x", 192 * Gib, 5.3e12, 0.60, 1307e12, 0.30, 6e-3, 40e-6, 8e-6, 200e9, 2e-3},
		{"h100", 80 * Gib, 3.35e12, 0.75, 989e12, 0.45, 3e-3, 20e-6, 5e-6, 350e9, 1e-3},
		{"strix-halo", 96 * Gib, 256e9, 0.75, 59e12, 0.24, 1.5e-3, 50e-6, 50e-6, 5e9, 2e-3},
		{"cpu", 32 * Gib, 60e9, 0.70, 1.5e12, 0.50, 0.5e-3, 20e-6, 100e-6, 2e9, 1e-3},
	}
}

// Devices lists the names of the simulated devices.
func Devices() []string {
	var names []string
	for _, d := range devices() {
		names = append(names, d.Name)
	}
	return names
}

func findDevice(name string) (device, error) {
	all := devices()
	i := slices.IndexFunc(all, func(d device) bool { return d.Name == strings.ToLower(name) })
	if i < 0 {
		return device{}, fmt.Errorf("find device %q: --sim-device is one of %s", name, strings.Join(Devices(), ", "))
	}
	return all[i], nil
}

// model describes the shape of a transformer.
type model struct {
	Name     string
	Billions float64 // parameters, 1e9
	layers   int
	Hidden   int
	kvHeads  int
	headDim  int

	active float64 // parameters that a token goes through, 1e9; 0: all
	read   float64 // share of the weights that a step of many sequences reads; 0: all
	byName bool    // taken for models that have its name in theirs only, never by size
}

// Models lists the simulated model shapes.
func Models() []model {
	return []model{
		{"llama-1b", 1.24, 16, 2048, 8, 64, 0, 0, false},
		{"llama-3b", 3.21, 28, 3072, 8, 128, 0, 0, false},
		{"llama-2-7b", 6.74, 32, 4096, 32, 128, 0, 0, true},
		{"llama-8b", 8.03, 32, 4096, 8, 128, 0, 0, false},
		{"llama-70b", 70.6, 80, 8192, 8, 128, 0, 0, false},
		{"llama-405b", 405.9, 126, 16384, 8, 128, 0, 0, false},
		{"maverick", 400.7, 48, 5120, 8, 128, 17.2, 0.4, true}, // 128 experts
	}
}

// ModelPresets lists the names of the simulated model shapes.
func ModelPresets() []string {
	var names []string
	for _, m := range Models() {
		names = append(names, m.Name)
	}
	return names
}

// FindModel returns the named preset, or without one the preset nearest in
// size to what the model's name says; a name without a size is taken for 8B.
func FindModel(preset, modelName string) (model, error) {
	all := Models()
	if preset != "" {
		i := slices.IndexFunc(all, func(m model) bool { return m.Name == strings.ToLower(preset) })
		if i < 0 {
			return model{}, fmt.Errorf("find model %q: --sim-model is one of %s", preset,
				strings.Join(ModelPresets(), ", "))
		}
		return all[i], nil
	}

	for _, m := range all {
		if m.byName && strings.Contains(strings.ToLower(modelName), m.Name) {
			return m, nil
		}
	}

	all = slices.DeleteFunc(all, func(m model) bool { return m.byName })
	billions := sizeInName(modelName)
	return slices.MinFunc(all, func(a, b model) int {
		da := math.Abs(math.Log(a.Billions / billions))
		db := math.Abs(math.Log(b.Billions / billions))
		return int(math.Copysign(1, da-db))
	}), nil
}

// sizeInName reads "8B" out of a name such as Llama-3.1-8B-Instruct, in 1e9.
func sizeInName(name string) float64 {
	size := regexp.MustCompile(`(?i)(?:^|[-_./ ])(\d{1,4}(?:\.\d{1,3})?)([bm])(?:$|[-_./ ])`)
	m := size.FindStringSubmatch(name)
	if m == nil {
		return 8
	}
	n, err := strconv.ParseFloat(m[1], 64)
	if err != nil || n <= 0 {
		return 8
	}
	if strings.EqualFold(m[2], "m") {
		n /= 1000
	}
	return n
}

// WeightBytes is the size of the weights under a quantization.
func (m model) WeightBytes(quantization string) float64 {
	return m.Billions * 1e9 * bytesPerWeight(quantization)
}

func bytesPerWeight(quantization string) float64 { return FormatNamed(quantization).bytes }

// KvBytes is the KV cache a token takes.
func (m model) KvBytes(dtype string) float64 {
	n := 2.0 * float64(m.layers*m.kvHeads*m.headDim)
	if strings.HasPrefix(strings.ToLower(dtype), "fp8") {
		return n
	}
	return 2 * n
}
