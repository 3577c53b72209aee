package mlflow

import (
	"cmp"
	"fmt"
	"math"
	"path"
	"strconv"
	"strings"
)

// Names of files that each run has.
const (
	metaName    = "meta.yaml"
	versionName = ".bench-version" // Run.Version; MLflow does not read it
)

// Limits of MLflow, in characters.
const (
	maxKey        = 250
	maxParam      = 6000
	maxTag        = 5000
	maxExperiment = 500
)

// Status is the state of a run, by MLflow's numbers.
type Status int

// The states that a run can be written in.
const (
	Finished Status = 3
	Failed   Status = 4
)

// local is MLflow's number of a run that was carried out on the user's own machine.
const local = 4

// Run is one run of an experiment.
type Run struct {
	Of      string // what it is of; runs of the same are one run
	Version string // of what it is of; a run of another version replaces it
	Name    string
	Status  Status
	StartMS int64  // since 1970
	EndMS   *int64 // null: not known
	Metrics []Metric
	Params  []Pair
	Tags    []Pair
}

// Metric is a value of a run. A value that is not finite is left out.
type Metric struct {
	Name  string
	Value float64
}

// Pair is a parameter or a tag. One without a value is left out.
type Pair struct{ Name, Value string }

// file is a file in the folder of a run.
type file struct{ name, content string }

// files are those of metrics, parameters and tags.
func (r Run) files() []file {
	var out []file
	at := r.StartMS
	if r.EndMS != nil {
		at = *r.EndMS
	}

	name := names{}
	for _, m := range r.Metrics {
		if !math.IsNaN(m.Value) && !math.IsInf(m.Value, 0) {
			out = append(out, file{
				path.Join("metrics", name.of(m.Name)),
				fmt.Sprintf("%d %s 0\n", at, strconv.FormatFloat(m.Value, 'g', -1, 64)),
			})
		}
	}

	out = append(out, pairFiles("params", r.Params, maxParam)...)
	tags := append([]Pair{
		{"mlflow.runName", r.Name},
		{"mlflow.source.name", "bench"},
		{"mlflow.source.type", "LOCAL"},
	}, r.Tags...)
	return append(out, pairFiles("tags", tags, maxTag)...)
}

func pairFiles(folder string, pairs []Pair, limit int) []file {
	var out []file
	name := names{}
	for _, p := range pairs {
		if p.Value != "" {
			out = append(out, file{path.Join(folder, name.of(p.Name)), cut(p.Value, limit)})
		}
	}
	return out
}

// names maps names to those that MLflow takes, each to another one.
type names map[string]bool

// of is the name with _ in place of what MLflow refuses, and of slashes, which would
// be folders. A number follows where another name became the same.
func (n names) of(name string) string {
	base := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', strings.ContainsRune("_.- ", r):
			return r
		}
		return '_'
	}, cut(name, maxKey))
	if base == "" || base[0] == '.' {
		base = cut("_"+base, maxKey)
	}

	free := base
	for i := 2; n[free]; i++ {
		end := "_" + strconv.Itoa(i)
		free = cut(base, maxKey-len(end)) + end
	}
	n[free] = true
	return free
}

// cut is a text of at most so many characters.
func cut(text string, limit int) string {
	runes := []rune(text)
	return string(runes[:min(len(runes), limit)])
}

// meta is the content of a run's meta.yaml.
func (r Run) meta(experiment, artifacts string) string {
	end := "null"
	if r.EndMS != nil {
		end = strconv.FormatInt(*r.EndMS, 10)
	}
	id := runID(r.Of)

	return yamlText([]Pair{
		{"artifact_uri", quote(artifacts)},
		{"deleted_time", "null"},
		{"end_time", end},
		{"entry_point_name", quote("")},
		{"experiment_id", quote(experiment)},
		{"lifecycle_stage", "active"},
		{"run_id", quote(id)},
		{"run_name", quote(r.Name)},
		{"run_uuid", quote(id)},
		{"source_name", quote("")},
		{"source_type", strconv.Itoa(local)},
		{"source_version", quote("")},
		{"start_time", strconv.FormatInt(r.StartMS, 10)},
		{"status", strconv.Itoa(int(cmp.Or(r.Status, Finished)))},
		{"tags", "[]"},
		{"user_id", quote("")},
	})
}

// experimentMeta is the content of an experiment's meta.yaml.
func experimentMeta(id, name, location string, atMS int64) string {
	at := strconv.FormatInt(atMS, 10)
	return yamlText([]Pair{
		{"artifact_location", quote(location)},
		{"creation_time", at},
		{"experiment_id", quote(id)},
		{"last_update_time", at},
		{"lifecycle_stage", "active"},
		{"name", quote(name)},
	})
}

// yamlText is a mapping of YAML, whose values are written already.
func yamlText(fields []Pair) string {
	var b strings.Builder
	for _, f := range fields {
		fmt.Fprintf(&b, "%s: %s\n", f.Name, f.Value)
	}
	return b.String()
}

// quote is a text in double quotes with the escapes that Go and YAML share.
func quote(text string) string { return strconv.QuoteToASCII(text) }
