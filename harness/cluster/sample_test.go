package cluster

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/benchrig/bench/gpu/device"
	"github.com/benchrig/bench/internal/executable"
	"github.com/benchrig/bench/results"
)

// A node's GPUs and samples arrive, beside what a site prints there; the end is asked
// for by a signal, after which one more sample comes.
func TestSampleOfNode(t *testing.T) {
	dir := t.TempDir()
	const script = `#!/bin/sh
trap 'echo "{\"sample\":{\"host\":{\"load_1m\":2}}}"; exit 0' USR1
echo "welcome to n2"
echo '{"devices":[{"index":0,"vendor":"nvidia","uuid":"GPU-7"}]}'
echo '{"sample":{"host":{"load_1m":1}}}'
while :; do sleep 0.1; done
`
	if err := executable.Write(filepath.Join(dir, "srun"), script); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var found []device.Device
	var loads []float64
	err := nodeSweeper{"bench"}.Sample(ctx, "n2", func(d []device.Device) { found = d },
		func(_ time.Time, s results.TelemetrySample) {
			loads = append(loads, *s.Host.Load1)
			cancel()
		})
	if err != nil || len(found) != 1 || found[0].UUID != "GPU-7" || len(loads) != 2 || loads[1] != 2 {
		t.Errorf("Sample() = %v, GPUs %+v, loads %v, want one GPU, and the loads 1 and 2", err, found, loads)
	}

	if err := executable.Write(filepath.Join(dir, "srun"), "#!/bin/sh\necho no such node >&2; exit 1\n"); err != nil {
		t.Fatal(err)
	}
	err = nodeSweeper{"bench"}.Sample(t.Context(), "n2", nil, nil)
	if err == nil || !strings.Contains(err.Error(), "no such node") {
		t.Errorf("Sample() on a node that is not there = %v, want srun's words", err)
	}
}
