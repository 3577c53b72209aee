package device

// The variables that say which GPUs a program may use.
const (
	CUDAVisible = "CUDA_VISIBLE_DEVICES"
	CUDAOrder   = "CUDA_DEVICE_ORDER" // in which CUDA counts: FASTEST_FIRST, or PCIOrder
	HIPVisible  = "HIP_VISIBLE_DEVICES"
	ROCRVisible = "ROCR_VISIBLE_DEVICES"

	PCIOrder = "PCI_BUS_ID"
)
