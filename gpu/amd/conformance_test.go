package amd

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/benchrig/bench/gpu/device"
	"github.com/benchrig/bench/internal/fakegpu"
)

var update = flag.Bool("update", false, "write what samplers make of captures beside them; review every change")

const captures = "../testdata/captures"

// TestConformance holds every capture of AMD's tools to its reviewed reading.
func TestConformance(t *testing.T) {
	const (
		monitor = "amd-smi monitor is not asked: metric has the same, with units"
		csv     = "CSV is not asked for: its lists and headers differ by version"
		concise = "the concise table has columns that only a reader of its layout can tell apart"
		text    = "the text for people is not asked for"
	)
	fakegpu.Conformance{
		Folder: captures,
		Update: *update,
		Tools:  []string{"amd-smi-", "rocm-smi-"},
		Replays: map[string]fakegpu.Replay{
			"amd-smi-":                       replayAMDMetric,
			"amd-smi-2025-07-static":         replayAMDStatic,
			"amd-smi-26.2.1-rocm7.2-static":  replayAMDStatic,
			"amd-smi-6.2-static":             replayAMDStatic,
			"amd-smi-6.3.1-static":           replayAMDStatic,
			"amd-smi-6.3.1-list":             replayAMDList,
			"amd-smi-26.2.1-rocm7.2-process": replayAMDProcesses,
			"amd-smi-6.1.1-process":          replayAMDProcesses,
			"amd-smi-6.2-process":            replayAMDProcesses,
			"amd-smi-6.3.3-process":          replayAMDProcesses,
			"amd-smi-7.x-mi300x-vf-process":  replayAMDProcesses,

			"rocm-smi-":                       replayROCm,
			"rocm-smi-6.2-concise-json-error": replayROCmFailing,
			"rocm-smi-7.x-mi300x-vf-showpids": replayROCmProcesses,
		},
		NotParsed: map[string]string{
			"amd-smi-6.1-monitor-ptumv-mi300x-x8.txt":                     monitor,
			"amd-smi-6.3.1-monitor-vu-mi300x.csv":                         monitor,
			"amd-smi-6.3.3-monitor-putvm-mi300x-x2-reconstructed.csv":     monitor,
			"amd-smi-6.4.0-monitor-process-mi300x-vf.txt":                 monitor,
			"amd-smi-6.4.0-monitor-ptum-mi300x-x8-groupwarning.txt":       monitor,
			"amd-smi-6.4.0-monitor-vu-mi300x.csv":                         monitor,
			"amd-smi-6.4.0dev-monitor-putvm-mi300x-x2-reconstructed.csv":  monitor,
			"amd-smi-6.4.0dev-monitor-putvm-mi300x-x2-reconstructed.json": monitor,
			"amd-smi-6.3.3-metric-pE-mi300x-x2-reconstructed.csv":         csv,
			"amd-smi-6.x-metric-E-watch-mi210.csv":                        csv,
			"amd-smi-7.1.1-metric-E-mi355x-values-reconstructed.csv":      csv,
			"amd-smi-7.1.1-metric-watch-mi355x-header-only.csv":           csv,
			"amd-smi-6.3-metric-throttle-mi300x.txt":                      text,
			"rocm-smi-6.x-navi21-raphael-meminfo.csv":                     csv,
			"rocm-smi-6.x-rx7900xt.csv":                                   csv,
			"rocm-smi-6.0-concise-mi300x-x4-vf.txt":                       concise,
			"rocm-smi-6.4.0-concise-mi300x-cpx.txt":                       concise,
			"rocm-smi-6.4.1-concise-mi300x-cpx.txt":                       concise,
			"rocm-smi-6.0-a-mi300x-x4-vf.txt":                             text,
			"rocm-smi-showpower-mi250-text.txt":                           text,
		},
	}.Run(t)
}

// machineOf is a machine with the GPUs of a capture: at the addresses that it names,
// else as many as it numbers, in the order of PCI.
func machineOf(t *testing.T, capture string) (string, []device.Device) {
	t.Helper()
	data, err := os.ReadFile(capture)
	if err != nil {
		t.Fatal(err)
	}
	var addresses []string
	for _, match := range regexp.MustCompile(`"(?:bdf|PCI Bus)": *"([0-9A-Fa-f:.]+)"`).FindAllSubmatch(data, -1) {
		addresses = append(addresses, strings.ToLower(string(match[1])))
	}
	if len(addresses) == 0 {
		numbers := map[string]bool{}
		for _, match := range regexp.MustCompile(`"(?:gpu": *|card)(\d+)`).FindAllSubmatch(data, -1) {
			numbers[string(match[1])] = true
		}
		for i := range max(1, len(numbers)) {
			addresses = append(addresses, fmt.Sprintf("0000:%02x:00.0", 0x10+i))
		}
	}
	slices.Sort(addresses)
	files := map[string]string{}
	for i, address := range addresses {
		files = fakegpu.Join(files, fakegpu.Card(i, address, map[string]string{
			"vendor":              "0x1002",
			"mem_info_vram_total": "1000",
		}))
	}
	root := fakegpu.Tree(t, files)
	devices, _ := Devices(root)
	return root, devices
}

// fakeAMDSMI answers the commands that it is given and, of the others, list
// and metric as a healthy machine does.
func fakeAMDSMI(t *testing.T, capture, command string) fakegpu.Outcome {
	root, devices := machineOf(t, capture)
	var list, metric []string
	for i, d := range devices {
		list = append(list, fmt.Sprintf(`{"gpu":%d,"bdf":"%s"}`, i, d.PCI))
		metric = append(metric, fmt.Sprintf(`{"gpu":%d,"power":{"socket_power":{"value":%d,"unit":"W"}}}`, i, 100+i))
	}
	fakegpu.Tools(t, map[string]string{"amd-smi": `case "$1" in
` + command + `) exec cat "` + capture + `";;
list) echo '[` + strings.Join(list, ",") + `]';;
metric) echo '[` + strings.Join(metric, ",") + `]';;
static) echo '[{"gpu":0,"limit":"N/A"}]';;
esac`})
	return fakegpu.OutcomeOf(t, NewSMISampler, root, devices)
}

func replayAMDMetric(t *testing.T, capture string) fakegpu.Outcome {
	return fakeAMDSMI(t, capture, "metric")
}

func replayAMDStatic(t *testing.T, capture string) fakegpu.Outcome {
	return fakeAMDSMI(t, capture, "static")
}

func replayAMDList(t *testing.T, capture string) fakegpu.Outcome {
	return fakeAMDSMI(t, capture, "list")
}

func replayROCm(t *testing.T, capture string) fakegpu.Outcome {
	root, devices := machineOf(t, capture)
	fakegpu.Tools(t, map[string]string{"rocm-smi": `exec cat "` + capture + `"`})
	return fakegpu.OutcomeOf(t, NewROCmSMISampler, root, devices)
}

func replayROCmFailing(t *testing.T, capture string) fakegpu.Outcome {
	root, devices := machineOf(t, capture)
	fakegpu.Tools(t, map[string]string{"rocm-smi": `cat "` + capture + `"; exit 1`})
	return fakegpu.OutcomeOf(t, NewROCmSMISampler, root, devices)
}

func replayAMDProcesses(t *testing.T, capture string) fakegpu.Outcome {
	fakegpu.Tools(t, map[string]string{"amd-smi": `case "$*" in "process --json") exec cat "` + capture +
		`";; *) exit 2;; esac`})
	return holdersOutcome(t)
}

func replayROCmProcesses(t *testing.T, capture string) fakegpu.Outcome {
	fakegpu.Tools(t, map[string]string{"rocm-smi": `exec cat "` + capture + `"`})
	return holdersOutcome(t)
}

func holdersOutcome(t *testing.T) fakegpu.Outcome {
	holders, err := toolHolders(t.Context(), device.Options{})
	if err != nil {
		return fakegpu.Outcome{Error: err.Error()}
	}
	return fakegpu.Outcome{Holders: holders}
}
