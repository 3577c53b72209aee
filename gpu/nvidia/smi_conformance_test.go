package nvidia

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/benchrig/bench/gpu/device"
	"github.com/benchrig/bench/internal/fakegpu"
)

var update = flag.Bool("update", false, "write what samplers make of captures beside them; review every change")

const zeroUUID = "GPU-00000000-0000-0000-0000-000000000000"

// TestConformance holds every capture of nvidia-smi to its reviewed reading.
func TestConformance(t *testing.T) {
	const notAsked = "nvidia-smi dmon and pmon are not asked: the query has the same, with units"
	fakegpu.Conformance{
		Folder: captures,
		Update: *update,
		Tools:  []string{"nvidia-smi-"},
		Replays: map[string]fakegpu.Replay{
			"nvidia-smi-":                                replayNVIDIA,
			"nvidia-smi-error":                           replayNVIDIAFailing,
			"nvidia-smi-h100-590.48.01-compute-apps":     replayNVIDIAHolders,
			"nvidia-smi-h100-mig-590.48.01-compute-apps": replayNVIDIAHolders,

			"nvidia-smi-rtx2080super-windows-wddm-610.62-compute-apps": replayNVIDIAHolders,
			"nvidia-smi-rtx4080super-595.71.05-compute-apps":           replayNVIDIAHolders,

			"nvidia-smi-h100-mig-590.48.01-L": replayNVIDIAList,
			"nvidia-smi-h200-mig-590.48.01-L": replayNVIDIAList,
		},
		NotParsed: map[string]string{
			"nvidia-smi-h100-590.48.01-dmon-load.txt": notAsked,
			"nvidia-smi-h100-590.48.01-pmon-load.txt": notAsked,
		},
	}.Run(t)
}

// replayNVIDIA puts a table before the sampler, printed once to the question
// what can be asked, and once by the program that keeps running.
func replayNVIDIA(t *testing.T, capture string) fakegpu.Outcome {
	fakegpu.Tools(t, map[string]string{"nvidia-smi": `case "$*" in
*--help-query-gpu*) exit 2;;
*-lms*) cat "` + capture + `"; exec sleep 20;;
*) exec cat "` + capture + `";;
esac`})
	return fakegpu.OutcomeOf(t, NewSMISampler, "", machineOfNVIDIA(t, capture))
}

// replayNVIDIAFailing prints an error the way the tool does, on stdout.
func replayNVIDIAFailing(t *testing.T, capture string) fakegpu.Outcome {
	fakegpu.Tools(t, map[string]string{"nvidia-smi": `cat "` + capture + `"; exit 9`})
	return fakegpu.OutcomeOf(t, NewSMISampler, "", machineOfNVIDIA(t, capture))
}

func replayNVIDIAHolders(t *testing.T, capture string) fakegpu.Outcome {
	fakegpu.Tools(t, map[string]string{"nvidia-smi": `exec cat "` + capture + `"`})
	holders, err := SMIHolders(t.Context(), nil, machineOfNVIDIA(t, capture))
	if err != nil {
		return fakegpu.Outcome{Error: err.Error()}
	}
	return fakegpu.Outcome{Holders: holders}
}

func replayNVIDIAList(t *testing.T, capture string) fakegpu.Outcome {
	data, err := os.ReadFile(capture)
	if err != nil {
		t.Fatal(err)
	}
	devices := machineOfNVIDIA(t, capture)
	addParts(devices, parseSMIList(data))
	var got fakegpu.Outcome
	for _, part := range devices[0].Parts {
		got.Notes = append(got.Notes, fmt.Sprintf("part %d of %s: %s, %s", part.Index, devices[0].ID(),
			part.Name, part.UUID))
	}
	return got
}

// machineOfNVIDIA is a machine with the one GPU that a capture names.
func machineOfNVIDIA(t *testing.T, capture string) []device.Device {
	t.Helper()
	data, err := os.ReadFile(capture)
	if err != nil {
		t.Fatal(err)
	}
	d := device.Device{Vendor: device.NVIDIA}
	if at := strings.Index(string(data), zeroUUID); at >= 0 {
		d.UUID = zeroUUID
	}
	return []device.Device{d}
}
