package amd

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrig/bench/gpu/device"
	"github.com/benchrig/bench/internal/fakegpu"
	"github.com/benchrig/bench/results"
)

// Vulkan programs hold memory through a render node; the compute driver does not
// list them.
func TestDRMHolders(t *testing.T) {
	t.Parallel()
	const amdgpu = "drm-driver:\tamdgpu\ndrm-pdev:\t0000:03:00.0\n"
	options := device.Options{Root: fakegpu.Tree(t, map[string]string{
		"proc/7/comm": "llama-server\n", "proc/7/fd/9": "->/dev/dri/renderD128",
		"proc/7/fdinfo/9": amdgpu + "drm-client-id:\t4\ndrm-memory-vram:\t2097152 KiB\n",
		// the same client under another descriptor, and a client of another GPU
		"proc/7/fd/10": "->/dev/dri/renderD128", "proc/7/fdinfo/10": amdgpu +
			"drm-client-id:\t4\ndrm-memory-vram:\t2097152 KiB\n",
		"proc/7/fd/11":     "->/dev/dri/renderD129",
		"proc/7/fdinfo/11": "drm-pdev:\t0000:99:00.0\ndrm-client-id:\t5\ndrm-memory-vram:\t9 KiB\n",
		// two clients
		"proc/8/comm": "python3\n", "proc/8/fd/3": "->/dev/dri/renderD128",
		"proc/8/fdinfo/3": amdgpu + "drm-client-id:\t6\ndrm-total-vram:\t1 MiB\n",
		"proc/8/fd/4":     "->/dev/dri/card0", "proc/8/fdinfo/4": amdgpu +
			"drm-client-id:\t7\ndrm-memory-vram:\t4096\n",
		// nothing held, no driver, nonsense
		"proc/9/fd/3": "->/dev/dri/renderD128", "proc/9/fdinfo/3": amdgpu +
			"drm-client-id:\t8\ndrm-memory-vram:\t0 KiB\n",
		"proc/10/fd/3": "->/dev/null", "proc/10/fdinfo/3": "pos:\t0\n",
		"proc/11/fd/3": "->/dev/dri/renderD128", "proc/11/fdinfo/3": amdgpu +
			"drm-memory-vram:\t-5 KiB\ndrm-total-vram:\tmany\n",
	})}
	devices := []device.Device{{Vendor: device.AMD, PCI: "0000:03:00.0", UUID: "GPU-1"}}
	drm := drmHolders(options, devices)
	sortHolders(drm)
	want := []results.GPUHolder{
		{PID: 7, Device: "GPU-1", Bytes: new(int64(2 << 30)), Name: "llama-server"},
		{PID: 8, Device: "GPU-1", Bytes: new(int64(1<<20 + 4096)), Name: "python3"},
	}
	if diff := cmp.Diff(want, drm); diff != "" {
		t.Errorf("drmHolders() (-want +got):\n%s", diff)
	}

	listed := []results.GPUHolder{{PID: 8, Device: "GPU-1", Bytes: new(int64(5 << 20)), Name: "python3"}}
	want[1].Bytes = new(int64(5 << 20))
	if diff := cmp.Diff(want, withDRM(listed, drm)); diff != "" {
		t.Errorf("withDRM() (-want +got):\n%s", diff)
	}
}
