package nvidia

import (
	"encoding/csv"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrig/bench/gpu/device"
)

// project makes of a capture with many columns, a header and units what
// nvidia-smi prints for our query.
func project(t *testing.T, text string) string {
	t.Helper()
	reader := csv.NewReader(strings.NewReader(text))
	reader.TrimLeadingSpace = true
	rows, err := reader.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	columns := []string{"index", "uuid", "name", "pci.bus_id", "memory.total [MiB]"}
	var out strings.Builder
	for _, row := range rows[1:] {
		var cells []string
		for _, column := range columns {
			at := slices.Index(rows[0], column)
			if at < 0 {
				t.Fatalf("capture lacks the column %q", column)
			}
			cells = append(cells, strings.TrimSuffix(row[at], " MiB"))
		}
		out.WriteString(strings.Join(cells, ", ") + "\n")
	}
	return out.String()
}

func TestParseSMICaptures(t *testing.T) {
	uuid := "GPU-00000000-0000-0000-0000-000000000000" // as masked by those who published the captures
	tests := map[string]device.Device{
		"nvidia-smi-h100-590.48.01-idle.csv": {
			Name: "NVIDIA H100 80GB HBM3", PCI: "0000:00:09.0",
			VRAMBytes: new(int64(81559 << 20)),
		},
		"nvidia-smi-h100-mig-590.48.01-idle.csv": {
			Name: "NVIDIA H100 80GB HBM3", PCI: "0000:00:09.0",
			VRAMBytes: new(int64(81559 << 20)),
		},
		"nvidia-smi-h200-590.48.01-idle.csv": {
			Name: "NVIDIA H200", PCI: "0000:83:00.0",
			VRAMBytes: new(int64(143771 << 20)),
		},
		"nvidia-smi-rtx2080super-windows-wddm-610.62-idle.csv": {
			Name: "NVIDIA GeForce RTX 2080 SUPER",
			PCI:  "0000:0c:00.0", VRAMBytes: new(int64(8192 << 20)),
		},
		"nvidia-smi-l40s-595.80-load.csv":            {Name: "NVIDIA L40S"},
		"nvidia-smi-rtx4080super-595.71.05-idle.csv": {Name: "NVIDIA GeForce RTX 4080 SUPER"},
	}
	for name, want := range tests {
		devices, _, err := parseSMI([]byte(project(t, capture(t, name))))
		if err != nil || len(devices) != 1 {
			t.Errorf("%s: parseSMI = %v, %v, want one device", name, devices, err)
			continue
		}
		want.Vendor, want.UUID = device.NVIDIA, uuid
		got := devices[0]
		if want.PCI == "" {
			want.PCI, want.VRAMBytes = got.PCI, got.VRAMBytes
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s differs (-want +got):\n%s", name, diff)
		}
	}
}

func TestParseSMI(t *testing.T) {
	tests := []struct {
		name, in string
		want     []device.Device
		err      string
	}{
		{"nothing", "\n", nil, ""},
		{
			"unified memory", "0, GPU-a, NVIDIA GB10, 0000000F:01:00.0, [N/A]\n",
			[]device.Device{{
				Vendor: device.NVIDIA, Unified: true, UUID: "GPU-a", Name: "NVIDIA GB10",
				PCI: "000f:01:00.0",
			}},
			"",
		},
		{
			"comma in the name", "0, GPU-a, Card, special, 00000000:01:00.0, 10\r\n",
			[]device.Device{{
				Vendor: device.NVIDIA, UUID: "GPU-a", Name: "Card, special", PCI: "0000:01:00.0",
				VRAMBytes: new(int64(10 << 20)),
			}},
			"",
		},
		{
			"nothing known", "0, [Unknown Error], [Unknown Error], N/A, [GPU requires reset]\n",
			[]device.Device{{Vendor: device.NVIDIA}},
			"",
		},
		{"message in place of rows", "No devices were found\n", nil, `"No devices were found" is not a row`},
		{"too few cells", "0, GPU-a, Card\n", nil, "is not a row"},
		{"negative index", "-1, a, b, c, 5\n", nil, "is not a row"},
		{
			"message after rows", "0, a, b, c, 5\nUnable to determine the device handle for GPU1: Unknown Error\n",
			[]device.Device{{Vendor: device.NVIDIA, UUID: "a", Name: "b", PCI: "c", VRAMBytes: new(int64(5 << 20))}},
			"",
		},
	}
	for _, test := range tests {
		got, _, err := parseSMI([]byte(test.in))
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s: parseSMI differs (-want +got):\n%s", test.name, diff)
		}
		if (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) {
			t.Errorf("%s: parseSMI error = %v, want %q", test.name, err, test.err)
		}
	}
}

func FuzzParseSMI(f *testing.F) {
	f.Add("0, GPU-a, NVIDIA H100 80GB HBM3, 00000000:00:09.0, 81559\n")
	f.Add("0, GPU-a, a, b, c, 00000000:00:09.0, [N/A]\n\n1, , , , \n")
	f.Add("Failed to initialize NVML: Driver/library version mismatch\n")
	f.Add("0,,,,99999999999999999999")
	f.Fuzz(func(t *testing.T, text string) {
		devices, messages, err := parseSMI([]byte(text))
		if err != nil {
			if devices != nil {
				t.Errorf("parseSMI(%q): devices beside the error %v", text, err)
			}
			return
		}
		rows := 0
		for line := range strings.Lines(text) {
			if strings.TrimSpace(line) != "" {
				rows++
			}
		}
		if len(devices)+len(messages) != rows {
			t.Errorf("parseSMI(%q): %d devices of %d rows", text, len(devices), rows)
		}
		for _, d := range devices {
			if d.Index < 0 || d.Vendor != device.NVIDIA || d.VRAMBytes != nil && *d.VRAMBytes <= 0 {
				t.Errorf("parseSMI(%q): device %+v", text, d)
			}
		}
	})
}
