package importer

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/benchrig/bench/internal/importer/plain"
	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/results"
)

// Run is the content of a results folder: the results of one method.
type Run struct {
	Manifest    results.Manifest
	Steps       []Step
	Environment json.RawMessage // of the machine; nil: nothing is known
}

// Naming is how runs are named.
type Naming struct {
	Name  string // scenario; further runs of an import add their method
	Bench string // version of bench
	At    string // moment of the import, RFC 3339
}

// Runs splits what was read by method: figures of different methods are never in one
// run. Without a result there is one run without steps. The id of a run follows from
// the files and options.
func (i *Imported) Runs(n Naming, o Options) []Run {
	var methods []string
	for _, s := range i.Steps {
		methods = text.AppendNew(methods, s.Result.Method())
	}

	if methods == nil {
		methods = []string{results.MethodServing}
	}

	var all []Run
	for k, method := range methods {
		run := Run{Manifest: i.manifest(n, o, method), Environment: environment(o.Sets)}
		if k > 0 {
			run.Manifest.Scenario += "-" + method
		}
		for _, s := range i.Steps {
			if s.Result.Method() == method {
				run.add(s)
			}
		}
		run.Manifest.Tables = tablesFor(run)
		all = append(all, run)
	}

	return all
}

func (i *Imported) manifest(n Naming, o Options, method string) results.Manifest {
	m := results.Manifest{
		Format: results.FormatVersion, Bench: n.Bench, Scenario: n.Name, StartedAt: n.At, Method: method,
		Sizes: map[string]string{}, Notes: map[string]string{}, Imported: &results.Imported{Files: i.Files},
		Variants: []string{}, Points: []string{}, Planned: []results.StepRef{},
	}

	hash := sha256.New()
	var names []string
	for _, f := range i.Files {
		fmt.Fprintln(hash, f.Name, f.SHA256)
		names = append(names, f.Name)
	}

	fmt.Fprintln(hash, o.Format, o.Variant, o.VariantPattern, o.Sets)
	if len(o.Renames) > 0 {
		fmt.Fprintln(hash, o.Renames)
	}
	const digits, stem = 8, 24
	name := slug(strings.TrimSuffix(i.Files[0].Name, path.Ext(i.Files[0].Name)))
	m.Run = strings.Trim(name[:min(len(name), stem)], "-.") + "-" + hex.EncodeToString(hash.Sum(nil))[:digits]
	m.Description = "imported from " + strings.Join(names, ", ")
	for _, s := range o.Sets {
		m.Sets = append(m.Sets, s.Key+"="+s.Value)
	}

	return m
}

// add takes a step into the run.
func (r *Run) add(s Step) {
	m, result := &r.Manifest, s.Result
	result.Format, result.Bench, result.Scenario, result.Run = m.Format, m.Bench, m.Scenario, m.Run
	ref := result.Step
	m.Planned = append(m.Planned, ref)
	m.Variants = text.AppendNew(m.Variants, ref.Variant)
	m.Points = text.AppendNew(m.Points, ref.Point)

	m.Simulated = m.Simulated || result.Simulated
	for name, value := range result.Params {
		if strings.EqualFold(name, "size") {
			m.Sizes[ref.Variant] = value
		}
	}

	for _, note := range s.Notes {
		if before := m.Notes[ref.Variant]; !strings.Contains(before, note) {
			m.Notes[ref.Variant] = strings.TrimPrefix(before+"; "+plain.Shown(note), "; ")
		}
	}

	r.Steps = append(r.Steps, s)
}

// tablesFor returns the tables beside the usual one that show what was imported: its
// repeats, drafts, sizes and engines.
func tablesFor(r Run) []string {
	var repeats, drafts bool
	var launchers []string
	for _, s := range r.Steps {
		server := s.Result.Servers
		repeats = repeats || s.Result.Step.Repeat > 1
		drafts = drafts || len(server) > 0 && server[0].Speculation != nil
		if len(server) > 0 && server[0].Launcher != "" && !slices.Contains(launchers, server[0].Launcher) {
			launchers = append(launchers, server[0].Launcher)
		}
	}

	var tables []string
	for _, t := range []struct {
		name string
		is   bool
	}{
		{"repeats", repeats && r.Manifest.Method == results.MethodServing},
		{"speculation", drafts},
		{"sizes", len(r.Manifest.Sizes) > 0},
		{"backends", len(launchers) > 1},
	} {
		if t.is {
			tables = append(tables, t.name)
		}
	}

	return tables
}

var counted = regexp.MustCompile(`^(\d{1,3})\s*x\s*(.+)$`)

// environment returns the machine as far as settings describe it: gpus as "8 x NAME",
// driver, host; nil: not at all.
func environment(sets []Setting) json.RawMessage {
	type gpu struct {
		Index int    `json:"index"`
		Name  string `json:"name"`
	}

	var env struct {
		GPU struct {
			GPUs    []gpu             `json:"gpus,omitempty"`
			Drivers map[string]string `json:"drivers,omitempty"`
		} `json:"gpu"`
		Host struct {
			Name string `json:"hostname,omitempty"`
		} `json:"host"`
	}

	known := false
	for _, s := range sets {
		switch s.Key {
		case "gpus":
			n, name := 1, s.Value
			if m := counted.FindStringSubmatch(s.Value); m != nil {
				n, _ = strconv.Atoi(m[1]) // three digits at most
				name = m[2]
			}
			for k := range n {
				env.GPU.GPUs = append(env.GPU.GPUs, gpu{k, name})
			}
		case "driver":
			env.GPU.Drivers = map[string]string{"gpu": s.Value}
		case "host":
			env.Host.Name = s.Value
		default:
			continue
		}
		known = true
	}

	if !known {
		return nil
	}

	data, err := json.Marshal(env)
	if err != nil {
		return nil
	}

	return data
}
