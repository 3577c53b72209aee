package gpu

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/benchrig/bench/gpu/device"
	"github.com/benchrig/bench/gpu/nvidia"
	"github.com/benchrig/bench/internal/fakegpu"
	"github.com/benchrig/bench/results"
)

func kindSaying(name string, openErr error, readings []device.Reading, readErr error) samplerKind {
	return samplerKind{name, device.NVIDIA, func(device.Options, []device.Device) (device.Sampler, error) {
		if openErr != nil {
			return nil, openErr
		}
		return fakeSampler{name, func(context.Context) ([]device.Reading, error) { return readings, readErr }}, nil
	}, "do this"}
}

func TestFirstThatWorks(t *testing.T) {
	good := []device.Reading{{GPUReading: results.GPUReading{
		Device: "a", VRAMUsedBytes: new(int64(1)),
		PowerW: new(50.0),
	}}}
	noMemory := []device.Reading{{GPUReading: results.GPUReading{Device: "a", PowerW: new(11.0)}}}
	nothing := []device.Reading{{GPUReading: results.GPUReading{Device: "a", EdgeC: new(50.0)}}}
	tests := []struct {
		name  string
		kinds []samplerKind
		want  string
		notes []string // parts, one for each note
	}{
		{
			"the first",
			[]samplerKind{kindSaying("nvml", nil, good, nil), kindSaying("nvidia-smi", nil, good, nil)},
			"nvml", nil,
		},
		{"the first is not installed", []samplerKind{
			kindSaying("nvml", nvidia.ErrNoNVML, nil, nil),
			kindSaying("nvidia-smi", nil, good, nil),
		}, "nvidia-smi", nil},
		{
			"the first fails",
			[]samplerKind{
				kindSaying("nvml", nil, nil, errors.New("nvml: the GPU is lost")),
				kindSaying("nvidia-smi", nil, good, nil),
			},
			"nvidia-smi",
			[]string{"the GPU is lost"},
		},
		{
			"the first knows nothing",
			[]samplerKind{kindSaying("nvml", nil, nothing, nil), kindSaying("nvidia-smi", nil, good, nil)},
			"nvidia-smi",
			[]string{"neither memory nor power"},
		},
		{
			"unified memory",
			[]samplerKind{kindSaying("nvml", nil, noMemory, nil)},
			"nvml",
			[]string{"does not report memory of a"},
		},
		{
			"none",
			[]samplerKind{kindSaying("nvml", nvidia.ErrNoNVML, nil, nil)},
			"",
			[]string{"no sampler reads the GPUs of nvidia: nvml: no"},
		},
	}
	for _, test := range tests {
		sampler, notes := firstThatWorks(t.Context(), device.Options{}, test.kinds, nil)
		name := ""
		if sampler != nil {
			name = sampler.Name()
		}
		if name != test.want || len(notes) != len(test.notes) {
			t.Errorf("%s: firstThatWorks = %q, %q, want %q and notes with %q", test.name, name, notes,
				test.want, test.notes)
			continue
		}
		for i, part := range test.notes {
			if !strings.Contains(notes[i], part) {
				t.Errorf("%s: note %q, want one with %q", test.name, notes[i], part)
			}
		}
	}
}

// A tool that hangs and ignores signals is given up.
func TestTrialOfHangingSampler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		kind := samplerKind{"nvml", device.NVIDIA, func(device.Options, []device.Device) (device.Sampler, error) {
			return fakeSampler{"nvml", func(context.Context) ([]device.Reading, error) { <-release; return nil, nil }},
				nil
		}, ""}
		began := time.Now()
		_, _, err := trial(t.Context(), device.Options{}, kind, nil)
		if err == nil || !strings.Contains(err.Error(), "no answer") || time.Since(began) > trialLimit+2*killGrace {
			t.Errorf("trial = %v after %v", err, time.Since(began))
		}
		close(release)
	})
}

func TestForcedSampler(t *testing.T) {
	machine := t.TempDir()
	tests := []struct {
		force string
		run   device.ToolRunner
		want  []string
	}{
		{"nvml", fakegpu.NoTool, []string{`use sampler nvml: nvml: `, "choose auto"}},
		{"nvidia-smi", fakegpu.NoTool, []string{
			"use sampler nvidia-smi: nvidia-smi: ", "executable file not found",
			"it needs nvidia-smi in PATH",
		}},
		{
			"nvidia-smi", fakegpu.SMISaying("NVIDIA-SMI has failed", errors.New("exit status 9")),
			[]string{"exit status 9: NVIDIA-SMI has failed", "choose auto"},
		},
		{"sysfs", fakegpu.NoTool, []string{"use sampler sysfs: ", "amdgpu driver"}},
		{"dcgm", fakegpu.NoTool, []string{
			`unknown sampler "dcgm"`,
			"want one of nvml, nvidia-smi, sysfs, ",
		}},
	}
	for _, test := range tests {
		samplers, _, err := foundSamplers(t.Context(), device.Options{Root: machine, RunTool: test.run}, test.force)
		if err == nil || samplers != nil {
			t.Errorf("Samplers(%q) = %v, %v, want an error", test.force, samplers, err)
			continue
		}
		for _, want := range test.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("Samplers(%q): error %q, want %q in it", test.force, err, want)
			}
		}
	}
}

func TestSamplersOfBoxes(t *testing.T) {
	none, notes, err := foundSamplers(t.Context(), device.Options{Root: t.TempDir(), RunTool: fakegpu.NoTool}, "auto")
	if err != nil || len(none) != 0 || len(notes) != 0 {
		t.Errorf("Samplers of a machine without GPUs = %v, %q, %v, want none", none, notes, err)
	}
	run := func(_ context.Context, argv []string) ([]byte, error) {
		argv = append(argv, "")
		switch {
		case strings.HasPrefix(argv[1], "--query-gpu=index,uuid,name"): // the inventory's
			return []byte("0, GPU-1, NVIDIA GB10, 0000000F:01:00.0, [N/A]\n"), nil
		case strings.HasPrefix(argv[1], "--query-gpu="):
			return []byte(capture(t, "nvidia-smi-gb10-580.173.02.csv")), nil
		}
		return nil, errors.New("exit status 2")
	}
	samplers, notes, err := foundSamplers(t.Context(), device.Options{Root: t.TempDir(), RunTool: run}, "")
	if err != nil || len(samplers) != 1 || samplers[0].Name() != "nvidia-smi" {
		t.Fatalf("Samplers = %v, %q, %v, want nvidia-smi", samplers, notes, err)
	}
	if len(notes) != 1 || !strings.Contains(notes[0], "does not report memory of GPU-1") {
		t.Errorf("notes = %q, want one on unified memory", notes)
	}
	if err := samplers[0].Close(); err != nil {
		t.Error(err)
	}
}

// foundSamplers opens the samplers of the GPUs that a machine is found to have.
func foundSamplers(ctx context.Context, options device.Options, force string) ([]device.Sampler, []string, error) {
	machine, err := Detect(ctx, options)
	if err != nil {
		return nil, nil, err
	}
	return Samplers(ctx, options, machine, force)
}
