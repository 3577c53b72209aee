package keys

import (
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/benchrig/bench/scenarios"
	"github.com/benchrig/bench/scenarios/schema"
)

// slurmField is read where it is given or needed: its defaults are of no
// meaning elsewhere.
func slurmField() schema.Field[scenarios.Scenario] {
	f := schema.FreeKey("slurm", "How jobs are submitted with on: slurm.", schema.BlockOf(Slurm().Info()),
		func(r *schema.Reader, n *schema.Node, s *scenarios.Scenario) {
			if s.On == scenarios.OnSlurm || n.Kind != schema.Mapping || len(n.Pairs) > 0 {
				schema.Decode(r, Slurm(), n, &s.Slurm)
			}
		})
	f.Always = true
	return f
}

// Slurm are the keys of slurm:.
func Slurm() schema.Block[scenarios.Slurm] {
	return schema.Block[scenarios.Slurm]{
		Name: "under slurm:", Doc: "A run is submitted as job arrays, with one job per variant and repeat, or one " +
			"per variant. Each job runs bench on its node.",
		Example: "\npartition: mi300x\naccount: llm\ngres: gpu:8\ntime: 4h\nnodes: spread\nsetup: [module load " +
			"rocm/6.2]\nexclusive: true\n",
		Fields: append(sbatchKeys(), []schema.Field[scenarios.Slurm]{
			schema.WholeKey("cpus", "CPUs of each job; 0: the cluster's default, which may be one CPU, too few for "+
				"a server and its client.", schema.Between(0, 10_000),
				func(s *scenarios.Slurm) *int { return &s.CPUs }).Or("0"),
			schema.SizeKey("mem", "Memory of each job, such as 64GiB; 0: the cluster's default.",
				func(s *scenarios.Slurm) *int64 { return &s.Mem }).Or("0"),
			schema.FlagKey("exclusive", "Run no other job on the node, because other jobs would disturb the "+
				"figures.", func(s *scenarios.Slurm) *bool { return &s.Alone }).Or("false"),
			schema.DurationKey("time", "Time limit of one job; 0: that of the partition.",
				func(s *scenarios.Slurm) *time.Duration { return &s.Time }).Or("0"),
			schema.DurationKey("grace", "Time before the job's limit at which it stops its servers and is requeued "+
				"for the remaining steps; 0: never.",
				func(s *scenarios.Slurm) *time.Duration { return &s.Grace }).Or("2m"),
			schema.EnumKey("nodes", "spread: each repeat is its own job, on any free node. same: one job per "+
				"variant, so that its repeats share a node.",
				[]scenarios.Nodes{scenarios.SpreadNodes, scenarios.SameNode},
				func(s *scenarios.Slurm) *scenarios.Nodes { return &s.Nodes }).Or(string(scenarios.SpreadNodes)),
			schema.WholeKey("at-once", "Maximum number of jobs at the same time; 0: no limit.",
				schema.Between(0, 10_000), func(s *scenarios.Slurm) *int { return &s.AtOnce }).Or("0"),
			schema.FreeKey("options", "Further sbatch options, each as one word: --reservation=night or "+
				"--mail-type=END.",
				schema.Texts(), readSbatchOptions).DefaultNote("none"),
			schema.FreeKey("setup", "Shell lines that run on the node before bench, such as module load.",
				schema.Texts(), readSetup).DefaultNote("none"),
		}...),
	}
}

func sbatchKeys() []schema.Field[scenarios.Slurm] {
	var fields []schema.Field[scenarios.Slurm]
	for _, key := range scenarios.SbatchKeys() {
		fields = append(fields, sbatchText(key.Name, key.Doc))
	}
	return fields
}

func sbatchText(key, doc string) schema.Field[scenarios.Slurm] {
	return schema.FreeKey(key, doc, schema.Simple(schema.TextShape),
		func(r *schema.Reader, n *schema.Node, s *scenarios.Slurm) {
			if v, ok := r.Text(n); ok {
				if strings.ContainsFunc(v, unicode.IsControl) {
					r.Fail(n.Pos, "%s is %s, which is more than one line", r.Key(), n.Shown())
				}
				if s.Sbatch == nil {
					s.Sbatch = map[string]string{}
				}
				s.Sbatch[key] = v
			}
		}).DefaultNote("the cluster's")
}

// sbatchOption is a long option with its value: a job's script has one per line.
var sbatchOption = regexp.MustCompile(`^--[a-z][a-z0-9-]*(=[^\x00-\x1f\x7f]+)?$`)

// ownOptions are the options that bench sets itself.
var ownOptions = map[string]string{
	"--array": "bench makes the arrays", "--job-name": "bench finds its jobs by it", "--output": "it goes into the " +
		"run's folder", "--error": "it goes into the run's folder",
	"--signal": "grace: sets it", "--requeue": "bench sets it", "--no-requeue": "resume takes care of it",
	"--parsable": "bench sets it", "--wrap": "setup: takes lines of shell",
	"--time":      "time: sets it",
	"--open-mode": "bench sets it", "--chdir": "jobs run in the run's folder", "--nodes": "a job has one node",
	"--ntasks": "a job has one task", "--wait": "bench waits itself",
}

func isSbatchKey(name string) bool {
	return slices.ContainsFunc(scenarios.SbatchKeys(), func(k scenarios.SbatchKey) bool { return k.Name == name })
}

func readSbatchOptions(r *schema.Reader, n *schema.Node, s *scenarios.Slurm) {
	for it, option := range r.EachText(n) {
		name, _, _ := strings.Cut(option, "=")
		why := ownOptions[name]
		if key := strings.TrimPrefix(name, "--"); isSbatchKey(key) {
			why = key + ": sets it"
		}
		switch {
		case why != "":
			r.Fail(it.Pos, "option %s is not allowed here: %s", it.Shown(), why)
		case !sbatchOption.MatchString(option):
			r.Fail(it.Pos, "option is %s, expected one word such as --exclusive or --mem=64G", it.Shown())
		default:
			s.Options = append(s.Options, option)
		}
	}
}

func readSetup(r *schema.Reader, n *schema.Node, s *scenarios.Slurm) {
	for it, line := range r.EachText(n) {
		if strings.ContainsAny(line, "\n\r\x00") {
			r.Fail(it.Pos, "setup has %s, expected one line of shell each", it.Shown())
			continue
		}
		s.Setup = append(s.Setup, line)
	}
}
