package launchers

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/benchrig/bench/internal/fakeengine"
	"github.com/benchrig/bench/internal/proc"
	"github.com/benchrig/bench/launchers/container"
	"github.com/benchrig/bench/launchers/engines"
	"github.com/benchrig/bench/launchers/recipe"
)

// The command lines of engines without a daemon, as the documentation of
// apptainer ("run", "exec", --nv, --rocm, --bind, APPTAINERENV_), enroot ("start",
// --mount, --env, the image's rc) and charliecloud (ch-run) has them.
func TestWrappedRecipes(t *testing.T) {
	t.Parallel()
	tp2 := []recipe.Arg{{Name: "tensor-parallel-size", Value: json.Number("2")}}
	for _, c := range []struct {
		name, kind string
		change     func(*recipe.Spec)
		want       string
		env        string // the names of the variables, sorted
	}{
		{
			"vllm on NVIDIA", "vllm", func(s *recipe.Spec) {
				s.Container.Engine, s.Container.Image = "apptainer", "docker://vllm/vllm-openai:latest"
				s.Vendor, s.GPUs, s.Args, s.Env["HF_TOKEN"] = "nvidia", []int{2, 3}, tp2, "hf_secret"
				s.Container.Mounts, s.Container.Args = []string{"/data:/data:ro"}, []string{"--cleanenv"}
			},
			"apptainer run --nv --bind /data:/data:ro --cleanenv docker://vllm/vllm-openai:latest " +
				"--model org/m --host 127.0.0.1 --port 8000 --tensor-parallel-size 2",
			"APPTAINERENV_CUDA_DEVICE_ORDER APPTAINERENV_CUDA_VISIBLE_DEVICES APPTAINERENV_HF_TOKEN " +
				"APPTAINERENV_NO_COLOR APPTAINERENV_PYTHONUNBUFFERED APPTAINERENV_SPT_NOENV",
		},
		{
			"vllm on AMD with a program", "vllm", func(s *recipe.Spec) {
				s.Container.Engine, s.Container.Image, s.Container.Command = "singularity", "/images/vllm.sif",
					[]string{"vllm", "serve"}
				s.Vendor, s.GPUs, s.Args, s.Container.Cache = "amd", []int{4, 5}, tp2, "/scratch/cache"
			},
			"singularity exec --rocm --bind /scratch/cache:/scratch/cache /images/vllm.sif vllm serve org/m " +
				"--host 127.0.0.1 --port 8000 --tensor-parallel-size 2",
			"SINGULARITYENV_FLASHINFER_WORKSPACE_BASE SINGULARITYENV_HF_HOME SINGULARITYENV_HIP_VISIBLE_DEVICES " +
				"SINGULARITYENV_NO_COLOR SINGULARITYENV_PYTHONUNBUFFERED SINGULARITYENV_SPT_NOENV " +
				"SINGULARITYENV_TRITON_CACHE_DIR SINGULARITYENV_VLLM_CACHE_ROOT",
		},
		{
			"enroot", "sglang", func(s *recipe.Spec) {
				s.Container.Engine, s.Container.Image = "enroot", "/images/sglang.sqsh"
				s.Vendor, s.GPUs, s.Env["HF_TOKEN"] = "nvidia", []int{1}, "hf_secret"
				s.Container.Mounts = []string{"/data:/data:ro", "/scratch:/scratch"}
			},
			"enroot start --mount /data:/data:none:x-create=auto,bind,ro --mount " +
				"/scratch:/scratch:none:x-create=auto,bind " +
				"--env CUDA_DEVICE_ORDER --env CUDA_VISIBLE_DEVICES --env HF_TOKEN --env NO_COLOR " +
				"--env PYTHONUNBUFFERED --env SPT_NOENV --env BENCH_COOKIE -- /images/sglang.sqsh " +
				"python3 -m sglang.launch_server --model-path org/m --host 127.0.0.1 --port 8000",
			"CUDA_DEVICE_ORDER CUDA_VISIBLE_DEVICES HF_TOKEN NO_COLOR PYTHONUNBUFFERED SPT_NOENV",
		},
		{
			"charliecloud", "llamacpp", func(s *recipe.Spec) {
				s.Container.Engine, s.Container.Image, s.Container.Mounts = "charliecloud", "/images/llama",
					[]string{"/data:/mnt"}
			},
			"ch-run --bind /data:/mnt /images/llama -- llama-server -hf org/m --host 127.0.0.1 --port 8000",
			"NO_COLOR PYTHONUNBUFFERED SPT_NOENV USER",
		},
	} {
		kind, _ := engines.Lookup(c.kind)
		spec := recipe.Spec{
			Launcher: c.kind, Model: "org/m", Env: map[string]string{}, Port: 8000,
			Secrets: []string{"hf_secret"},
		}
		c.change(&spec)
		command, err := Plan(kind, spec)
		if err != nil {
			t.Errorf("%s: Plan() = %v", c.name, err)
			continue
		}
		if got := strings.Join(command.Argv, " "); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: Plan() = %q, want %q", c.name, got, c.want)
		}
		if got := strings.Join(slices.Sorted(maps.Keys(command.Env)), " "); got != c.env {
			t.Errorf("%s: variables %q, want %q", c.name, got, c.env)
		}
	}
}

func TestWrappedRefusals(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		engine string
		change func(*container.Options)
		says   string
	}{
		{"apptainer", func(o *container.Options) { o.Network = "bridge" }, "network"},
		{"singularity", func(o *container.Options) { o.ShmSize = "16g" }, "shm-size"},
		{"enroot", func(o *container.Options) { o.Devices = []string{"/dev/kfd"} }, "devices"},
		{"apptainer", func(o *container.Options) { o.GPUs = `"device=1"` }, "gpus"},
		{"pyxis", func(o *container.Options) { o.Network = "bridge" }, "network"},
		{"pyxis", func(o *container.Options) { o.Mounts = []string{"/a,b:/c"} }, "comma"},
		{"enroot", func(o *container.Options) { o.Command = []string{"vllm", "serve"} }, "entry point"},
	} {
		kind, _ := engines.Lookup("vllm")
		spec := recipe.Spec{
			Launcher: "vllm", Model: "org/m", Env: map[string]string{},
			Container: container.Options{Image: "/i.sif", Engine: c.engine},
		}
		c.change(&spec.Container)
		if _, err := Plan(kind, spec); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: Plan() = %v, want an error about %s", c.engine, err, c.says)
		}
	}
}

// cacheParent is a folder outside of /tmp, which ch-run shows as it is.
func cacheParent(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/var/tmp", "bench-cache-") //nolint:usetesting // see above
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// A server that charliecloud runs is a child like any other: it serves, is told
// apart by its cookie, and is stopped with proof.
func TestCharliecloud(t *testing.T) {
	if _, err := exec.LookPath("ch-run"); err != nil {
		t.Skip("ch-run is not installed")
	}
	t.Parallel()
	kind, _ := engines.Lookup("vllm")
	b := prepare(t, kind, fakeengine.Config{
		Lines:    []string{"hello from within"},
		Children: []fakeengine.Child{{Session: true}},
	})
	image, err := os.MkdirTemp("/var/tmp", "bench-image-") //nolint:usetesting // an image below /tmp hides files of /tmp from its program
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(image) })
	for _, folder := range []string{
		"bin", "dev", "etc", "proc", "sys", "tmp", "usr", "home", "root", "run", "lib",
		"lib64", "mnt",
	} {
		if err := os.Mkdir(filepath.Join(image, folder), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{"etc/passwd", "etc/group", "etc/hosts", "etc/resolv.conf"} {
		if err := os.WriteFile(filepath.Join(image, file), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}

	if err := os.Mkdir(filepath.Join(image, "ch"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(image, "ch", "metadata.json"), []byte(`{"arch": "amd64"}`), 0o644); err != nil {
		t.Fatal(err)
	}

	self := b.spec.Binary
	b.spec.Binary = nil
	b.spec.Container = container.Options{Image: image, Engine: "charliecloud", Command: self}
	folders := []string{"/bin", "/usr", "/lib", "/lib64"}
	if folder := filepath.Dir(self[0]); !strings.HasPrefix(folder, "/tmp/") { // ch-run shows /tmp itself
		folders = append(folders, folder)
	}
	for _, folder := range folders {
		b.spec.Container.Mounts = append(b.spec.Container.Mounts, folder+":"+folder)
	}
	b.spec.Container.Args = []string{"--write"}
	b.spec.Env["TMPDIR"] = "/tmp" // ch-run shows that folder as /tmp within
	b.spec.Container.Cache = filepath.Join(cacheParent(t), "cache")

	server := b.launch(t)
	for _, name := range []string{"huggingface", "vllm", "flashinfer", "triton/cache"} {
		if info, err := os.Stat(filepath.Join(b.spec.Container.Cache, name)); err != nil || !info.IsDir() {
			t.Errorf("cache folder %s: %v", name, err)
		}
	}
	hub, _ := proc.System.Variable(server.Info().PID, "HF_HOME")
	if want := filepath.Join(b.spec.Container.Cache, "huggingface"); !slices.Contains(hub, want) {
		t.Errorf("HF_HOME within = %q, want %s", hub, want)
	}
	if server.Info().Container != nil {
		t.Errorf("Info().Container = %+v, want none: it is a process", server.Info().Container)
	}
	if info := server.Info().Image; info == nil || info.Name != image || info.ID == "" {
		t.Errorf("Info().Image = %+v, want the folder and an id", info)
	}
	if tree, err := server.process.Tree(); err != nil || len(tree) < 2 {
		t.Errorf("Tree() = %v, %v, want the processes in the image", tree, err)
	}
	if proof, err := server.Stop(t.Context()); err != nil || !proof.Clean() || proof.StopS > time.Minute.Seconds() {
		t.Errorf("Stop() = %+v, %v, want a clean proof", proof, err)
	}
	if text, err := os.ReadFile(b.spec.LogPath); err != nil || !strings.Contains(string(text), "hello from within") {
		t.Errorf("server log = %q, %v, want the server's", text, err)
	}
}
