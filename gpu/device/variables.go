package device

// The variables by which programs are told which GPUs to use.
const (
	CUDAVisible = "CUDA_VISIBLE_DEVICES"
	CUDAOrder   = "CUDA_DEVICE_ORDER" // in which CUDA counts: FASTEST_FIRST, or PCIOrder
	HIPVisible  = "HIP_VISIBLE_DEVICES"
	ROCRVisible = "ROCR_VISIBLE_DEVICES"

	PCIOrder = "PCI_BUS_ID"
)
