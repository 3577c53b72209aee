package launchers

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/benchrig/bench/launchers/container"
	"github.com/benchrig/bench/launchers/engines"
	"github.com/benchrig/bench/launchers/recipe"
)

func TestContainerRecipes(t *testing.T) {
	t.Parallel()
	tp2 := []recipe.Arg{{Name: "tensor-parallel-size", Value: json.Number("2")}}
	model := filepath.Join(t.TempDir(), "m.gguf")
	parts := filepath.Join(t.TempDir(), "m-00001-of-00002.gguf")
	for _, path := range []string{model, parts} {
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name   string
		kind   string
		change func(*recipe.Spec)
		want   []string // parts of the command line, in their order
		not    string
	}{
		{
			"vllm on NVIDIA", "vllm", func(s *recipe.Spec) {
				s.Vendor, s.GPUs, s.Args, s.Secrets = "nvidia", []int{2, 3}, tp2, []string{"hf_abcdef"}
				s.Env["HF_TOKEN"] = "hf_abcdef"
			},
			[]string{
				"docker run -d --name bench-run1-01-a-1 --label benchrig.run=run1 --label benchrig.cookie=run1.X " +
					"--init --stop-timeout 30",
				"--log-driver json-file --log-opt max-size=256m --log-opt max-file=3 --network host --ipc host",
				`--gpus "device=2,3" -e CUDA_DEVICE_ORDER=PCI_BUS_ID -e CUDA_VISIBLE_DEVICES=0,1 -e HF_TOKEN -e `,
				"image:1 --model org/m --host 127.0.0.1 --port 8000 --tensor-parallel-size 2",
			},
			"hf_abcdef",
		},
		{
			"vllm on AMD with a program", "vllm", func(s *recipe.Spec) {
				s.Vendor, s.GPUs, s.Args, s.Container.Command = "amd", []int{4, 5}, tp2, []string{"vllm", "serve"}
			},
			[]string{
				"--device /dev/kfd --device /dev/dri --group-add video",
				"--cap-add SYS_PTRACE --security-opt seccomp=unconfined", "--entrypoint vllm",
				"-e HIP_VISIBLE_DEVICES=4,5", "image:1 serve org/m --host",
			},
			"--gpus",
		},
		{
			"GPUs of a Slurm job", "vllm", func(s *recipe.Spec) {
				s.Vendor, s.GPUs, s.Args, s.Devices = "nvidia", []int{0, 1}, tp2, []string{"GPU-aa", "GPU-bb"}
			},
			[]string{`--gpus "device=GPU-aa,GPU-bb"`, "CUDA_VISIBLE_DEVICES=0,1"},
			"",
		},
		{
			"caches", "vllm", func(s *recipe.Spec) {
				s.Container.Cache, s.Container.Mounts = "/home/u/.cache", []string{"/hub:/root/.cache/huggingface"}
			},
			[]string{
				"-v /hub:/root/.cache/huggingface -v /home/u/.cache/vllm:/root/.cache/vllm",
				"-v /home/u/.cache/triton:/root/.triton",
			},
			"/home/u/.cache/huggingface",
		},
		{
			"podman", "vllm", func(s *recipe.Spec) {
				s.Container.Engine, s.Vendor, s.GPUs, s.Args = "podman", "nvidia", []int{1, 2}, tp2
			},
			[]string{
				"podman run -d", "--log-driver k8s-file --log-opt max-size=256m --network",
				"--device nvidia.com/gpu=1 --device nvidia.com/gpu=2",
			},
			"max-file",
		},
		{
			"all GPUs", "vllm", func(s *recipe.Spec) {
				s.Vendor, s.GPUs, s.Args, s.Container.GPUs = "nvidia", []int{2, 3}, tp2, "all"
			},
			[]string{"--gpus all", "CUDA_VISIBLE_DEVICES=2,3"},
			"device=",
		},
		{
			"no GPUs", "vllm", func(s *recipe.Spec) { s.Vendor, s.Container.GPUs = "nvidia", "none" },
			[]string{"image:1"},
			"--gpus",
		},
		{
			"unplaced", "llamacpp", func(s *recipe.Spec) { s.Vendor = "nvidia" },
			[]string{"--gpus all", "image:1 -hf org/m --host"},
			"",
		},
		{
			"CPU", "llamacpp", func(*recipe.Spec) {},
			[]string{"image:1 -hf org/m --host 127.0.0.1 --port 8000 --alias"},
			"--gpus",
		},
		{"local model", "llamacpp", func(s *recipe.Spec) { s.Model = model }, []string{"-v " + model + ":" + model +
			":ro", "image:1 -m " + model}, ""},
		{"model in parts", "llamacpp", func(s *recipe.Spec) { s.Model = parts }, []string{"-v " + filepath.Dir(parts) +
			":" + filepath.Dir(parts) + ":ro"}, ""},
		{
			"model within a mount", "llamacpp", func(s *recipe.Spec) {
				s.Model, s.Container.Mounts = "/models/m.gguf", []string{"/data:/models:ro"}
			},
			[]string{"-v /data:/models:ro", "-m /models/m.gguf"},
			"/models/m.gguf:",
		},
		{
			"sglang", "sglang", func(*recipe.Spec) {},
			[]string{"image:1 python3 -m sglang.launch_server --model-path org/m"},
			"--entrypoint",
		},
		{"tgi", "tgi", func(*recipe.Spec) {}, []string{"image:1 --model-id org/m --hostname"}, ""},
		{"ollama", "ollama", func(*recipe.Spec) {}, []string{"-e OLLAMA_HOST=127.0.0.1:8000", "image:1 serve"}, ""},
		{"command", "command", func(s *recipe.Spec) {
			s.Command = []string{"run.sh", "${port}", "${gpus}"}
			s.GPUs = []int{7}
		}, []string{`--gpus "device=7"`, "image:1 run.sh 8000 0"}, ""},
		{
			"bridge", "vllm", func(s *recipe.Spec) {
				s.Container.Network, s.Container.IPC, s.Container.ShmSize, s.Container.MaxLog = "bridge",
					"private", "16g", "1g"
			},
			[]string{
				"max-size=1g", "--network bridge -p 127.0.0.1:8000:8000 --ipc private --shm-size 16g",
				"--host 0.0.0.0 --port 8000",
			},
			"",
		},
		{
			"user's arguments", "vllm", func(s *recipe.Spec) { s.Container.Args = []string{"--cap-add", "SYS_PTRACE"} },
			[]string{"--cap-add SYS_PTRACE image:1 --model"},
			"",
		},
	} {
		kind, _ := engines.Lookup(c.kind)
		spec := recipe.Spec{
			Launcher: c.kind, Model: "org/m", Env: map[string]string{}, Port: 8000, Life: "01-a", Replica: 1,
			Cookie: "run1.X", StopGrace: 30 * time.Second,
			Container: container.Options{Image: "image:1"},
		}
		c.change(&spec)
		command, err := Plan(kind, spec)
		if err != nil {
			t.Errorf("%s: Plan() = %v", c.name, err)
			continue
		}
		text := strings.Join(command.Argv, " ")
		rest := text
		for _, part := range c.want {
			_, after, found := strings.Cut(rest, part)
			if !found {
				t.Errorf("%s: Plan() = %q, want %q in it, in order", c.name, text, part)
			}
			rest = after
		}
		if c.not != "" && strings.Contains(text, c.not) {
			t.Errorf("%s: Plan() = %q, want no %q in it", c.name, text, c.not)
		}
	}
}

func TestContainerRefusals(t *testing.T) {
	t.Parallel()
	links := t.TempDir()
	if err := os.Symlink("/etc/hostname", filepath.Join(links, "model.safetensors")); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "m.gguf"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		kind   string
		change func(*recipe.Spec)
		says   string
	}{
		{"simulator", "simulator", func(s *recipe.Spec) { s.Binary = []string{"bench"} }, "without one"},
		{"external", "external", func(s *recipe.Spec) { s.BaseURL = "http://127.0.0.1:1" }, "not started by bench"},
		{
			"name by hand", "vllm", func(s *recipe.Spec) { s.Container.Args = []string{"--name=x"} },
			"--name is set by bench",
		},
		{"model elsewhere", "vllm", func(s *recipe.Spec) { s.Model = "/no/such/model" }, "key mounts"},
		{"relative model", "llamacpp", func(s *recipe.Spec) { s.Model, s.Dir = "./m.gguf", dir }, "absolute"},
		{"links", "vllm", func(s *recipe.Spec) { s.Model = links }, "lead out of it"},
		{
			"mount without target", "vllm", func(s *recipe.Spec) { s.Container.Mounts = []string{"/data"} },
			"SOURCE:TARGET",
		},
	} {
		kind, _ := engines.Lookup(c.kind)
		spec := recipe.Spec{
			Launcher: c.kind, Model: "org/m", Env: map[string]string{},
			Container: container.Options{Image: "image:1"},
		}
		c.change(&spec)
		_, err := Plan(kind, spec)
		if err == nil {
			job, _ := contained(kind, spec)
			err = job.CheckModel()
		}
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: error = %v, want one that says %q", c.name, err, c.says)
		}
	}
}
