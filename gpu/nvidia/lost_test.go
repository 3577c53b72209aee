package nvidia

import (
	"fmt"
	"strings"
	"testing"

	"github.com/benchrig/bench/gpu/device"
	"github.com/benchrig/bench/internal/fakegpu"
)

// lostSMI is nvidia-smi where the third GPU has fallen off its bus: rows of the
// others, then a message, and an exit status of its own.
func lostSMI(exit int) string {
	return fmt.Sprintf(`
case "$*" in *--help-query-gpu*) exit 2;; esac
table() {
  case "$*" in
  *noheader*) for i in 0 1; do echo "$i, GPU-$i, NVIDIA GeForce RTX 4090, 00000000:0$i:00.0, 24564"; done;;
  *) echo "index, count, uuid, memory.used [MiB], power.draw [W]"; for i in 0 1; do echo "$i, 3, GPU-$i, 500 MiB, 33.10 W"; done;;
  esac
  echo "Unable to determine the device handle for GPU0000:CF:00.0: Unknown Error"
}
case "$*" in *-lms*) while :; do table "$*"; sleep 0.2; done;; esac
table "$*"
exit %d`, exit)
}

// One lost GPU does not hide the others.
func TestLostGPU(t *testing.T) {
	for _, exit := range []int{0, 255} {
		fakegpu.Tools(t, map[string]string{"nvidia-smi": lostSMI(exit)})
		devices, notes, err := SMIDevices(t.Context(), nil)
		if err != nil || len(devices) != 2 || len(notes) != 1 || !strings.Contains(notes[0],
			"Unable to determine the device handle for GPU0000:CF:00.0") {
			t.Fatalf("exit %d: devices %s, notes %q, %v, want two and a note", exit, fakegpu.JSON(t, devices), notes,
				err)
		}

		// The header is before each round here: it is not a row.
		for _, streams := range []bool{true, false} {
			sampler, err := NewSMISampler(device.Options{}, devices)
			if err != nil {
				t.Fatal(err)
			}
			fakegpu.CloseAfter(t, sampler)
			if !streams {
				sampler.(*smiSampler).StopStreaming()
			}
			readings, err := sampler.Read(t.Context())
			if err != nil || len(readings) != 2 || readings[0].Device != "GPU-0" || readings[1].VRAMUsedBytes == nil {
				t.Errorf("exit %d, streaming %v: %d readings, %v, want two", exit, streams, len(readings), err)
			}
		}
	}
}
