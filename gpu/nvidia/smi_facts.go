package nvidia

import (
	"context"
	"regexp"
	"strings"

	"github.com/benchrig/bench/gpu/device"
)

// SMIFactFields are what a GPU runs and is set to.
func SMIFactFields() []string {
	return []string{
		"index", "vbios_version", "compute_cap", "enforced.power.limit", "power.default_limit", "power.min_limit",
		"power.max_limit", "ecc.mode.current", "compute_mode", "mig.mode.current", "persistence_mode",
	}
}

// AddSMIFacts completes devices by what nvidia-smi says, and returns the version
// of CUDA that the driver serves. What it does not say stays null.
func AddSMIFacts(ctx context.Context, run device.ToolRunner, devices []device.Device) *string {
	if run == nil {
		run = device.RunTool
	}

	table, _, err := smiAsk(ctx, run, smiFields(ctx, run, SMIFactFields()))
	if err != nil {
		return nil
	}

	partitioned := false
	for place, row := range table.rows {
		index := place
		if n := row.number("index"); n != nil {
			index = int(*n)
		}
		for i := range devices {
			if devices[i].Index == index {
				devices[i].Facts = smiRowFacts(row)
				partitioned = partitioned || devices[i].Facts.MIG != nil && *devices[i].Facts.MIG
			}
		}
	}

	if partitioned {
		if out, err := run(ctx, []string{"nvidia-smi", "-L"}); err == nil {
			addParts(devices, parseSMIList(out))
		}
	}

	out, err := run(ctx, []string{"nvidia-smi"})
	if err != nil {
		return nil
	}

	return smiCUDA(out)
}

func smiRowFacts(row smiRow) *device.Facts {
	f := &device.Facts{
		PowerLimitW: row.number("enforced.power.limit"), PowerDefaultW: row.number("power.default_limit"),
		PowerMinW: row.number("power.min_limit"), PowerMaxW: row.number("power.max_limit"),
		ECC: row.switched("ecc.mode.current"), MIG: row.switched("mig.mode.current"),
		Persistence: row.switched("persistence_mode"),
	}

	if version := row.text("vbios_version"); version != "" {
		f.VBIOS = &version
	}
	if major, minor, ok := strings.Cut(row.text("compute_cap"), "."); ok {
		f.Architecture = new("sm_" + major + minor)
	}
	if mode := row.text("compute_mode"); mode != "" {
		f.ComputeMode = new(strings.ToLower(strings.ReplaceAll(mode, "_", "-"))) // "Exclusive_Process"
	}

	return f
}

var smiCUDAVersion = regexp.MustCompile(`CUDA Version:\s*([0-9]+(?:\.[0-9]+)+)`)

// smiCUDA finds the version in the head of nvidia-smi's table.
func smiCUDA(out []byte) *string {
	found := smiCUDAVersion.FindSubmatch(out)
	if found == nil {
		return nil
	}
	return new(string(found[1]))
}

// smiListed is one line of nvidia-smi -L: a GPU, or a MIG device of the GPU
// before it.
type smiListed struct {
	gpu  int
	part *device.Part // nil: the GPU itself
	uuid string
}

var (
	smiListGPU  = regexp.MustCompile(`^GPU (\d+): .*\(UUID: (GPU-[^)\s]+)\)$`)
	smiListPart = regexp.MustCompile(`^MIG (\S+)\s+Device\s+(\d+): \(UUID: (MIG-[^)\s]+)\)$`)
)

// parseSMIList reads nvidia-smi -L. Lines of another form are left out.
func parseSMIList(out []byte) []smiListed {
	var listed []smiListed
	gpu := -1
	for line := range strings.Lines(string(out)) {
		line = strings.TrimSpace(line)
		if found := smiListGPU.FindStringSubmatch(line); found != nil {
			gpu = atoi(found[1])
			listed = append(listed, smiListed{gpu: gpu, uuid: found[2]})
			continue
		}
		if found := smiListPart.FindStringSubmatch(line); found != nil && gpu >= 0 {
			listed = append(listed, smiListed{
				gpu: gpu, uuid: found[3],
				part: &device.Part{Index: atoi(found[2]), Name: found[1], UUID: found[3]},
			})
		}
	}

	return listed
}

func addParts(devices []device.Device, listed []smiListed) {
	for i := range devices {
		for _, l := range listed {
			if l.part != nil && l.gpu == devices[i].Index {
				devices[i].Parts = append(devices[i].Parts, *l.part)
			}
		}
	}
}

// migProfile is the profile in the name of a MIG device: "3g.40gb" of
// "NVIDIA H100 80GB HBM3 MIG 3g.40gb".
func migProfile(name string) string {
	if at := strings.LastIndex(name, "MIG "); at >= 0 {
		return name[at+len("MIG "):]
	}
	return name
}
