package gpu

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// replayNVIDIA puts a table before the sampler, printed once to the question
// what can be asked, and once by the program that keeps running.
func replayNVIDIA(t *testing.T, capture string) outcome {
	fakeTools(t, map[string]string{"nvidia-smi": `case "$*" in
*--help-query-gpu*) exit 2;;
*-lms*) cat "` + capture + `"; exec sleep 20;;
*) exec cat "` + capture + `";;
esac`})
	return outcomeOf(t, newNVIDIASMISampler, "", boxOfNVIDIA(t, capture))
}

// replayNVIDIAFailing prints an error the way the tool does, on stdout.
func replayNVIDIAFailing(t *testing.T, capture string) outcome {
	fakeTools(t, map[string]string{"nvidia-smi": `cat "` + capture + `"; exit 9`})
	return outcomeOf(t, newNVIDIASMISampler, "", boxOfNVIDIA(t, capture))
}

func replayNVIDIAHolders(t *testing.T, capture string) outcome {
	fakeTools(t, map[string]string{"nvidia-smi": `exec cat "` + capture + `"`})
	holders, err := smiHolders(t.Context(), nil, boxOfNVIDIA(t, capture))
	if err != nil {
		return outcome{Error: err.Error()}
	}
	return outcome{Holders: holders}
}

func replayNVIDIAList(t *testing.T, capture string) outcome {
	data, err := os.ReadFile(capture)
	if err != nil {
		t.Fatal(err)
	}
	devices := boxOfNVIDIA(t, capture)
	addParts(devices, parseSMIList(data))
	var got outcome
	for _, part := range devices[0].Parts {
		got.Notes = append(got.Notes, fmt.Sprintf("part %d of %s: %s, %s", part.Index, devices[0].ID(), part.Name, part.UUID))
	}
	return got
}

// boxOfNVIDIA is a box with the one GPU that a capture names.
func boxOfNVIDIA(t *testing.T, capture string) []Device {
	t.Helper()
	data, err := os.ReadFile(capture)
	if err != nil {
		t.Fatal(err)
	}
	device := Device{Vendor: NVIDIA}
	if at := strings.Index(string(data), zeroUUID); at >= 0 {
		device.UUID = zeroUUID
	}
	return []Device{device}
}
