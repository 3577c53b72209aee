package gpu

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/benchrig/bench/results"
)

var update = flag.Bool("update", false, "write what samplers make of captures beside them; review every change")

// replay is how a capture is put before the code that reads its kind. It
// writes fake tools to PATH that print the capture byte by byte.
type replay func(t *testing.T, capture string) outcome

// outcome is what a capture was read as. Its golden file is what somebody
// found right by the vendor's documents.
type outcome struct {
	Readings []results.GPUReading `json:"readings,omitempty"`
	Holders  []results.GPUHolder  `json:"holders,omitempty"`
	Notes    []string             `json:"notes,omitempty"`
	Error    string               `json:"error,omitempty"`
}

// replays names the replay of a capture by the beginning of its name, the
// longest that fits. A capture that nothing reads stands in notParsed.
func replays() map[string]replay {
	return map[string]replay{
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

		"nvidia-smi-":                                replayNVIDIA,
		"nvidia-smi-error":                           replayNVIDIAFailing,
		"nvidia-smi-h100-590.48.01-compute-apps":     replayNVIDIAHolders,
		"nvidia-smi-h100-mig-590.48.01-compute-apps": replayNVIDIAHolders,

		"nvidia-smi-rtx2080super-windows-wddm-610.62-compute-apps": replayNVIDIAHolders,
		"nvidia-smi-rtx4080super-595.71.05-compute-apps":           replayNVIDIAHolders,

		"nvidia-smi-h100-mig-590.48.01-L": replayNVIDIAList,
		"nvidia-smi-h200-mig-590.48.01-L": replayNVIDIAList,

		"rocm-smi-":                       replayROCm,
		"rocm-smi-6.2-concise-json-error": replayROCmFailing,
		"rocm-smi-7.x-mi300x-vf-showpids": replayROCmProcesses,
	}
}

// notParsed says of captures why nothing reads them. They are here so that a
// change of mind has something to test with.
func notParsed() map[string]string {
	const (
		monitor  = "amd-smi monitor is not asked: metric has the same, with units"
		csv      = "CSV is not asked for: its lists and headers differ by version"
		concise  = "the concise table has columns that only a reader of its layout can tell apart"
		text     = "the text for people is not asked for"
		monitors = "nvidia-smi dmon and pmon are not asked: the query has the same, with units"
	)
	return map[string]string{
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
		"nvidia-smi-h100-590.48.01-dmon-load.txt":                     monitors,
		"nvidia-smi-h100-590.48.01-pmon-load.txt":                     monitors,
		"rocm-smi-6.x-navi21-raphael-meminfo.csv":                     csv,
		"rocm-smi-6.x-rx7900xt.csv":                                   csv,
		"rocm-smi-6.0-concise-mi300x-x4-vf.txt":                       concise,
		"rocm-smi-6.4.0-concise-mi300x-cpx.txt":                       concise,
		"rocm-smi-6.4.1-concise-mi300x-cpx.txt":                       concise,
		"rocm-smi-6.0-a-mi300x-x4-vf.txt":                             text,
		"rocm-smi-showpower-mi250-text.txt":                           text,
	}
}

const captures = "testdata/captures"

// TestConformance holds every capture to its reviewed reading.
func TestConformance(t *testing.T) {
	entries, err := os.ReadDir(captures)
	if err != nil {
		t.Fatal(err)
	}
	skipped := notParsed()
	count := 0
	for _, entry := range entries {
		name := entry.Name()
		if strings.HasSuffix(name, ".want.json") {
			continue
		}
		if _, ok := skipped[name]; ok {
			delete(skipped, name)
			continue
		}
		count++
		t.Run(name, func(t *testing.T) { conform(t, name) })
	}
	for name := range skipped {
		t.Errorf("notParsed names %s, which is not there", name)
	}
	if count == 0 {
		t.Error("there is no capture")
	}
}

func conform(t *testing.T, name string) {
	best := ""
	for prefix := range replays() {
		if strings.HasPrefix(name, prefix) && len(prefix) > len(best) {
			best = prefix
		}
	}
	if best == "" {
		t.Fatalf("no replay for %s: add one, or say in notParsed why there is none", name)
	}
	path, err := filepath.Abs(filepath.Join(captures, name))
	if err != nil {
		t.Fatal(err)
	}
	got, err := json.MarshalIndent(replays()[best](t, path), "", "\t")
	if err != nil {
		t.Fatal(err)
	}
	got = append(got, '\n')
	golden := path + ".want.json"
	if *update {
		if err := os.WriteFile(golden, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(golden)
	if os.IsNotExist(err) {
		t.Fatalf("a capture without a reviewed reading: review this and add it as %s (-update writes it):\n%s", filepath.Base(golden), got)
	}
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("read as\n%s\nwant\n%s", got, want)
	}
}

// A golden file whose capture has gone tests nothing.
func TestConformanceGoldens(t *testing.T) {
	goldens, err := filepath.Glob(filepath.Join(captures, "*.want.json"))
	if err != nil || len(goldens) == 0 {
		t.Fatalf("golden files: %v, %v", goldens, err)
	}
	for _, golden := range goldens {
		if _, err := os.Stat(strings.TrimSuffix(golden, ".want.json")); err != nil {
			t.Errorf("%s: %v", golden, err)
		}
	}
}

// boxOf is a box with the GPUs of a capture: at the addresses that it names,
// else as many as it numbers, in the order of PCI.
func boxOf(t *testing.T, capture string) (string, []Device) {
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
		files = join(files, card(i, address, map[string]string{"vendor": "0x1002", "mem_info_vram_total": "1000"}))
	}
	root := tree(t, files)
	devices, _ := amdDevices(root)
	return root, devices
}

func outcomeOf(t *testing.T, open func(Options, []Device) (Sampler, error), root string, devices []Device) outcome {
	t.Helper()
	sampler, err := open(Options{Root: root}, devices)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := sampler.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	}()
	readings, err := sampler.Read(t.Context())
	got := outcome{}
	if n, ok := sampler.(interface{ Notes() []string }); ok {
		got.Notes = n.Notes()
	}
	if err != nil {
		got.Error = err.Error()
	}
	for _, reading := range readings {
		if reading.At.IsZero() || !slices.ContainsFunc(devices, func(d Device) bool { return d.ID() == reading.Device }) {
			t.Errorf("reading of %q at %v: want a device of the inventory, and a time", reading.Device, reading.At)
		}
		got.Readings = append(got.Readings, reading.GPUReading)
	}
	return got
}

// fakeAMDSMI answers the commands that it is given and, of the others, list
// and metric as a healthy box does.
func fakeAMDSMI(t *testing.T, capture, command string) outcome {
	root, devices := boxOf(t, capture)
	var list, metric []string
	for i, device := range devices {
		list = append(list, fmt.Sprintf(`{"gpu":%d,"bdf":"%s"}`, i, device.PCI))
		metric = append(metric, fmt.Sprintf(`{"gpu":%d,"power":{"socket_power":{"value":%d,"unit":"W"}}}`, i, 100+i))
	}
	fakeTools(t, map[string]string{"amd-smi": `case "$1" in
` + command + `) exec cat "` + capture + `";;
list) echo '[` + strings.Join(list, ",") + `]';;
metric) echo '[` + strings.Join(metric, ",") + `]';;
static) echo '[{"gpu":0,"limit":"N/A"}]';;
esac`})
	return outcomeOf(t, newAMDSMISampler, root, devices)
}

func replayAMDMetric(t *testing.T, capture string) outcome { return fakeAMDSMI(t, capture, "metric") }

func replayAMDStatic(t *testing.T, capture string) outcome { return fakeAMDSMI(t, capture, "static") }
func replayAMDList(t *testing.T, capture string) outcome   { return fakeAMDSMI(t, capture, "list") }

func replayROCm(t *testing.T, capture string) outcome {
	root, devices := boxOf(t, capture)
	fakeTools(t, map[string]string{"rocm-smi": `exec cat "` + capture + `"`})
	return outcomeOf(t, newROCmSMISampler, root, devices)
}

func replayROCmFailing(t *testing.T, capture string) outcome {
	root, devices := boxOf(t, capture)
	fakeTools(t, map[string]string{"rocm-smi": `cat "` + capture + `"; exit 1`})
	return outcomeOf(t, newROCmSMISampler, root, devices)
}

func replayAMDProcesses(t *testing.T, capture string) outcome {
	fakeTools(t, map[string]string{"amd-smi": `case "$*" in "process --json") exec cat "` + capture + `";; *) exit 2;; esac`})
	return holdersOutcome(t)
}

func replayROCmProcesses(t *testing.T, capture string) outcome {
	fakeTools(t, map[string]string{"rocm-smi": `exec cat "` + capture + `"`})
	return holdersOutcome(t)
}

func holdersOutcome(t *testing.T) outcome {
	holders, err := amdToolHolders(t.Context(), Options{})
	if err != nil {
		return outcome{Error: err.Error()}
	}
	return outcome{Holders: holders}
}
