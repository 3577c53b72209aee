package container

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

	"github.com/benchrig/bench/launchers/process"
	"github.com/benchrig/bench/results"
)

// Labels of our containers. Leftovers are found by them alone.
const (
	labelRun    = "benchrig.run"    // of all containers of a run
	labelCookie = "benchrig.cookie" // of one server life
)

// GPUs in Options that are not a list of devices.
const (
	noGPUs  = "none"
	AllGPUs = "all"
)

const (
	hostNetwork   = "host"
	defaultIPC    = "host"
	defaultMaxLog = "256m"
	logFiles      = "3"
	docker        = "docker"
	podman        = "podman"
	vendorAMD     = "amd"
	vendorNVIDIA  = "nvidia"
)

// Options says how to wrap a server into a container, see
// scenarios.Container; its paths are absolute here.
type Options struct {
	Image   string
	Engine  string
	GPUs    string
	Devices []string
	Mounts  []string
	IPC     string
	ShmSize string
	Network string
	Command []string
	Args    []string
	MaxLog  string
	Cache   string        // folder whose subfolders hold what engines keep between starts; "": none is mounted
	Pull    time.Duration // longest time for an image to come
}

// Job is a server to run in a container: its command line as it is within, and
// what of this machine it sees there.
type Job struct {
	Options Options

	Argv []string          // of the server as it runs within, its program first
	Env  map[string]string // set within the container
	// removed from what the server inherits, where no daemon runs it
	Unset []string
	// what Argv begins with in place of the image's entry point; nil: Argv has no program of the kind's own
	Entry []string
	// replaces the image's entry point, and is what Argv begins with in place of Entry; nil: the image's own
	Program []string
	Prefix  []string // goes before the arguments in images whose entry point is not the server
	Secrets []string // values that must not show on a command line

	// Foreground: the client stays as long as the container, which is removed with it
	Foreground bool

	Cookie  string // of the server start; identifies the container
	Life    string // id of the server start, for the container's name
	Replica int

	Address string // where the server is reached on this machine
	Port    int
	GPUs    []int    // of this machine, empty: none; nil: as Options say
	Devices []string // ids of these GPUs, such as NVIDIA's UUIDs; nil: not known
	Vendor  string   // "amd", "nvidia", ""
	CPUs    string   // that it may use; "": any
	Node    *int     // NUMA node that its memory is taken from; nil: any
	Host    Host
	Model   string  // a name, or a path to be mounted
	Caches  []Cache // of the engine, mounted if Options name a folder for them
	Dir     string  // that the relative path of a model belongs to
	LogPath string
	Grace   time.Duration // from SIGTERM to SIGKILL in a stop
}

// Recipe is a recipe as the container engine's client takes it.
type Recipe struct {
	engine  string   // "docker" or "podman"
	name    string   // of the container
	label   string   // NAME=VALUE of labelCookie
	image   string   // to be pulled where it is missing
	Argv    []string // of the client, engine first: run -d ...
	secrets []string // NAME=VALUE for the client's own environment: argv only has the names
}

// Info is how the container is to be found, as the journal notes it.
func (r Recipe) Info() *results.ContainerInfo {
	return &results.ContainerInfo{Engine: r.engine, Name: r.name, Label: r.label}
}

// ClientEnv are the variables that the client needs beside its own: secrets, whose
// names alone are in Argv.
func (r Recipe) ClientEnv() map[string]string {
	env := map[string]string{}
	for _, entry := range r.secrets {
		name, value, _ := strings.Cut(entry, "=")
		env[name] = value
	}
	return env
}

// Recipe puts the command line into a container: everything that `run` takes.
func (job Job) Recipe() (Recipe, error) {
	r := Recipe{
		engine: cmp.Or(job.Options.Engine, docker),
		name:   name(job),
		label:  labelCookie + "=" + job.Cookie,
		image:  job.Options.Image,
	}

	if err := cmp.Or(job.check(), job.checkGPUs(r.engine)); err != nil {
		return r, err
	}

	mounts, err := mounts(job)
	if err != nil {
		return r, err
	}
	var mountOptions []string
	for _, mount := range mounts {
		mountOptions = append(mountOptions, "-v", mount.String())
	}

	entry, arguments := program(job)
	options := slices.Concat(
		[]string{"--name", r.name, "--label", labelRun + "=" + job.run(), "--label", r.label},
		cidfile(job), []string{"--init", "--stop-timeout", seconds(job.Grace)},
		logOptions(r.engine, job), namespaces(job), gpuOptions(r.engine, job), mountOptions, entry,
	)

	lifetime := "-d"
	if job.Foreground {
		lifetime = "--rm"
	}
	r.Argv = append([]string{r.engine, "run", lifetime}, options...)
	for _, name := range slices.Sorted(maps.Keys(job.Env)) {
		entry := name + "=" + job.Env[name]
		if holdsSecret(job, job.Env[name]) {
			r.secrets = append(r.secrets, entry)
			entry = name // its value comes from the client's environment, which others cannot read
		}
		r.Argv = append(r.Argv, "-e", entry)
	}

	if job.Cookie != "" {
		r.Argv = append(r.Argv, "-e", process.CookieVariable+"="+job.Cookie)
	}

	r.Argv = slices.Concat(r.Argv, job.Options.Args, []string{r.image}, arguments)
	return r, nil
}

// check refuses arguments that would take from bench what it needs to know or set.
func (job Job) check() error {
	for _, arg := range job.Options.Args {
		name, _, _ := strings.Cut(arg, "=")
		switch name {
		case "--name", "--cidfile", "-d", "--detach", "--rm", "--restart", "--network", "--net", "--ipc", "--gpus",
			"--entrypoint", "-p", "--publish", "--init", "--stop-timeout":
			return fmt.Errorf("container: args: %s is set by bench: use the key of the container block, "+
				"or leave it out", name)
		}
	}
	return nil
}

// run identifies the run that a server belongs to: the part of its cookie that
// all servers of the run share.
func (job Job) run() string {
	run, _, _ := strings.Cut(job.Cookie, ".")
	return run
}

// notInName is what container engines do not take in a name.
var notInName = regexp.MustCompile(`[^a-zA-Z0-9_.-]+`)

func name(job Job) string {
	run := job.run()
	const enough = 12
	if len(run) > enough {
		run = run[:enough]
	}
	return notInName.ReplaceAllString(fmt.Sprintf("bench-%s-%s-%d", cmp.Or(run, "run"), cmp.Or(job.Life, "life"),
		job.Replica), "-")
}

// cidfile makes the client note the container's id beside the server's log,
// for people who look for it.
func cidfile(job Job) []string {
	if job.LogPath == "" {
		return nil
	}
	return []string{"--cidfile", strings.TrimSuffix(job.LogPath, filepath.Ext(job.LogPath)) + ".cid"}
}

func seconds(d time.Duration) string { return strconv.Itoa(int((d + time.Second - 1) / time.Second)) }

// logOptions bound the engine's own copy of the log. Both drivers are ones
// whose log can be followed.
func logOptions(engine string, job Job) []string {
	size := "max-size=" + cmp.Or(job.Options.MaxLog, defaultMaxLog)
	if engine == podman {
		return []string{"--log-driver", "k8s-file", "--log-opt", size}
	}
	return []string{"--log-driver", "json-file", "--log-opt", size, "--log-opt", "max-file=" + logFiles}
}

func (o Options) network() string { return cmp.Or(o.Network, hostNetwork) }

// HostNetwork reports whether the container shares this machine's network, so
// that its listeners are found among this machine's sockets.
func (o Options) HostNetwork() bool { return o.network() == hostNetwork }

func namespaces(job Job) []string {
	options := []string{"--network", job.Options.network()}
	if job.Options.network() != hostNetwork {
		port := strconv.Itoa(job.Port)
		options = append(options, "-p", net.JoinHostPort(job.Address, port)+":"+port)
	}
	options = append(options, "--ipc", cmp.Or(job.Options.IPC, defaultIPC))
	if job.CPUs != "" {
		options = append(options, "--cpuset-cpus", job.CPUs)
	}
	if job.Node != nil {
		options = append(options, "--cpuset-mems", strconv.Itoa(*job.Node))
	}
	if job.Options.ShmSize != "" {
		options = append(options, "--shm-size", job.Options.ShmSize)
	}
	return options
}

// gpuOptions show the container its GPUs. On AMD it sees all of them and the
// recipe's HIP_VISIBLE_DEVICES chooses; on NVIDIA it sees only its own.
func gpuOptions(engine string, job Job) []string {
	var options []string
	devices := job.Options.Devices
	hidden := job.hidesGPUs()
	switch {
	case job.Vendor == vendorAMD && devices == nil && !hidden:
		devices = []string{"/dev/kfd", "/dev/dri"}
	case job.Vendor != vendorAMD && !hidden:
		options = nvidiaOptions(engine, job)
	}

	for _, device := range devices {
		options = append(options, "--device", device)
	}

	if job.Vendor == vendorAMD && len(devices) > 0 {
		options = append(options, job.Host.groups(engine)...)
		// AMD's images ask for these: ROCm's libraries map each other's memory and set memory policies
		options = append(options, "--cap-add", "SYS_PTRACE", "--security-opt", "seccomp=unconfined")
	}

	return options
}

// hidesGPUs reports whether the container is to see no GPU.
func (job Job) hidesGPUs() bool {
	return job.GPUs != nil && len(job.GPUs) == 0 || job.Options.GPUs == noGPUs
}

// groups give a container's processes the rights that the device files of AMD's
// GPUs ask for: by number, because images give the names to other groups, or lack them.
func (h Host) groups(engine string) []string {
	if engine == podman && h.Rootless {
		return []string{"--group-add", "keep-groups"}
	}
	if len(h.DeviceGroups) == 0 {
		return []string{"--group-add", "video"} // this machine has no such file: the plan of another
	}

	var options []string
	for _, group := range h.DeviceGroups {
		options = append(options, "--group-add", strconv.Itoa(group))
	}
	return options
}

func nvidiaOptions(engine string, job Job) []string {
	var indices []string
	for _, gpu := range job.GPUs {
		indices = append(indices, strconv.Itoa(gpu))
	}

	value := job.Options.GPUs
	if value == "" && len(indices) == 0 && job.Vendor == vendorNVIDIA {
		value = AllGPUs // as a process would
	}

	switch {
	case engine == podman && value == AllGPUs:
		return []string{"--device", "nvidia.com/gpu=all"}
	case engine == podman && value == "":
		var options []string
		for _, gpu := range job.cdiNames(indices) {
			options = append(options, "--device", "nvidia.com/gpu="+gpu)
		}
		return options
	case value != "":
		return []string{"--gpus", value}
	case len(indices) > 0:
		// An index counts the GPUs that a Slurm job or a cgroup leaves us, and the engine's daemon sees others.
		if byUUID(job.Devices, len(indices)) {
			indices = job.Devices
		}
		// The client reads the value as CSV: without quotes the comma ends it.
		return []string{"--gpus", `"device=` + strings.Join(indices, ",") + `"`}
	}

	return nil
}

// cdiNames are the names that podman knows GPUs by: their UUIDs, or their indices
// where those are not known.
func (job Job) cdiNames(indices []string) []string {
	if byUUID(job.Devices, len(indices)) && job.Host.CDI.names(job.Devices) {
		return job.Devices
	}
	return indices
}

// checkGPUs refuses GPUs that the engine would take for others: an index counts
// the GPUs that a scheduler leaves us, and engines those of the machine.
func (job Job) checkGPUs(engine string) error {
	if !job.Host.InJob || job.Vendor != vendorNVIDIA || job.Options.GPUs != "" || len(job.GPUs) == 0 {
		return nil
	}
	switch known := byUUID(job.Devices, len(job.GPUs)); {
	case !known:
		return fmt.Errorf("container: %s counts the machine's GPUs and not those of this job, and the UUIDs of GPUs "+
			"%v are not known: nvidia-smi -L must list them, or name the devices in the key gpus", engine, job.GPUs)
	case engine == podman && !job.Host.CDI.names(job.Devices):
		return fmt.Errorf("container: podman counts the machine's GPUs and not those of this job, and the CDI "+
			"specification does not name %s: make it with nvidia-ctk cdi generate --device-name-strategy=index "+
			"--device-name-strategy=uuid", strings.Join(job.Devices, ", "))
	}
	return nil
}

// byUUID reports whether there is an id of NVIDIA's for each of n GPUs.
func byUUID(ids []string, n int) bool {
	return len(ids) == n && !slices.ContainsFunc(ids, func(id string) bool {
		return !strings.HasPrefix(id, "GPU-") && !strings.HasPrefix(id, "MIG-")
	})
}

// program splits the command line into what replaces the image's
// entry point and the arguments that follow the image's name.
func program(job Job) (entry, arguments []string) {
	argv := job.Argv
	switch {
	case job.Program == nil && job.Entry != nil:
		return nil, slices.Concat(job.Prefix, argv[len(job.Entry):])
	case job.Program == nil:
		return nil, argv
	case job.Entry == nil:
		argv = slices.Concat(job.Program, argv)
	}

	return []string{"--entrypoint", argv[0]}, argv[1:]
}

func holdsSecret(job Job, value string) bool {
	for _, secret := range job.Secrets {
		if strings.Contains(value, secret) {
			return true
		}
	}
	return false
}
