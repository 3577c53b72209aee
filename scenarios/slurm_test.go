package scenarios

import (
	"slices"
	"testing"
)

func TestSbatchWords(t *testing.T) {
	s := Slurm{Sbatch: map[string]string{"partition": "p", "gres": "gpu:8"}, CPUs: 16, Mem: 3<<30 + 1, Alone: true}
	want := []string{"--partition=p", "--gres=gpu:8", "--cpus-per-task=16", "--mem=3073M", "--exclusive"}
	if got := s.SbatchWords(); !slices.Equal(got, want) {
		t.Errorf("SbatchWords() = %q, want %q", got, want)
	}
	if got := (Slurm{}).SbatchWords(); len(got) != 0 {
		t.Errorf("SbatchWords() of nothing = %q", got)
	}
}

func TestGPUsOfNode(t *testing.T) {
	for gres, want := range map[string]int{
		"gpu:8": 8, "gpu:h100:4": 4, "gres/gpu:2": 2, "shard:1,gpu:mi300x:8": 8, "gpu:a100:4(S:0-1)": 4,
		"": 0, "gpu": 0, "mygpu:3": 0, "craynetwork:1": 0,
	} {
		s := Slurm{Sbatch: map[string]string{"gres": gres}}
		if got := s.GPUsOfNode(); got != want {
			t.Errorf("GPUsOfNode() of gres %q = %d, want %d", gres, got, want)
		}
	}
}
