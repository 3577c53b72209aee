package fakegpu

import (
	"fmt"
	"os"
	"path/filepath"
)

// buses are the PCI buses of the GPUs of a server, in PCI order.
var buses = [...]int{0x0c, 0x22, 0x38, 0x5c, 0x9f, 0xaf, 0xbf, 0xdf}

// processes is where the compute driver lists its clients.
const processes = "sys/class/kfd/kfd/proc"

func pci(gpu int) string       { return fmt.Sprintf("0000:%02x:00.0", buses[gpu]) }
func pciFolder(gpu int) string { return "sys/devices/pci0000:00/" + pci(gpu) }
func hwmon(gpu int) string     { return fmt.Sprintf("%s/hwmon/hwmon%d", pciFolder(gpu), gpu+3) }

// uniqueID and gpuID are what the drivers call a GPU.
func uniqueID(gpu int) uint64 { return 0xfa4e_0000_0000_0001 + uint64(gpu) }
func gpuID(gpu int) int       { return 10001 + 1000*gpu }

// build writes what never changes.
func (b *Machine) build(gpu int) error {
	node := fmt.Sprintf("sys/class/kfd/kfd/topology/nodes/%d/", gpu+1)
	constant := map[string]string{
		"vendor":                    "0x1002\n",
		"device":                    "0x74a1\n",
		"product_name":              "AMD Instinct MI300X OAM\n",
		"unique_id":                 fmt.Sprintf("%016x\n", uniqueID(gpu)),
		"mem_info_vram_total":       fmt.Sprintf("%d\n", VRAMBytes),
		"mem_info_gtt_total":        fmt.Sprintf("%d\n", GTTBytes),
		"current_compute_partition": "SPX\n",
		"current_memory_partition":  "NPS1\n",
		"power/runtime_status":      "active\n",
	}

	for name, text := range constant {
		if err := b.write(filepath.Join(pciFolder(gpu), name), text); err != nil {
			return err
		}
	}

	labels := map[string]string{
		"name": "amdgpu", "power1_label": "PPT", "temp2_label": "junction",
		"temp3_label": "mem", "freq1_label": "sclk", "freq2_label": "mclk",
	}
	for name, text := range labels {
		if err := b.write(filepath.Join(hwmon(gpu), name), text+"\n"); err != nil {
			return err
		}
	}

	properties := fmt.Sprintf("cpu_cores_count 0\nsimd_count 1216\nlocation_id %d\ndomain 0\ngfx_target_version "+
		"90402\nunique_id %d\ndrm_render_minor %d\n",
		buses[gpu]<<8, uniqueID(gpu), 128+gpu)
	for name, text := range map[string]string{
		"properties":             properties,
		"gpu_id":                 fmt.Sprintf("%d\n", gpuID(gpu)),
		"mem_banks/0/properties": fmt.Sprintf("heap_type 1\nsize_in_bytes %d\n", VRAMBytes),
	} {
		if err := b.write(node+name, text); err != nil {
			return err
		}
	}

	for _, adapter := range []string{fmt.Sprintf("card%d", gpu+1), fmt.Sprintf("renderD%d", 128+gpu)} {
		folder := filepath.Join(b.root, "sys/class/drm", adapter)
		if err := os.MkdirAll(folder, 0o755); err != nil {
			return err
		}
		if err := os.Symlink("../../../devices/pci0000:00/"+pci(gpu), filepath.Join(folder, "device")); err != nil {
			return err
		}
	}

	return nil
}
