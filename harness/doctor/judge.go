package doctor

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"github.com/benchrig/bench/internal/text"
)

// Status is how a finding bears on a night.
type Status string

// The statuses. A problem would cost figures or the night; a note is worth
// knowing.
const (
	OK      Status = "ok"
	Note    Status = "note"
	Problem Status = "problem"
)

// Finding is one line of the report.
type Finding struct {
	Area   string `json:"area"` // "engines", "GPUs", ...
	Status Status `json:"status"`
	Text   string `json:"text"`
	Advice string `json:"advice"` // what to do about it; "" where nothing is to be done
}

// Judge looks at a machine from all sides, in the order of the report.
func Judge(v View) []Finding {
	var all []Finding
	for _, look := range []func(View) []Finding{
		engines, containers, graphics, strangers, clients, files, memory,
		processor, clock, ports, order, calibration, clientCores, needs,
	} {
		all = append(all, look(v)...)
	}
	return all
}

// Ready reports whether there is no problem.
func Ready(findings []Finding) bool {
	return !slices.ContainsFunc(findings, func(f Finding) bool { return f.Status == Problem })
}

// Print writes findings below their areas, and whether the machine is ready.
func Print(out io.Writer, findings []Finding) {
	area := ""
	counts := map[Status]int{}
	for _, f := range findings {
		if f.Area != area {
			area = f.Area
			fmt.Fprintf(out, "%s\n", area)
		}
		counts[f.Status]++
		fmt.Fprintf(out, "  %-8s %s\n", f.Status, f.Text)
		if f.Advice != "" && f.Status != OK {
			fmt.Fprintf(out, "           -> %s\n", f.Advice)
		}
	}

	verdict := "not ready"
	if Ready(findings) {
		verdict = "ready"
	}

	fmt.Fprintf(out, "\n%s: %s, %s\n", verdict, text.Count(counts[Problem], "problem"),
		text.Count(counts[Note], "note"))
}

func finding(area string, status Status, advice, format string, args ...any) Finding {
	return Finding{Area: area, Status: status, Text: fmt.Sprintf(format, args...), Advice: advice}
}

func engines(v View) []Finding {
	var out []Finding
	for _, p := range v.Programs {
		if p.Kind == Engine && p.Path != "" {
			out = append(out, program("engines", p))
		}
	}
	if len(out) == 0 {
		return []Finding{finding("engines", Note, "install one, name it in a scenario's binary:, or use container:",
			"no inference engine on PATH")}
	}
	return out
}

func program(area string, p Program) Finding {
	if p.Trouble != "" {
		return finding(area, Note, "", "%s at %s: %s", p.Name, p.Path, p.Trouble)
	}
	if p.Version == "" {
		return finding(area, OK, "", "%s at %s", p.Name, p.Path)
	}
	return finding(area, OK, "", "%s %s at %s", p.Name, p.Version, p.Path)
}

func containers(v View) []Finding {
	var out []Finding
	for _, p := range v.Programs {
		switch {
		case p.Kind == ContainerEngine && p.Path != "" && p.Trouble != "":
			out = append(out, finding("containers", Note,
				"start its service, or join its group, before using container:",
				"%s at %s does not answer: %s", p.Name, p.Path, p.Trouble))
		case p.Kind == ContainerEngine && p.Path != "":
			out = append(out, program("containers", p))
		}
	}

	if len(out) == 0 {
		return []Finding{finding("containers", Note, "",
			"no docker and no podman: scenarios with container: cannot run here")}
	}

	return out
}

func graphics(v View) []Finding {
	var out []Finding
	counts := map[string]int{}
	var names []string
	for _, d := range v.GPUs.GPUs {
		name := cmp.Or(d.Name, d.Vendor+" GPU")
		if counts[name]++; counts[name] == 1 {
			names = append(names, name)
		}
	}

	for _, name := range names {
		out = append(out, finding("GPUs", OK, "", "%d x %s", counts[name], name))
	}

	for _, vendor := range []string{"nvidia", "amd"} {
		if version := v.GPUs.Drivers[vendor]; version != "" && len(v.GPUs.Of(vendor)) > 0 {
			out = append(out, finding("GPUs", OK, "", "%s driver %s", vendor, version))
		}
	}

	switch {
	case len(v.GPUs.GPUs) == 0:
		out = append(out, finding("GPUs", Note,
			"if the machine has GPUs: check the notes, nvidia-smi or rocm-smi, and the groups render and "+
				"video", "no GPU detected"))
	case len(v.Samplers) == 0:
		out = append(out, finding("GPUs", Problem,
			"install nvidia-smi, amd-smi or rocm-smi, or build bench with cgo for NVML",
			"no sampler reads their power "+
				"and memory: no telemetry and no proof that memory is free"))
	default:
		for _, s := range v.Samplers {
			out = append(out, finding("GPUs", OK, "", "read by %s", s))
		}
	}

	for _, note := range v.Notes {
		out = append(out, finding("GPUs", Note, "", "%s", note))
	}

	return out
}

// held is the memory from which a stranger on a GPU is a problem: a desktop
// or a monitor takes less.
const held = 512 << 20

func strangers(v View) []Finding {
	if len(v.GPUs.GPUs) == 0 {
		return nil
	}

	var out []Finding
	for _, h := range v.Holders {
		status, amount := Note, "an unknown amount"
		if h.Bytes != nil {
			amount = fmt.Sprintf("%d MiB", *h.Bytes>>20)
			if *h.Bytes >= held {
				status = Problem
			}
		}
		out = append(out, finding("GPU users", status,
			"stop it, or choose other GPUs with gpus:; bench never stops what it did not start",
			"pid %d %s holds %s%s", h.PID, h.Name, amount, on(h.Device)))
	}

	if v.Unseen != "" {
		out = append(out, finding("GPU users", Note, "", "the processes that hold GPU memory are unknown: %s",
			v.Unseen))
	}
	if len(out) == 0 {
		out = append(out, finding("GPU users", OK, "", "no process holds GPU memory"))
	}

	return out
}

func on(device string) string {
	if device == "" {
		return ""
	}
	return " of " + device
}
