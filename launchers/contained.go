package launchers

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/benchrig/bench/launchers/container"
	"github.com/benchrig/bench/launchers/engines"
	"github.com/benchrig/bench/launchers/ports"
	"github.com/benchrig/bench/launchers/recipe"
	"github.com/benchrig/bench/results"
)

// Plan is what a recipe becomes: its kind's command line, or that of the
// container engine that wraps it, whose Env is then set within the container; on
// another node, srun's. It starts nothing.
func Plan(kind engines.Kind, spec recipe.Spec) (recipe.Command, error) {
	command, err := planHere(kind, spec)
	if err != nil || !spec.Span.Step {
		return command, err
	}
	return recipe.Remotely(spec.Span, 0, command), nil
}

// planHere is the command line for the node on which the server runs.
func planHere(kind engines.Kind, spec recipe.Spec) (recipe.Command, error) {
	if spec.Container.Image == "" {
		return kind.Command(spec)
	}

	job, err := contained(kind, spec)
	if err != nil {
		return recipe.Command{}, err
	}
	if !spec.Container.Daemon() {
		return wrapped(job)
	}
	r, err := job.Recipe()
	if err != nil {
		return recipe.Command{}, err
	}

	return recipe.Command{Argv: r.Argv, Env: job.Env}, nil
}

// wrapped is the command line that enters the image of an engine without a daemon.
func wrapped(job container.Job) (recipe.Command, error) {
	argv, env, err := job.Wrapped()
	if err != nil {
		return recipe.Command{}, err
	}
	job.Env = recipe.WithoutVisibility(job.Env) // that is set on the node, by env
	step, err := job.StepOptions()
	return recipe.Command{Argv: argv, Env: env, Unset: job.Unset, Step: step}, err
}

// makeCaches makes the cache folders of a server that enters an image without a
// daemon; for the others the start of their container does.
func makeCaches(kind engines.Kind, spec recipe.Spec) *results.Failure {
	if spec.Container.Image == "" || spec.Container.Daemon() {
		return nil
	}
	job, err := contained(kind, spec)
	if err == nil {
		err = job.MakeCaches()
	}
	if err != nil {
		return results.Failf(results.FailBadRecipe, "%s: %v", kind.Name, err)
	}
	return nil
}

// contained is a recipe as a job for a container.
func contained(kind engines.Kind, spec recipe.Spec) (container.Job, error) {
	switch {
	case kind.External:
		return container.Job{}, fmt.Errorf("container: an external server is not started by bench: remove the key")
	case kind.Simulated:
		return container.Job{}, fmt.Errorf("container: the simulator is part of bench and runs without one: remove " +
			"the key")
	}

	if len(spec.Inherit) > 0 && spec.Container.Daemon() {
		return container.Job{}, fmt.Errorf("env: %s: a container inherits nothing: write ${env:%s} instead of inherit",
			spec.Inherit[0], spec.Inherit[0])
	}

	if spec.Place.Nice != 0 {
		return container.Job{}, fmt.Errorf("nice: a container has none: remove the key, or give cpus")
	}

	command, err := kind.Command(inside(kind, spec))
	if err != nil {
		return container.Job{}, err
	}

	return jobOf(kind, spec, command), nil
}

// jobOf is a command, as it is within, as a job for a container.
func jobOf(kind engines.Kind, spec recipe.Spec, command recipe.Command) container.Job {
	return container.Job{
		Options: spec.Container,
		Argv:    command.Argv,
		Env:     command.Env,
		Unset:   command.Unset,
		Entry:   kind.Image.Entry,
		Program: programInside(spec),
		Prefix:  kind.Image.Program,
		Secrets: slices.DeleteFunc(append(slices.Clone(spec.Secrets), spec.APIKey), recipe.TooShort),
		Cookie:  spec.Cookie,
		Life:    spec.Life,
		Replica: spec.Replica,
		Address: ports.Reachable(spec.Host),
		Port:    spec.Port,
		GPUs:    spec.GPUs,
		Devices: spec.Devices,
		Vendor:  spec.Vendor,
		CPUs:    spec.Place.CPUs.String(),
		Node:    spec.Place.Node,
		Host:    container.ThisHost(),
		Caches:  kind.Image.Caches,
		Model:   spec.Model,
		Dir:     spec.Dir,
		LogPath: spec.LogPath,
		Grace:   cmp.Or(spec.StopGrace, kind.StopGrace),
	}
}

// Companions lists what runs beside a server over several nodes, in containers
// where the server does. It starts nothing.
func Companions(kind engines.Kind, spec recipe.Spec) ([]recipe.Companion, error) {
	if spec.Container.Image == "" || !spec.Span.Several() {
		return engines.CompanionsOf(kind, spec, nil)
	}
	if !spec.Container.HostNetwork() {
		return nil, fmt.Errorf("container: network: %s: the nodes of a server reach each other in the machines' own "+
			"network: leave the key out", spec.Container.Network)
	}
	return engines.CompanionsOf(kind, inside(kind, spec), func(rank int, command recipe.Command) (recipe.Command,
		error,
	) {
		return companionContained(kind, spec, rank, command)
	})
}

// companionContained puts a companion's command into a container: one of its own
// node's, which lives as long as the client that srun starts.
func companionContained(
	kind engines.Kind, spec recipe.Spec, rank int, command recipe.Command,
) (recipe.Command, error) {
	spec.Span.Rank = rank
	if rank > 0 {
		spec.GPUs, spec.Devices = nil, nil // Slurm names that node's there
	}

	job := jobOf(kind, spec, command)
	if job.Program == nil && kind.Image.Entry != nil && !beginsWith(command.Argv, kind.Image.Entry) {
		job.Program = command.Argv[:1] // not the server, and so not the image's entry point
	}
	if !spec.Container.Daemon() {
		return wrapped(job)
	}

	job.Foreground, job.Cookie, job.LogPath = true, cmp.Or(spec.Span.Cookie, "COOKIE"), ""
	job.Life += "-" + spec.Span.Nodes[rank].Name
	r, err := job.Recipe()
	return recipe.Command{Argv: r.Argv, Env: r.ClientEnv()}, err
}

func beginsWith(argv, beginning []string) bool {
	return len(argv) >= len(beginning) && slices.Equal(argv[:len(beginning)], beginning)
}

// inside is the recipe as it is within its container: another program, another
// address where the network is not the host's, and GPUs counted from 0 where
// the container sees only its own.
func inside(kind engines.Kind, spec recipe.Spec) recipe.Spec {
	if !spec.Container.HostNetwork() {
		spec.Host = "0.0.0.0"
	}
	spec.Port = cmp.Or(spec.Port, kind.DefaultPort)
	switch own := programInside(spec); {
	case kind.Image.Entry == nil:
	case own != nil:
		spec.Binary = own
	case spec.Container.JobStep(): // no entry point: the program is the image's, by name
	default:
		spec.Binary = kind.Image.Entry
	}
	spec.GPUs = visibleInside(spec)
	return spec
}

// programInside is what replaces the image's entry point, nil for nothing.
func programInside(spec recipe.Spec) []string {
	if spec.Container.Command != nil {
		return spec.Container.Command
	}
	return spec.Binary
}

// visibleInside are the GPUs of a recipe as its container counts them.
func visibleInside(spec recipe.Spec) []int {
	switch {
	case spec.Vendor == "amd", spec.Container.GPUs == container.AllGPUs, len(spec.GPUs) == 0, !spec.Container.Daemon():
		return spec.GPUs
	case spec.Container.GPUs != "":
		return nil // the scenario decides
	}
	renumbered := make([]int, len(spec.GPUs))
	for i := range renumbered {
		renumbered[i] = i
	}
	return renumbered
}
