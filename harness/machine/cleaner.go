package machine

import (
	"context"

	"github.com/benchrig/bench/gpu"
	"github.com/benchrig/bench/launchers/cleanup"
)

// Cleaner removes leftovers beside the GPUs of an inventory, whose memory a
// watcher reads.
func (p Process) Cleaner(inventory gpu.Inventory, watcher *gpu.Watcher) cleanup.Cleaner {
	return cleanup.Cleaner{
		Environ: p.Environ, GPUs: watcher, GPUBytes: GPUBytes(inventory), Vendor: inventory.Vendor(),
	}
}

// OpenCleaner finds the GPUs and removes leftovers beside those that keep
// accepts; nil accepts all. Without GPUs, or where they cannot be read, their
// memory is not looked at. The caller closes what it opened.
func (p Process) OpenCleaner(ctx context.Context, keep func(gpu.Inventory) gpu.Inventory) (_ cleanup.Cleaner,
	closeAll func(),
) {
	inventory, err := gpu.Detect(ctx, p.GPUOptions())
	if err == nil && keep != nil {
		inventory = keep(inventory)
	}
	if err != nil || len(inventory.GPUs) == 0 {
		return cleanup.Cleaner{Environ: p.Environ}, func() {}
	}

	watcher := gpu.NewWatcher(p.GPUOptions(), inventory)
	return p.Cleaner(inventory, watcher), func() { _ = watcher.Close() } // it only read
}

// GPUBytes is the whole memory of the devices by id.
func GPUBytes(inventory gpu.Inventory) map[string]int64 {
	sizes := map[string]int64{}
	for _, d := range inventory.GPUs {
		switch {
		case d.VRAMBytes != nil:
			sizes[d.ID()] = *d.VRAMBytes
		case d.GTTBytes != nil:
			sizes[d.ID()] = *d.GTTBytes
		}
	}
	return sizes
}
