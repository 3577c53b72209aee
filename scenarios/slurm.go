package scenarios

import (
	"fmt"
	"regexp"
	"strconv"
	"time"
)

// Where says on which machines a run's servers run.
type Where string

// The places of a run.
const (
	Here    Where = "here"  // on this machine
	OnSlurm Where = "slurm" // on the nodes of a Slurm cluster
)

// Nodes says on which nodes of a cluster the repeats of a variant run.
type Nodes string

// Spread repeats tell a node's own speed from the variant's; on the same node
// there is nothing to be told apart.
const (
	SpreadNodes Nodes = "spread" // every repeat is a job of its own, wherever there is room
	SameNode    Nodes = "same"   // one job a variant, its repeats one after the other
)

// Slurm says how a run is submitted to a Slurm cluster. Texts are handed to
// sbatch as they stand; "" leaves the cluster's default.
type Slurm struct {
	Sbatch  map[string]string // values by the names of SbatchKeys
	CPUs    int               // of each job; 0: the cluster's
	Mem     int64             // bytes, on each node of a job; 0: the cluster's
	Alone   bool              // no other job on the node
	Time    time.Duration     // limit of a job; 0: the partition's
	Grace   time.Duration     // before that limit a job ends what it does, and is queued again
	Nodes   Nodes
	AtOnce  int      // jobs that may run at the same time; 0: as many as there is room for
	Options []string // further options of sbatch
	Setup   []string // lines of shell that run on the node before bench
}

// SbatchKey is an option of sbatch that has a key of its own.
type SbatchKey struct{ Name, Doc string }

// SbatchKeys are all of them, in the order of a job's script. A new option is a
// line here.
func SbatchKeys() []SbatchKey {
	return []SbatchKey{
		{"partition", "Passed to sbatch as --partition."},
		{"account", "Passed to sbatch as --account."},
		{"qos", "Passed to sbatch as --qos."},
		{"gres", "Passed to sbatch as --gres: the resources of each job, such as gpu:8."},
		{"constraint", "Passed to sbatch as --constraint: features that a node must have."},
	}
}

// SbatchWords are the options that have keys of their own, as words for sbatch.
func (s Slurm) SbatchWords() []string {
	var words []string
	for _, key := range SbatchKeys() {
		if value := s.Sbatch[key.Name]; value != "" {
			words = append(words, "--"+key.Name+"="+value)
		}
	}
	if s.CPUs > 0 {
		words = append(words, fmt.Sprintf("--cpus-per-task=%d", s.CPUs))
	}
	if s.Mem > 0 {
		const mib = 1 << 20
		words = append(words, fmt.Sprintf("--mem=%dM", (s.Mem+mib-1)/mib))
	}
	if s.Alone {
		words = append(words, "--exclusive")
	}
	return words
}

// gpuCount is what gres says about GPUs: gpu:8, gpu:h100:8, gres/gpu:8.
var gpuCount = regexp.MustCompile(`(?:^|,|/)gpu(?::[^:,]*[^:,0-9][^:,]*)?:([0-9]+)(?:\(|,|$)`)

// GPUsOfNode is how many GPUs gres asks for on each node; 0: that is not known.
func (s Slurm) GPUsOfNode() int {
	m := gpuCount.FindStringSubmatch(s.Sbatch["gres"])
	if m == nil {
		return 0
	}
	n, _ := strconv.Atoi(m[1]) // beyond any number of GPUs: 0
	return n
}
