package nvidia

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrig/bench/internal/fakegpu"
	"github.com/benchrig/bench/results"
)

func TestParseSMIHolders(t *testing.T) {
	tests := []struct {
		file string
		want []results.GPUHolder
	}{
		{"nvidia-smi-h100-590.48.01-compute-apps-none.csv", []results.GPUHolder{}},
		{"nvidia-smi-rtx2080super-windows-wddm-610.62-compute-apps-load.csv", []results.GPUHolder{
			{PID: 2140, Device: zeroUUID, Name: "dwm.exe"},
			{PID: 13160, Device: zeroUUID, Name: "explorer.exe"},
			{PID: 12940, Device: zeroUUID, Name: "ffmpeg.exe"},
			{PID: 13820, Device: zeroUUID, Name: "ffmpeg.exe"},
		}},
		{"nvidia-smi-h100-mig-590.48.01-compute-apps-load.csv", []results.GPUHolder{
			{PID: 21180, Device: zeroUUID, Name: "memhog", Bytes: new(int64(2296 << 20))},
			{PID: 21181, Device: zeroUUID, Name: "memhog", Bytes: new(int64(1272 << 20))},
			{PID: 21198, Device: zeroUUID, Name: "gpu_burn", Bytes: new(int64(7484 << 20))},
		}},
	}
	for _, test := range tests {
		got, err := parseSMIHolders([]byte(capture(t, test.file)), nil)
		if diff := cmp.Diff(test.want, got); diff != "" || err != nil {
			t.Errorf("%s: error %v (-want +got):\n%s", test.file, err, diff)
		}
	}
	commas := "gpu_uuid, pid, process_name, used_gpu_memory [MiB]\nGPU-1, 5, /opt/a, b/python, -c, 10 MiB\n"
	got, err := parseSMIHolders([]byte(commas), nil)
	if err != nil || len(got) != 1 || got[0].PID != 5 || got[0].Name != "python, -c" || *got[0].Bytes != 10<<20 {
		t.Errorf("a name with commas: %s, %v", fakegpu.JSON(t, got), err)
	}
}

func FuzzSMIHolders(f *testing.F) {
	f.Add([]byte("gpu_uuid, pid, process_name, used_gpu_memory [MiB]\nGPU-1, 5, a,b, 10 MiB\n"))
	f.Add([]byte("pid, gpu_bus_id\n1e9, 00000000:00:00.0\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		holders, err := parseSMIHolders(text, nil)
		if err != nil && holders != nil {
			t.Errorf("holders beside the error %v", err)
		}
		for _, h := range holders {
			if h.PID < 1 || h.Bytes != nil && *h.Bytes < 0 {
				t.Errorf("holder %s", fakegpu.JSON(t, h))
			}
		}
	})
}
