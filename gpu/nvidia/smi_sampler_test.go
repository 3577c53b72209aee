package nvidia

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrig/bench/gpu/device"
	"github.com/benchrig/bench/internal/fakegpu"
	"github.com/benchrig/bench/results"
)

const helpGPU = `List of valid properties to query for the switch "--query-gpu=":

"timestamp"
The timestamp of when the query was made.

"index"
Zero based index of the GPU.

"count"
The number of NVIDIA GPUs in the system.

"uuid" or "gpu_uuid"
"memory.used"
Total memory allocated by active contexts. Say "memory.none" and "not a name" here.
"power.draw"
"clocks.current.sm" or "clocks.sm"
"clocks_throttle_reasons.active"
`

func TestSMIHelpFields(t *testing.T) {
	got := smiHelpFields([]byte(helpGPU))
	for _, want := range []string{"index", "uuid", "gpu_uuid", "clocks.current.sm", "clocks.sm", "power.draw"} {
		if !got[want] {
			t.Errorf("smiHelpFields lacks %q", want)
		}
	}
	if got["--query-gpu="] || got["memory.none"] || len(got) != 10 {
		t.Errorf("smiHelpFields = %v, want only names", got)
	}
}

// What the tool knows is asked for, older names included.
func TestSMIFields(t *testing.T) {
	wanted := []string{"index", "power.draw.instant", "power.draw", "clocks_event_reasons.active"}
	run := func(_ context.Context, argv []string) ([]byte, error) { return []byte(helpGPU), nil }
	if got, want := smiFields(t.Context(), run, wanted), []string{
		"index", "power.draw",
		"clocks_throttle_reasons.active",
	}; !slices.Equal(got, want) {
		t.Errorf("smiFields = %q, want %q", got, want)
	}
	refuse := func(_ context.Context, argv []string) ([]byte, error) {
		return []byte("Invalid option"), errors.New("exit status 2")
	}
	if got := smiFields(t.Context(), refuse, wanted); !slices.Equal(got, wanted) {
		t.Errorf("smiFields without a list = %q, want all", got)
	}
}

// A tool without --help-query-gpu names the field that it does not know; the
// query is made again without it.
func TestSMIAskDropsUnknownFields(t *testing.T) {
	queries := 0
	run := func(_ context.Context, argv []string) ([]byte, error) {
		queries++
		for field := range strings.SplitSeq(strings.TrimPrefix(argv[1], "--query-gpu="), ",") {
			if field == "power.draw.instant" || field == "clocks_event_reasons.active" {
				return []byte(fmt.Sprintf("Field %q is not a valid field to query.\n", field)),
					errors.New("exit status 2")
			}
		}
		return []byte("index, power.draw [W], clocks_throttle_reasons.active\n0, 61.50 W, 0x0000000000000004\n"), nil
	}
	sampler, err := NewSMISampler(device.Options{RunTool: func(ctx context.Context, argv []string) ([]byte, error) {
		if argv[1] == "--help-query-gpu" {
			return nil, errors.New("exit status 2")
		}
		return run(ctx, argv)
	}}, []device.Device{{Vendor: device.NVIDIA, UUID: "GPU-1"}})
	if err != nil {
		t.Fatal(err)
	}
	readings, err := sampler.Read(t.Context())
	if err != nil || len(readings) != 1 {
		t.Fatalf("Read = %v, %v, want one reading", readings, err)
	}
	got := readings[0]
	if got.Device != "GPU-1" || got.PowerW == nil || *got.PowerW != 61.5 || !slices.Equal(got.Throttle,
		[]string{results.ThrottlePower}) {
		t.Errorf("reading = %s", fakegpu.JSON(t, got))
	}
	if queries != 3 {
		t.Errorf("%d queries, want 3: two refused", queries)
	}
	if _, err := sampler.Read(t.Context()); err != nil || queries != 4 {
		t.Errorf("second Read: error %v after %d queries, want one more", err, queries)
	}
}

func TestSMIErrors(t *testing.T) {
	tests := []struct {
		out  string
		err  error
		want string
	}{
		{
			capture(t, "nvidia-smi-error-no-driver-reconstructed.txt"), errors.New("exit status 9"),
			"exit status 9: NVIDIA-SMI has failed because",
		},
		{capture(t, "nvidia-smi-error-driver-library-mismatch-reconstructed.txt"), nil, "is not a table"},
		{"", nil, "it printed nothing"},
		{"index, uuid\n0\n", nil, "is not a row of 2 cells"},
	}
	for _, test := range tests {
		_, _, err := smiAsk(t.Context(), fakegpu.SMISaying(test.out, test.err), []string{"index"})
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("smiAsk of %q = %v, want %q", test.out, err, test.want)
		}
	}
}

func TestSMIPower(t *testing.T) {
	tests := []struct {
		header, row string
		watts, kind string
	}{
		{
			"power.draw.instant [W], power.draw.average [W], power.draw [W]", "625.68 W, 631.95 W, 631.95 W",
			"625.68", "instant",
		},
		{
			"power.draw.instant [W], power.draw.average [W], power.draw [W]", "[N/A], 631.95 W, 631.95 W",
			"631.95", "average",
		},
		{"power.draw.average [W], power.draw [W]", "[N/A], 39.32 W", "39.32", ""},
		{"power.draw [W], compute_cap", "39.32 W, 7.5", "39.32", "instant"},
		{"power.draw [W], compute_cap", "60.00 W, 8.0", "60", "instant"},
		{"power.draw [W], compute_cap", "60.00 W, 8.6", "60", "average"},
		{"power.draw [W], compute_cap", "60.00 W, 12.0", "60", "average"},
		{"power.draw [W], compute_cap", "[Unknown Error], 12.0", "null", ""},
		{"power.draw [W]", "[GPU requires reset]", "null", ""},
		{"power.draw [W]", "[Insufficient Permissions]", "null", ""},
		{"power.draw [W]", "N/A", "null", ""},
		{"power.draw [W]", "nan W", "null", ""},
		{"power.draw [W]", "-1 W", "null", ""},
		{"temperature.gpu", "35", "null", ""},
	}
	for _, test := range tests {
		table, err := parseSMITable([]byte(test.header + "\n" + test.row + "\n"))
		if err != nil {
			t.Errorf("parseSMITable(%q): %v", test.row, err)
			continue
		}
		watts, kind := smiPower(table.rows[0])
		if got := fakegpu.JSON(t, watts); got != test.watts || kind != test.kind {
			t.Errorf("smiPower(%q of %q) = %s %q, want %s %q", test.row, test.header, got, kind, test.watts, test.kind)
		}
	}
}

func TestNVIDIAThrottle(t *testing.T) {
	tests := []struct {
		mask uint64
		want []string
	}{
		{0, []string{}},
		{0x1, []string{}},
		{0x1 | 0x2 | 0x10 | 0x100, []string{}},
		{0x400, []string{}},
		{1 << 40, []string{}},
		{0x4, []string{results.ThrottlePower}},
		{0x8, []string{results.ThrottleHardware}},
		{0x20, []string{results.ThrottleThermal}},
		{0x48, []string{results.ThrottleThermal}},
		{0x88, []string{results.ThrottleHardware}},
		{0x4 | 0x20 | 0x80, []string{results.ThrottlePower, results.ThrottleThermal, results.ThrottleHardware}},
	}
	for _, test := range tests {
		if diff := cmp.Diff(test.want, throttleOf(test.mask)); diff != "" {
			t.Errorf("nvidiaThrottle(%#x) differs (-want +got):\n%s", test.mask, diff)
		}
	}
}

// streamingSMI is a program that writes rounds of two GPUs, each round with
// one watt more, until nobody reads.
const streamingSMI = `
case "$*" in
*--help-query-gpu*) printf '"index"\n"count"\n"uuid"\n"power.draw"\n'; exit 0;;
*-lms*) ;;
*) n=1;;
esac
echo "index, count, uuid, power.draw [W]"
i=0
while [ "$i" -lt "${n:-1000}" ]; do
  echo "0, 2, GPU-a, $((100+i)).00 W"
  echo "1, 2, GPU-b, [N/A]"
  i=$((i+1))
  sleep 0.05
done
`

func TestSMIStream(t *testing.T) {
	fakegpu.Tools(t, map[string]string{"nvidia-smi": streamingSMI})
	devices := []device.Device{{Index: 0, Vendor: device.NVIDIA, UUID: "GPU-a"}, {
		Index: 1, Vendor: device.NVIDIA,
		UUID: "GPU-b",
	}}
	sampler, err := NewSMISampler(device.Options{}, devices)
	if err != nil {
		t.Fatal(err)
	}
	fakegpu.CloseAfter(t, sampler)
	sampler.(*smiSampler).SetPeriod(100 * time.Millisecond)
	var before device.Reading
	for i := range 4 {
		began := time.Now()
		readings, err := sampler.Read(t.Context())
		if err != nil || len(readings) != 2 {
			t.Fatalf("Read %d = %v, %v, want two readings", i, readings, err)
		}
		a, b := readings[0], readings[1]
		if a.Device != "GPU-a" || a.PowerW == nil || b.Device != "GPU-b" || b.PowerW != nil {
			t.Errorf("readings = %s", fakegpu.JSON(t, readings))
		}
		if i > 0 && (*a.PowerW <= *before.PowerW || !a.At.After(before.At)) {
			t.Errorf("Read %d gave %v W of %v after %v W of %v", i, *a.PowerW, a.At, *before.PowerW, before.At)
		}
		if age := began.Sub(a.At); age > 30*time.Second {
			t.Errorf("Read %d gave a reading that is %v old", i, age)
		}
		before = a
	}
	stream := sampler.(*smiSampler).stream
	if stream == nil {
		t.Fatal("no stream is running")
	}
	if err := sampler.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(fmt.Sprintf("/proc/%d", stream.pid)); err == nil {
		t.Errorf("nvidia-smi (pid %d) is still there after Close", stream.pid)
	}
	if cpu := sampler.(*smiSampler).ProgramCPU(); cpu <= 0 {
		t.Errorf("ProgramCPU = %v, want more than 0", cpu)
	}
}

// A program that does not stream serves by one call for each reading; a gap
// says why for each try that failed.
func TestSMIWithoutStreaming(t *testing.T) {
	fakegpu.Tools(t, map[string]string{"nvidia-smi": `
case "$*" in *-lms*) echo "Option -lms is not recognized"; exit 2;; esac` + streamingSMI})
	sampler, err := NewSMISampler(device.Options{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	fakegpu.CloseAfter(t, sampler)
	for range 3 {
		if _, err := sampler.Read(t.Context()); err == nil || !strings.Contains(err.Error(), "-lms is not recognized") {
			t.Errorf("Read of a stream that ends = %v, want its words", err)
		}
	}
	for range 2 {
		readings, err := sampler.Read(t.Context())
		if err != nil || len(readings) != 2 || readings[0].Device != "GPU-a" || *readings[0].PowerW != 100 {
			t.Errorf("Read = %s, %v, want two readings", fakegpu.JSON(t, readings), err)
		}
	}
}

// What the tool writes before a GPU without persistence mode has settled is
// left out; a lost GPU neither stops nor mixes up the rounds.
func TestSMIRounds(t *testing.T) {
	began := time.Now()
	var rounds [][]string
	r := smiRounds{began: began, last: -1, emit: func(round []device.Reading) {
		var words []string
		for _, reading := range round {
			words = append(words, fmt.Sprintf("%s %.0f W at %v", reading.Device, *reading.PowerW,
				reading.At.Sub(began)))
		}
		rounds = append(rounds, words)
	}}
	lines := []struct {
		at   time.Duration
		text string
	}{
		{0, "index, count, uuid, power.draw [W], persistence_mode"},
		{0, "0, 2, GPU-a, 500 W, Disabled"},
		{0, "1, 2, GPU-b, 60 W, Enabled"},
		{time.Second, "0, 2, GPU-a, 400 W, Disabled"},
		{time.Second, "1, 2, GPU-b, 61 W, Enabled"},
		{2 * time.Second, "0, 2, GPU-a, 50 W, Disabled"},
		{2 * time.Second, ""},
		{2100 * time.Millisecond, "1, 2, GPU-b, 62 W, Enabled"},
		{3 * time.Second, "Unable to determine the device handle for GPU1: Unknown Error"},
		{4 * time.Second, "0, 2, GPU-a, 51 W, Disabled"},
		{5 * time.Second, "0, 2, GPU-a, 52 W, Disabled"},
		{5 * time.Second, "1, 2, GPU-b, 63 W, Enabled"},
	}
	for _, line := range lines {
		if err := r.line(line.text, began.Add(line.at)); err != nil {
			t.Errorf("line %q: %v", line.text, err)
		}
	}
	want := [][]string{
		{"GPU-b 60 W at 0s"},
		{"GPU-b 61 W at 1s"},
		{"GPU-a 50 W at 2s", "GPU-b 62 W at 2.1s"},
		{"GPU-a 51 W at 4s"},
		{"GPU-a 52 W at 5s", "GPU-b 63 W at 5s"},
	}
	if diff := cmp.Diff(want, rounds); diff != "" {
		t.Errorf("rounds differ (-want +got):\n%s", diff)
	}
	if err := r.failure(nil, nil); !strings.Contains(err.Error(), "Unable to determine") {
		t.Errorf("failure = %v, want the tool's words", err)
	}
}

func TestProcessCPU(t *testing.T) {
	if got := processCPU(os.Getpid()); got < 0 || got > time.Hour {
		t.Errorf("processCPU of this test = %v", got)
	}
	if got := processCPU(-1); got != 0 {
		t.Errorf("processCPU(-1) = %v, want 0", got)
	}
}

// Whatever a tool prints, numbers are sane or absent.
func FuzzSMITable(f *testing.F) {
	files, err := filepath.Glob(captures + "/nvidia-smi-*")
	if err != nil || len(files) == 0 {
		f.Fatalf("no captures: %v", err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte("index, power.draw [W]\n0, 1e300 W\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		table, err := parseSMITable(text)
		if err != nil && len(table.rows) > 0 {
			t.Errorf("rows beside the error %v", err)
		}
		for place, row := range table.rows {
			if len(row.cells) != len(table.names) {
				t.Errorf("row %q for %q", row.cells, table.names)
			}
			checkSane(t, smiReading(row, time.Now(), place, nil))
		}
	})
}

// checkSane fails for figures that no GPU has.
func checkSane(t *testing.T, r device.Reading) {
	t.Helper()
	if r.Device == "" {
		t.Errorf("a reading of no device: %s", fakegpu.JSON(t, r))
	}
	for name, value := range map[string]*float64{
		"power_w": r.PowerW, "busy": r.Busy, "memory_busy": r.MemoryBusy, "core_hz": r.CoreHz,
		"memory_hz": r.MemoryHz, "edge_c": r.EdgeC, "memory_c": r.MemoryC, "power_limit_w": r.PowerLimitW,
	} {
		if value != nil && (*value < 0 || *value != *value || *value > 1e22) {
			t.Errorf("%s = %v", name, *value)
		}
	}
	if r.VRAMUsedBytes != nil && *r.VRAMUsedBytes < 0 {
		t.Errorf("vram_used_bytes = %d", *r.VRAMUsedBytes)
	}
}
