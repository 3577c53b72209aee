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
