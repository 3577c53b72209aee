package recipe

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestVisibility(t *testing.T) {
	tests := []struct {
		name   string
		gpus   []int
		vendor string
		set    map[string]string
		unset  []string
	}{
		{"not assigned", nil, "amd", nil, nil},
		{"amd", []int{2, 3}, "amd", map[string]string{"HIP_VISIBLE_DEVICES": "2,3"}, []string{
			"CUDA_VISIBLE_DEVICES",
			"ROCR_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL",
		}},
		{"nvidia", []int{0}, "nvidia", map[string]string{
			"CUDA_VISIBLE_DEVICES": "0",
			"CUDA_DEVICE_ORDER":    "PCI_BUS_ID",
		}, []string{
			"HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES",
			"GPU_DEVICE_ORDINAL",
		}},
		{"unknown vendor", []int{1, 0}, "", map[string]string{
			"CUDA_VISIBLE_DEVICES": "1,0",
			"CUDA_DEVICE_ORDER":    "PCI_BUS_ID",
		}, []string{
			"HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES",
			"GPU_DEVICE_ORDINAL",
		}},
		{"none at all", []int{}, "amd", map[string]string{"HIP_VISIBLE_DEVICES": "-1"}, []string{
			"CUDA_VISIBLE_DEVICES",
			"ROCR_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL",
		}},
	}
	for _, test := range tests {
		set, unset, err := visibility(Spec{GPUs: test.gpus, Vendor: test.vendor})
		if err != nil {
			t.Errorf("%s: visibility: %v", test.name, err)
		}
		if diff := cmp.Diff(test.set, set); diff != "" {
			t.Errorf("%s: set differs (-want +got):\n%s", test.name, diff)
		}
		if diff := cmp.Diff(test.unset, unset); diff != "" {
			t.Errorf("%s: unset differs (-want +got):\n%s", test.name, diff)
		}
	}
}
