package scenarios

import (
	"regexp"
	"strings"
	"time"
)

// clusterFields are the top-level keys that say on which machines a run runs.
func clusterFields() []field[Scenario] {
	return []field[Scenario]{
		enumKey("on", "Where servers run: here, on this box, or on the nodes of a Slurm cluster, as slurm: says.", []Where{Here, OnSlurm},
			func(s *Scenario) *Where { return &s.On }).or(string(Here)),
		slurmField(),
		clientField(),
	}
}

// slurmField is read where it is given or needed: its defaults are of no
// meaning elsewhere.
func slurmField() field[Scenario] {
	f := freeKey("slurm", "How jobs are submitted with on: slurm.", blockOf(slurmBlock().info()), func(r *reader, n *node, s *Scenario) {
		if s.On == OnSlurm || n.kind != mapping || len(n.pairs) > 0 {
			decode(r, slurmBlock(), n, &s.Slurm)
		}
	})
	f.always = true
	return f
}

func slurmBlock() block[Slurm] {
	return block[Slurm]{
		name: "under slurm:", doc: "A run becomes job arrays: one job for the servers of one variant and repeat, or of one variant. Each runs bench on its node.",
		example: "\npartition: mi300x\naccount: llm\ngres: gpu:8\ntime: 4h\nnodes: spread\nsetup: [module load rocm/6.2]\noptions: [--exclusive]\n",
		fields: []field[Slurm]{
			sbatchText("partition", "Of sbatch.", func(s *Slurm) *string { return &s.Partition }),
			sbatchText("account", "Of sbatch.", func(s *Slurm) *string { return &s.Account }),
			sbatchText("qos", "Of sbatch.", func(s *Slurm) *string { return &s.QOS }),
			sbatchText("gres", "Of sbatch: what each job gets, such as gpu:8.", func(s *Slurm) *string { return &s.Gres }),
			sbatchText("constraint", "Of sbatch: features that a node must have.", func(s *Slurm) *string { return &s.Constraint }),
			durationKey("time", "Limit of one job; 0 is that of the partition.", func(s *Slurm) *time.Duration { return &s.Time }).or("0"),
			durationKey("grace", "So long before its limit a job stops its servers and is queued again for the steps that are left; 0 is never.",
				func(s *Slurm) *time.Duration { return &s.Grace }).or("2m"),
			enumKey("nodes", "spread: every repeat is a job of its own, on whatever node there is room. same: one job a variant, so that its repeats share a node.",
				[]Nodes{SpreadNodes, SameNode}, func(s *Slurm) *Nodes { return &s.Nodes }).or(string(SpreadNodes)),
			wholeKey("at-once", "Jobs that may run at the same time; 0 is as many as there is room for.", between(0, 10_000), func(s *Slurm) *int { return &s.AtOnce }).or("0"),
			freeKey("options", "Further options of sbatch, each as one word: --exclusive or --mem=64G.", listOf(simple(textShape)), readSbatchOptions).elseNote("none"),
			freeKey("setup", "Lines of shell that run on the node before bench, such as module load.", listOf(simple(textShape)), readSetup).elseNote("none"),
		},
	}
}

func sbatchText(key, doc string, at func(*Slurm) *string) field[Slurm] {
	return freeKey(key, doc, simple(textShape), func(r *reader, n *node, s *Slurm) {
		if v, ok := r.text(n); ok {
			if strings.ContainsFunc(v, isControl) {
				r.fail(n.pos, "%s is %s, which is more than one line", r.key(), n.shown())
			}
			*at(s) = v
		}
	}).elseNote("the cluster's")
}

func isControl(c rune) bool { return c < ' ' || c == 0x7f }

// sbatchOption is a long option with its value: a job's script has one a line.
var sbatchOption = regexp.MustCompile(`^--[a-z][a-z0-9-]*(=[^\x00-\x1f\x7f]+)?$`)

// ownOptions are the options that bench sets itself.
var ownOptions = map[string]string{
	"--array": "bench makes the arrays", "--job-name": "bench finds its jobs by it", "--output": "it goes into the run's folder", "--error": "it goes into the run's folder",
	"--signal": "grace: sets it", "--requeue": "bench sets it", "--no-requeue": "resume takes care of it", "--parsable": "bench sets it", "--wrap": "setup: takes lines of shell",
	"--partition": "partition: sets it", "--account": "account: sets it", "--qos": "qos: sets it", "--gres": "gres: sets it", "--constraint": "constraint: sets it", "--time": "time: sets it",
	"--open-mode": "bench sets it", "--chdir": "jobs run in the run's folder", "--nodes": "a job has one node", "--ntasks": "a job has one task", "--wait": "bench waits itself",
}

func readSbatchOptions(r *reader, n *node, s *Slurm) {
	if n.kind != list {
		r.wrong(n, listOf(simple(textShape)))
		return
	}
	for _, it := range n.items {
		option, ok := r.text(it)
		if !ok {
			continue
		}
		name, _, _ := strings.Cut(option, "=")
		switch why := ownOptions[name]; {
		case why != "":
			r.fail(it.pos, "option %s does not go here: %s", it.shown(), why)
		case !sbatchOption.MatchString(option):
			r.fail(it.pos, "option is %s, expected one word such as --exclusive or --mem=64G", it.shown())
		default:
			s.Options = append(s.Options, option)
		}
	}
}

func readSetup(r *reader, n *node, s *Slurm) {
	if n.kind != list {
		r.wrong(n, listOf(simple(textShape)))
		return
	}
	for _, it := range n.items {
		line, ok := r.text(it)
		switch {
		case ok && strings.ContainsAny(line, "\n\r\x00"):
			r.fail(it.pos, "setup has %s, expected one line of shell each", it.shown())
		case ok:
			s.Setup = append(s.Setup, line)
		}
	}
}
