package launchers

import (
	"cmp"
	"fmt"
	"maps"
	"net"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Labels of our containers. Leftovers are found by them alone.
const (
	labelRun    = "benchrig.run"    // of all containers of a run
	labelCookie = "benchrig.cookie" // of one server life
)

const (
	hostNetwork   = "host"
	defaultIPC    = "host"
	defaultMaxLog = "256m"
	logFiles      = "3"
	dockerEngine  = "docker"
	podmanEngine  = "podman"
	vendorAMD     = "amd"
	vendorNVIDIA  = "nvidia"
	noGPUs        = "none"
	allGPUs       = "all"
)

// containerRecipe is a recipe as the container engine's client takes it.
type containerRecipe struct {
	engine  string   // "docker" or "podman"
	name    string   // of the container
	label   string   // NAME=VALUE of labelCookie
	image   string   // to be pulled where it is missing
	argv    []string // of the client, engine first: run -d ...
	secrets []string // NAME=VALUE for the client's own environment: argv only has the names
}

// Plan is what a recipe becomes: its kind's command line, or that of the
// container engine that wraps it, whose Env is then set within the container.
// It starts nothing.
func Plan(kind Kind, spec Spec) (Command, error) {
	if spec.Container.Image == "" {
		return kind.Command(spec)
	}
	command, err := kind.Command(inside(kind, spec))
	if err != nil {
		return Command{}, err
	}
	recipe, err := wrap(kind, spec, command)
	if err != nil {
		return Command{}, err
	}
	return Command{Argv: recipe.argv, Env: command.Env}, nil
}

// inside is the recipe as it is within its container: another program, another
// address where the network is not the host's, and GPUs counted from 0 where
// the container sees only its own.
func inside(kind Kind, spec Spec) Spec {
	if containerNetwork(spec) != hostNetwork {
		spec.Host = "0.0.0.0"
	}
	spec.Port = cmp.Or(spec.Port, kind.DefaultPort)
	switch own := programInside(spec); {
	case kind.Entry == nil:
	case own != nil:
		spec.Binary = own
	default:
		spec.Binary = kind.Entry
	}
	spec.GPUs = visibleInside(spec)
	return spec
}

// programInside is what replaces the image's entry point, nil for nothing.
func programInside(spec Spec) []string {
	if spec.Container.Command != nil {
		return spec.Container.Command
	}
	return spec.Binary
}

// visibleInside are the GPUs of a recipe as its container counts them.
func visibleInside(spec Spec) []int {
	switch {
	case spec.Vendor == vendorAMD, spec.Container.GPUs == allGPUs, len(spec.GPUs) == 0:
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

// wrap puts a command line into a container: everything that `run` takes.
func wrap(kind Kind, spec Spec, command Command) (containerRecipe, error) {
	r := containerRecipe{
		engine: cmp.Or(spec.Container.Engine, dockerEngine),
		name:   containerName(spec),
		label:  labelCookie + "=" + spec.Cookie,
		image:  spec.Container.Image,
	}
	if err := wrappable(kind, spec); err != nil {
		return r, err
	}
	mounts, err := containerMounts(spec)
	if err != nil {
		return r, err
	}
	entry, arguments := containerProgram(kind, spec, command)
	options := slices.Concat(
		[]string{"--name", r.name, "--label", labelRun + "=" + spec.run(), "--label", r.label},
		cidfile(spec), []string{"--init", "--stop-timeout", seconds(stopGrace(kind, spec))},
		logOptions(r.engine, spec), namespaces(spec), gpuOptions(r.engine, spec), mounts, entry,
	)
	r.argv = append([]string{r.engine, "run", "-d"}, options...)
	for _, name := range slices.Sorted(maps.Keys(command.Env)) {
		entry := name + "=" + command.Env[name]
		if holdsSecret(spec, command.Env[name]) {
			r.secrets = append(r.secrets, entry)
			entry = name // its value comes from the client's environment, which others cannot read
		}
		r.argv = append(r.argv, "-e", entry)
	}
	r.argv = slices.Concat(r.argv, spec.Container.Args, []string{r.image}, arguments)
	return r, nil
}

func wrappable(kind Kind, spec Spec) error {
	switch {
	case kind.External:
		return fmt.Errorf("container: an external server is not started by bench: remove the key")
	case kind.Simulated:
		return fmt.Errorf("container: the simulator is part of bench and runs without one: remove the key")
	}
	for _, arg := range spec.Container.Args {
		name, _, _ := strings.Cut(arg, "=")
		switch name {
		case "--name", "--cidfile", "-d", "--detach", "--rm", "--restart", "--network", "--net", "--ipc", "--gpus", "--entrypoint", "-p", "--publish", "--init", "--stop-timeout":
			return fmt.Errorf("container: args: %s is set by bench: use the key of the container block, or leave it out", name)
		}
	}
	return nil
}

// run identifies the run that a server belongs to: the part of its cookie that
// all servers of the run share.
func (s Spec) run() string {
	run, _, _ := strings.Cut(s.Cookie, ".")
	return run
}

// notInName is what container engines do not take in a name.
var notInName = regexp.MustCompile(`[^a-zA-Z0-9_.-]+`)

func containerName(spec Spec) string {
	run := spec.run()
	const enough = 12
	if len(run) > enough {
		run = run[:enough]
	}
	return notInName.ReplaceAllString(fmt.Sprintf("bench-%s-%s-%d", cmp.Or(run, "run"), cmp.Or(spec.Life, "life"), spec.Replica), "-")
}

// cidfile makes the client note the container's id beside the server's log,
// for people who look for it.
func cidfile(spec Spec) []string {
	if spec.LogPath == "" {
		return nil
	}
	return []string{"--cidfile", strings.TrimSuffix(spec.LogPath, filepath.Ext(spec.LogPath)) + ".cid"}
}

func stopGrace(kind Kind, spec Spec) time.Duration { return cmp.Or(spec.StopGrace, kind.StopGrace) }

func seconds(d time.Duration) string { return strconv.Itoa(int((d + time.Second - 1) / time.Second)) }

// logOptions bound the engine's own copy of the log. Both drivers are ones
// whose log can be followed.
func logOptions(engine string, spec Spec) []string {
	size := "max-size=" + cmp.Or(spec.Container.MaxLog, defaultMaxLog)
	if engine == podmanEngine {
		return []string{"--log-driver", "k8s-file", "--log-opt", size}
	}
	return []string{"--log-driver", "json-file", "--log-opt", size, "--log-opt", "max-file=" + logFiles}
}

func containerNetwork(spec Spec) string { return cmp.Or(spec.Container.Network, hostNetwork) }

func namespaces(spec Spec) []string {
	options := []string{"--network", containerNetwork(spec)}
	if containerNetwork(spec) != hostNetwork {
		port := strconv.Itoa(spec.Port)
		options = append(options, "-p", net.JoinHostPort(reachable(spec.Host), port)+":"+port)
	}
	options = append(options, "--ipc", cmp.Or(spec.Container.IPC, defaultIPC))
	if spec.Container.ShmSize != "" {
		options = append(options, "--shm-size", spec.Container.ShmSize)
	}
	return options
}

// gpuOptions show the container its GPUs. On AMD it sees all of them and the
// recipe's HIP_VISIBLE_DEVICES chooses; on NVIDIA it sees only its own.
func gpuOptions(engine string, spec Spec) []string {
	var options []string
	devices := spec.Container.Devices
	hidden := spec.GPUs != nil && len(spec.GPUs) == 0 || spec.Container.GPUs == noGPUs
	switch {
	case spec.Vendor == vendorAMD && devices == nil && !hidden:
		devices = []string{"/dev/kfd", "/dev/dri"}
	case spec.Vendor != vendorAMD && !hidden:
		options = nvidiaOptions(engine, spec)
	}
	for _, device := range devices {
		options = append(options, "--device", device)
	}
	if spec.Vendor == vendorAMD && len(devices) > 0 {
		options = append(options, "--group-add", "video")
	}
	return options
}

func nvidiaOptions(engine string, spec Spec) []string {
	var indices []string
	for _, gpu := range spec.GPUs {
		indices = append(indices, strconv.Itoa(gpu))
	}
	value := spec.Container.GPUs
	if value == "" && len(indices) == 0 && spec.Vendor == vendorNVIDIA {
		value = allGPUs // as a process would
	}
	switch {
	case engine == podmanEngine && value == allGPUs:
		return []string{"--device", "nvidia.com/gpu=all"}
	case engine == podmanEngine && value == "":
		var options []string
		for _, index := range indices {
			options = append(options, "--device", "nvidia.com/gpu="+index)
		}
		return options
	case value != "":
		return []string{"--gpus", value}
	case len(indices) > 0:
		// The client reads the value as CSV: without quotes the comma ends it.
		return []string{"--gpus", `"device=` + strings.Join(indices, ",") + `"`}
	}
	return nil
}

// containerProgram splits the command line into what replaces the image's
// entry point and the arguments that follow the image's name.
func containerProgram(kind Kind, spec Spec, command Command) (entry, arguments []string) {
	argv, own := command.Argv, programInside(spec)
	switch {
	case own == nil && kind.Entry != nil:
		return nil, slices.Concat(kind.ImageProgram, argv[len(kind.Entry):])
	case own == nil:
		return nil, argv
	case kind.Entry == nil:
		argv = slices.Concat(own, argv)
	}
	return []string{"--entrypoint", argv[0]}, argv[1:]
}

func holdsSecret(spec Spec, value string) bool {
	for _, secret := range append(slices.Clone(spec.Secrets), spec.APIKey) {
		if len(secret) >= minSecret && strings.Contains(value, secret) {
			return true
		}
	}
	return false
}
