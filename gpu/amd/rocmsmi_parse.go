package amd

import (
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/benchrig/bench/gpu/device"
	"github.com/benchrig/bench/results"
)

// rocmCard is what rocm-smi says of one card.
type rocmCard struct {
	toolDevice
	results.GPUReading        // without its device
	total              *int64 // memory of its own, bytes
}

// parseROCmCards reads what rocm-smi prints with --json: {"card0": {key:
// text}, "system": {...}}, cards in the order of their numbers. What is odd is
// noted and null.
func parseROCmCards(out []byte, notes *noteList) ([]rocmCard, error) {
	value, err := decodeTool(out)
	if err != nil {
		return nil, err
	}

	top := asObject(value)
	if top == nil {
		return nil, errors.New("its JSON is not an object of cards")
	}

	cards := []rocmCard{}
	for _, key := range slices.Sorted(maps.Keys(top)) {
		number, ok := strings.CutPrefix(key, "card")
		index, err := strconv.ParseUint(number, 10, 16)
		if values := asObject(top[key]); ok && err == nil && values != nil {
			cards = append(cards, readROCmCard(int(index), values, notes))
		}
	}

	if len(cards) == 0 {
		return nil, errors.New("its JSON has no card")
	}

	slices.SortStableFunc(cards, func(a, b rocmCard) int { return a.index - b.index })
	return slices.CompactFunc(cards, func(a, b rocmCard) bool { return a.index == b.index }), nil
}

func readROCmCard(index int, values object, notes *noteList) rocmCard {
	value := func(q quantity, keys ...string) *float64 {
		for _, key := range keys {
			v, err := measure(unbracketed(values.field(key, key+":")), q)
			if err != nil {
				notes.note("rocm-smi: %s: %v", key, err)
			}
			if v != nil {
				return v
			}
		}
		return nil
	}

	card := rocmCard{toolDevice: toolDevice{index: index}}
	card.pci, _ = values.field("PCI Bus").(string)
	card.VRAMUsedBytes = wholeBytes(value(inBytes, "VRAM Total Used Memory (B)"))
	card.total = wholeBytes(device.Positive(value(inBytes, "VRAM Total Memory (B)")))
	card.GTTUsedBytes = wholeBytes(value(inBytes, "GTT Total Used Memory (B)"))
	// Which of the two there is depends on the card and the version.
	if card.PowerW = device.Positive(value(inWatts, "Current Socket Graphics Package Power (W)")); card.PowerW != nil {
		card.PowerKind = "instant"
	} else if card.PowerW = device.Positive(value(inWatts, "Average Graphics Package Power (W)")); card.PowerW != nil {
		card.PowerKind = "average"
	}

	card.PowerLimitW = device.Positive(value(inWatts, "Max Graphics Package Power (W)"))
	if energy := value(inUnits, "Accumulated Energy (uJ)"); energy != nil { // an MI250 passes 1e15 uJ in 15 days
		card.EnergyJ = device.Positive(new(*energy / 1e6))
	}

	card.Busy = device.Share(value(inPercent, "GPU use (%)"))
	// The second is the old name: not a share of the memory in use.
	card.MemoryBusy = device.Share(value(inPercent, "GPU Memory Read/Write Activity (%)", "GPU memory use (%)"))
	card.CoreHz = device.Positive(value(inHertz, "sclk clock speed"))
	card.MemoryHz = device.Positive(value(inHertz, "mclk clock speed"))
	card.EdgeC = device.Celsius(value(inDegrees, "Temperature (Sensor edge) (C)"))
	card.HotspotC = device.Celsius(value(inDegrees, "Temperature (Sensor junction) (C)"))
	card.MemoryC = device.Celsius(value(inDegrees, "Temperature (Sensor memory) (C)"))
	for stack := range 4 {
		hot := device.Celsius(value(inDegrees, "Temperature (Sensor HBM "+strconv.Itoa(stack)+") (C)"))
		if hot != nil && (card.MemoryC == nil || *hot > *card.MemoryC) {
			card.MemoryC = hot
		}
	}

	if isEmptyReading(card.GPUReading) {
		notes.note("rocm-smi: card %d has none of the known values", index)
	}

	return card
}

// unbracketed is the "132Mhz" of "(132Mhz)".
func unbracketed(v any) any {
	if text, ok := v.(string); ok && strings.HasPrefix(text, "(") && strings.HasSuffix(text, ")") {
		return text[1 : len(text)-1]
	}
	return v
}
