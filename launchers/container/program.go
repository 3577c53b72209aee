package container

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/benchrig/bench/launchers/process"
)

// The engines without a daemon: programs that enter an image and become the
// server, as a child of ours that shares pids, network and home with us.
const (
	apptainer    = "apptainer"
	singularity  = "singularity"
	enroot       = "enroot"
	charliecloud = "charliecloud"
	// pyxis is a plugin of Slurm: srun itself enters the image, so that the server is a
	// job step
	pyxis = "pyxis"
)

// EngineNames are all engines, in the order of messages.
func EngineNames() []string {
	return []string{docker, podman, apptainer, singularity, enroot, charliecloud, pyxis}
}

// Daemon reports whether a daemon, or what acts as one, runs the container.
func (o Options) Daemon() bool { return o.Engine == "" || o.Engine == docker || o.Engine == podman }

// JobStep reports whether srun enters the image.
func (o Options) JobStep() bool { return o.Image != "" && o.Engine == pyxis }

// ImageIsFile reports whether the image of an engine without a daemon is a file or a
// folder, and not an address such as docker://IMAGE or, of pyxis, REGISTRY#IMAGE.
func (o Options) ImageIsFile() bool {
	if o.Engine == pyxis {
		return strings.HasPrefix(o.Image, "/") || strings.HasPrefix(o.Image, ".") || strings.HasSuffix(o.Image, ".sqsh")
	}
	return !strings.Contains(o.Image, "://")
}

// ShowsHome reports whether the engine shows the user's home within, and with it
// what libraries keep there between starts.
func (o Options) ShowsHome() bool { return o.Engine == apptainer || o.Engine == singularity }

// Contained reports whether the server is a container that is not a child of ours.
func (o Options) Contained() bool { return o.Image != "" && o.Daemon() }

// Wrapped is the command line with which a program enters an image of an engine
// without a daemon, and the environment that must be set for it.
func (job Job) Wrapped() (argv []string, env map[string]string, err error) {
	o := job.Options
	if err := job.checkWrapped(); err != nil {
		return nil, nil, err
	}

	mounts, err := mounts(job)
	if err != nil {
		return nil, nil, err
	}
	job.Env = job.withCacheVariables()

	switch o.Engine {
	case enroot:
		argv, env = enrootCommand(job, mounts), job.Env
	case charliecloud:
		argv, env = charliecloudCommand(job, mounts)
	case pyxis:
		argv, env = stepProgram(job), job.Env
	default:
		argv, env = apptainerCommand(job, mounts)
	}

	return argv, env, nil
}

// checkWrapped refuses keys that these engines do not have.
func (job Job) checkWrapped() error {
	o := job.Options
	for key, given := range map[string]bool{
		"network": !o.HostNetwork(), "shm-size": o.ShmSize != "", "devices": len(o.Devices) > 0,
		"gpus": o.GPUs != "" && o.GPUs != noGPUs && o.GPUs != AllGPUs,
	} {
		if given {
			return fmt.Errorf("container: %s: %s shares the machine's network, /dev/shm and devices: leave the key out",
				key, o.Engine)
		}
	}
	if o.Engine == enroot && job.Program != nil {
		return fmt.Errorf("container: command: enroot runs an image's own entry point: make an image with another one")
	}

	return nil
}

// programWithin is what runs within: replaced says that it takes the place of the image's
// own entry point.
func programWithin(job Job) (argv []string, replaced bool) {
	entry, arguments := program(job)
	if len(entry) == 0 {
		return arguments, false
	}
	return slices.Concat(entry[1:], arguments), true // entry is --entrypoint PROGRAM
}

// apptainerCommand is that of apptainer and singularity, which are one program in
// two names. Variables of the image win over ours unless they have its prefix.
func apptainerCommand(job Job, mounts []Mount) (argv []string, env map[string]string) {
	verb := "run"
	words, replaced := programWithin(job)
	if replaced {
		verb = "exec"
	}

	argv = []string{job.Options.Engine, verb}
	switch {
	case job.hidesGPUs():
	case job.Vendor == vendorAMD:
		argv = append(argv, "--rocm")
	case job.Vendor == vendorNVIDIA:
		argv = append(argv, "--nv")
	}
	for _, mount := range mounts {
		argv = append(argv, "--bind", mount.String())
	}

	env = map[string]string{}
	prefix := strings.ToUpper(job.Options.Engine) + "ENV_"
	for name, value := range job.Env {
		env[prefix+name] = value
	}

	return slices.Concat(argv, job.Options.Args, []string{job.Options.Image}, words), env
}

// enrootCommand names variables without their values, which enroot takes from its
// own environment.
func enrootCommand(job Job, mounts []Mount) []string {
	argv := []string{enroot, "start"}
	for _, mount := range mounts {
		flags := "x-create=auto,bind"
		if mount.Options != "" {
			flags += "," + mount.Options
		}
		argv = append(argv, "--mount", mount.Source+":"+mount.Target+":none:"+flags)
	}
	for _, name := range append(slices.Sorted(maps.Keys(job.Env)), process.CookieVariable) {
		argv = append(argv, "--env", name)
	}

	words, _ := programWithin(job)

	return slices.Concat(argv, job.Options.Args, []string{"--", job.Options.Image}, words)
}

// charliecloudCommand runs the program itself: an image that was unpacked to a
// folder has no entry point any more. Its binds are never read-only.
// It does not start without a USER, which jobs of a scheduler may lack.
func charliecloudCommand(job Job, mounts []Mount) (argv []string, env map[string]string) {
	argv = []string{"ch-run"}
	for _, mount := range mounts {
		argv = append(argv, "--bind", mount.Source+":"+mount.Target)
	}

	words, replaced := programWithin(job)
	if !replaced && job.Prefix == nil && job.Entry != nil {
		words = job.Argv
	}

	env = map[string]string{"USER": job.Host.User}
	maps.Copy(env, job.Env)

	return slices.Concat(argv, job.Options.Args, []string{filepath.Clean(job.Options.Image), "--"}, words), env
}

// stepProgram is what a job step runs within: an image's entry point is not looked at.
func stepProgram(job Job) []string {
	if job.Entry != nil {
		return job.Argv
	}
	words, _ := programWithin(job)
	return words
}

// StepOptions are the options by which srun enters the image; none of other engines
// than pyxis. Variables that are not named would give way to the image's own.
func (job Job) StepOptions() ([]string, error) {
	o := job.Options
	if !o.JobStep() {
		return nil, nil
	}

	mounts, err := mounts(job)
	if err != nil {
		return nil, err
	}
	var binds []string
	for _, mount := range mounts {
		text := mount.Source + ":" + mount.Target
		if mount.Options != "" {
			text += ":" + strings.ReplaceAll(mount.Options, ",", "+")
		}
		if strings.Contains(text, ",") {
			return nil, fmt.Errorf("container: mounts: %q: pyxis takes no comma in a path", text)
		}
		binds = append(binds, text)
	}

	options := []string{"--container-image=" + o.Image, "--no-container-entrypoint"}
	if len(binds) > 0 {
		options = append(options, "--container-mounts="+strings.Join(binds, ","))
	}
	if names := slices.Sorted(maps.Keys(job.withCacheVariables())); len(names) > 0 {
		options = append(options, "--container-env="+strings.Join(names, ","))
	}
	return append(options, o.Args...), nil
}
