package simengine

import "fmt"

// MemoryError says that the simulated devices cannot hold what was asked for.
// The simulator's log then shows the line an engine would have written.
type MemoryError struct {
	LogLine string // as the engine writes it
	Hint    string
}

func (e *MemoryError) Error() string {
	return fmt.Sprintf("fit model into simulated memory: %s; %s", e.LogLine, e.Hint)
}

// OutOfMemoryLine begins the fatal line of an engine on a device.
func OutOfMemoryLine(d device) string {
	switch d.Name {
	case "h100":
		return "torch.OutOfMemoryError: CUDA out of memory."
	case "cpu":
		return "torch.OutOfMemoryError: out of memory."
	}
	return "torch.OutOfMemoryError: HIP out of memory."
}

// activationBytes is what a device needs beside weights and KV cache.
const activationBytes = 2 * Gib

// fitMemory derives the number of KV blocks and the context length.
func (s *Settings) fitMemory() error {
	s.Blocks = s.KVBlocks
	if s.Blocks == 0 {
		if err := s.blocksFromMemory(); err != nil {
			return err
		}
	}

	if s.Persona == PersonaLlamaCpp && s.CtxSize > 0 { // llama.cpp makes room for no more, shared or not
		s.Blocks = min(s.Blocks, max(1, (s.CtxSize+s.BlockSize-1)/s.BlockSize))
	}

	tokens := s.Blocks * s.BlockSize
	if s.MaxModelLen == 0 {
		s.MaxModelLen = min(defaultMaxModelLen, tokens)
	}
	if tokens < s.MaxModelLen {
		perToken := s.Network.KvBytes(s.KVCacheDtype) / Gib
		return &MemoryError{
			LogLine: fmt.Sprintf("To serve at least one request with the model's max seq len (%d), %.2f GiB KV cache "+
				"is needed, "+
				"which is larger than the available KV cache memory (%.2f GiB).",
				s.MaxModelLen, float64(s.MaxModelLen)*perToken, float64(tokens)*perToken),
			Hint: "lower --max-model-len, or raise --gpu-memory-utilization or --sim-kv-blocks",
		}
	}

	if s.DisableChunkedPrefill {
		s.MaxNumBatchedTokens = max(s.MaxNumBatchedTokens, s.MaxModelLen)
	}

	return nil
}

func (s *Settings) blocksFromMemory() error {
	world := float64(s.TensorParallelSize * s.PipelineParallelSize)
	weights := s.Network.WeightBytes(s.Quantization) + s.draft.WeightBytes("")
	left := (s.Hardware.memory*s.GPUMemoryUtilization-activationBytes)*world - weights
	if left <= 0 {
		return &MemoryError{
			LogLine: fmt.Sprintf("%s Tried to load %.2f GiB of weights into %.2f GiB, a share of %g of %.2f GiB.",
				OutOfMemoryLine(s.Hardware), weights/Gib, s.GPUMemoryUtilization*s.Hardware.memory*world/Gib,
				s.GPUMemoryUtilization, s.Hardware.memory*world/Gib),
			Hint: "raise --tensor-parallel-size or --gpu-memory-utilization, quantize, or name another --sim-device",
		}
	}

	perToken := s.Network.KvBytes(s.KVCacheDtype)
	if s.draft.layers > 0 {
		perToken += s.draft.KvBytes(s.KVCacheDtype)
	}

	s.Blocks = int(left / perToken / float64(s.BlockSize))
	if s.Blocks == 0 {
		return &MemoryError{
			LogLine: "No available memory for the cache blocks. Try increasing `gpu_memory_utilization` when " +
				"initializing the engine.",
			Hint: "raise --tensor-parallel-size or --gpu-memory-utilization",
		}
	}

	return nil
}
