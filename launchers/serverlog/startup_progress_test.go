package serverlog

import "testing"

func TestProgressOf(t *testing.T) {
	tests := []struct {
		name, line string
		want       StartProgress
		ok         bool
	}{
		{
			"vllm safetensors", "Loading safetensors checkpoint shards:  25% Completed | 1/4 [00:01<00:04,  1.35s/it]",
			StartProgress{"weights", 1, 4},
			true,
		},
		{
			"vllm with a prefix",
			"(VllmWorker rank=0 pid=12) Loading pt checkpoint shards: 100% Completed | 8/8 [00:20<00:00,  2.5s/it]",
			StartProgress{"weights", 8, 8},
			true,
		},
		{
			"sglang", "Multi-thread loading shards:  50% Completed | 15/30 [00:12<00:12,  1.25it/s]",
			StartProgress{"weights", 15, 30},
			true,
		},
		{
			"vllm graphs",
			"Capturing CUDA graphs (mixed prefill-decode, PIECEWISE):  10%|█         | 7/67 [00:01<00:13,  4.49it/s]",
			StartProgress{"graph capture", 7, 67},
			true,
		},
		{
			"vllm graphs, older", "Capturing CUDA graph shapes:  43%|████▎     | 15/35 [00:08<00:11,  1.72it/s]",
			StartProgress{"graph capture", 15, 35},
			true,
		},
		{
			"sglang graphs", "Capturing batches (bs=128 avail_mem=7.11 GB):  30%|███       | 7/23 [00:03<00:06,  2.5it/s]",
			StartProgress{"graph capture", 7, 23},
			true,
		},
		{"download", "Fetching 30 files:  10%|█         | 3/30 [00:09<01:20,  2.99s/it]", StartProgress{
			"download",
			3, 30,
		}, true},
		{"more than all", "Loading safetensors checkpoint shards:  25% Completed | 9/4 [", StartProgress{}, false},
		{"of nothing", "Loading safetensors checkpoint shards:   0% Completed | 0/0 [", StartProgress{}, false},
		{"another bar", "Processed prompts:  25%|██ | 1/4 [00:01<00:04]", StartProgress{}, false},
		{"no bar", "Loading weights took 2.10 seconds", StartProgress{}, false},
	}
	for _, test := range tests {
		if got, ok := ProgressOf(test.line); got != test.want || ok != test.ok {
			t.Errorf("%s: ProgressOf(%q) = %v, %t, want %v, %t", test.name, test.line, got, ok, test.want, test.ok)
		}
	}
}

func FuzzProgressOf(f *testing.F) {
	f.Add("Loading safetensors checkpoint shards:  25% Completed | 1/4 [00:01<00:04,  1.35s/it]")
	f.Fuzz(func(t *testing.T, line string) {
		if p, ok := ProgressOf(line); ok && (p.Done < 0 || p.Done > p.Total || p.Total < 1) {
			t.Errorf("ProgressOf(%q) = %v", line, p)
		}
	})
}
