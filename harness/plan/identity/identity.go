// Package identity says what a run is recognised by when it continues, and what is not
// as it was when it began.
//
// What goes in: a plan, the files that its commands name, and what a run folder has
// of both. What comes out: identities of files, and changes in words, or the error
// that it is another experiment. It never changes a plan.
package identity

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/benchrig/bench/harness/plan"
	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/internal/userfile"
	"github.com/benchrig/bench/results"
)

// endBytes is how much of the beginning and of the end of a file tells it from
// another version of it.
const endBytes = 1 << 20

// Files identifies what a plan's commands name of this machine: programs, models,
// prompts. Names that begin in no folder are looked for below dir, programs
// without a folder in path, a list as in PATH; own is left out: it has a version.
func Files(p *plan.Plan, dir, path, own string) []results.FileIdentity {
	found := map[string]results.FileIdentity{}
	add := func(name string) {
		if strings.Contains(name, "/") && !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		if _, known := found[name]; known || name == own || !filepath.IsAbs(name) {
			return
		}
		if id, err := identify(name); err == nil { // else it is not a file, and its argument alone identifies it
			found[name] = id
		}
	}

	for _, life := range p.Lives {
		for _, server := range life.Servers {
			for i, word := range server.Argv {
				if i == 0 {
					word = program(word, path)
				}
				add(word)
				if _, value, ok := strings.Cut(word, "="); ok {
					add(value)
				}
			}
		}
		for _, step := range life.Steps {
			add(step.Asked.DatasetPath)
			if s := step.Asked.Settings; s != nil {
				for _, class := range s.Classes {
					add(class.DatasetPath)
				}
			}
			add(step.Asked.Tokenizer)
		}
	}

	out := []results.FileIdentity{}
	for _, id := range found {
		out = append(out, id)
	}

	slices.SortStableFunc(out, func(a, b results.FileIdentity) int { return strings.Compare(a.Path, b.Path) })
	return out
}

// program finds the file of a program.
func program(name, path string) string {
	if strings.Contains(name, "/") {
		return name
	}
	for _, dir := range filepath.SplitList(path) {
		file := filepath.Join(dir, name)
		if info, err := os.Stat(file); err == nil && !info.IsDir() && info.Mode()&0o111 != 0 {
			return file
		}
	}
	return name
}

var errOther = errors.New("neither file nor folder")

// identify looks at a file, or at the files directly in a folder.
func identify(path string) (results.FileIdentity, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return results.FileIdentity{}, err
	case info.Mode().IsRegular():
		return identifyFile(path)
	case !info.IsDir():
		return results.FileIdentity{}, errOther
	}

	entries, err := os.ReadDir(path)
	if err != nil {
		return results.FileIdentity{}, err
	}

	all := results.FileIdentity{Path: path}
	hash := sha256.New()
	for _, entry := range entries {
		one, err := identifyFile(filepath.Join(path, entry.Name()))
		if err != nil {
			continue // a folder, or a link to nowhere
		}
		fmt.Fprintf(hash, "%s %d %s\n", entry.Name(), one.Bytes, one.Ends)
		all.Bytes += one.Bytes
		all.Modified = max(all.Modified, one.Modified)
	}

	all.Ends = hex.EncodeToString(hash.Sum(nil))
	return all, nil
}

func identifyFile(path string) (results.FileIdentity, error) {
	info, err := os.Stat(path)
	if err != nil {
		return results.FileIdentity{}, err
	}
	if !info.Mode().IsRegular() {
		return results.FileIdentity{}, errOther
	}

	f, err := userfile.Open(path)
	if err != nil {
		return results.FileIdentity{}, err
	}
	defer func() { _ = f.Close() }()

	hash := sha256.New()
	ends := []*io.SectionReader{
		io.NewSectionReader(f, 0, endBytes),
		io.NewSectionReader(f, max(endBytes, info.Size()-endBytes), endBytes),
	}
	for _, end := range ends {
		if _, err := io.Copy(hash, end); err != nil {
			return results.FileIdentity{}, err
		}
	}

	return results.FileIdentity{
		Path: path, Bytes: info.Size(), Modified: info.ModTime().UTC().Format(time.RFC3339),
		Ends: hex.EncodeToString(hash.Sum(nil)),
	}, nil
}

// Changes says in words what of a machine is not as it was; notes are
// about what does not matter.
func Changes(before, now results.Identity) (changes, notes []string) {
	changed := func(what, then, here string) {
		if then != here {
			changes = append(changes, fmt.Sprintf("%s: %q, at the start %q", what, here, then))
		}
	}

	changed("bench", before.Bench, now.Bench)
	changed("kernel", before.Kernel, now.Kernel)
	for _, vendor := range []string{"nvidia", "amd"} {
		changed(vendor+" driver", before.Drivers[vendor], now.Drivers[vendor])
	}

	changed("GPUs", strings.Join(before.GPUs, " "), strings.Join(now.GPUs, " "))
	for _, then := range before.Files {
		i := slices.IndexFunc(now.Files, func(f results.FileIdentity) bool { return f.Path == then.Path })
		if i < 0 {
			changes = append(changes, then.Path+": gone, or not used any more")
			continue
		}
		switch here := now.Files[i]; {
		case here.Bytes != then.Bytes:
			changes = append(changes, fmt.Sprintf("%s: %d bytes, at the start %d", then.Path, here.Bytes, then.Bytes))
		case here.Ends != then.Ends:
			changes = append(changes, fmt.Sprintf("%s: content changed, written %s, at the start %s", then.Path,
				here.Modified, then.Modified))
		case here.Modified != then.Modified:
			notes = append(notes, fmt.Sprintf("%s was rewritten; its length, beginning and end are the same",
				then.Path))
		}
	}

	return changes, notes
}

// PlanChanges compares the plan of a run, as its folder has it, with the one
// that the scenario gives now. An error says that the steps are others: such a
// run cannot continue. Changes are about how their servers are launched.
func PlanChanges(stored []byte, now *plan.Plan) (changes []string, err error) {
	var before, here plan.Plan
	if err := json.Unmarshal(stored, &before); err != nil {
		return nil, fmt.Errorf("read the run's plan: %w", err)
	}

	data, err := json.Marshal(now) // both have been JSON then
	if err != nil {
		return nil, fmt.Errorf("compare plans: %w", err)
	}
	if err := json.Unmarshal(data, &here); err != nil {
		return nil, fmt.Errorf("compare plans: %w", err)
	}
	if err := sameSteps(before, here); err != nil {
		return nil, err
	}

	for i, life := range before.Lives {
		for _, change := range serverChanges(life, here.Lives[i]) {
			changes = text.AppendNew(changes, change)
		}
	}

	if !same(before.Around, here.Around) {
		changes = append(changes, "hooks, checks or notifications differ")
	}

	return changes, nil
}

func sameSteps(before, now plan.Plan) error {
	if len(before.Lives) != len(now.Lives) {
		return fmt.Errorf("the plan has %d server starts, at the start of the run it had %d", len(now.Lives),
			len(before.Lives))
	}

	for i, life := range before.Lives {
		here := now.Lives[i]
		if life.ID != here.ID || len(life.Steps) != len(here.Steps) {
			return fmt.Errorf("server start %d of the plan is %s with %s, before %s with %d", i+1, here.ID,
				text.Count(len(here.Steps), "step"), life.ID, len(life.Steps))
		}
		for k, step := range life.Steps {
			if step.ID != here.Steps[k].ID {
				return fmt.Errorf("step %s of the plan is not the %s of the start", here.Steps[k].ID, step.ID)
			}
			if changes := differing(step.Asked, here.Steps[k].Asked); len(changes) > 0 {
				return fmt.Errorf("step %s of the plan is not the %s of the start: its load differs in %s",
					here.Steps[k].ID, step.ID, strings.Join(changes, ", "))
			}
		}
	}

	return nil
}

func serverChanges(before, now plan.Life) []string {
	var changes []string
	if len(before.Servers) != len(now.Servers) {
		return []string{fmt.Sprintf("variant %s: %s, at the start %d", now.Variant,
			text.Count(len(now.Servers), "server"), len(before.Servers))}
	}

	for i, then := range before.Servers {
		here := now.Servers[i]
		if !same(then.Argv, here.Argv) || !same(then.Env, here.Env) || !same(then.Unset, here.Unset) {
			changes = append(changes, fmt.Sprintf("command of variant %s: %s, at the start %s", now.Variant,
				plan.CommandLine(here), plan.CommandLine(then)))
		}
		if !same(then.GPUs, here.GPUs) {
			changes = append(changes, fmt.Sprintf("GPUs of variant %s: %v, at the start %v", now.Variant, here.GPUs,
				then.GPUs))
		}
	}

	return changes
}

// same compares two values as JSON.
func same(a, b any) bool {
	textA, errA := json.Marshal(a)
	textB, errB := json.Marshal(b)
	return errA == nil && errB == nil && bytes.Equal(textA, textB)
}

// differing lists the members in which two values differ as JSON objects, each
// with both values. Members that the first does not have, at any depth, were
// not known to the version of bench that wrote it, and do not count.
func differing(before, now any) []string {
	var then, here map[string]any
	if err := errors.Join(asJSON(before, &then), asJSON(now, &here)); err != nil {
		return []string{err.Error()}
	}

	var out []string
	for _, name := range slices.Sorted(maps.Keys(then)) {
		if !agrees(then[name], here[name]) {
			out = append(out, fmt.Sprintf("%s (%v, at the start %v)", name, here[name], then[name]))
		}
	}

	return out
}

// agrees reports whether a decoded JSON value has all that another has.
func agrees(before, now any) bool {
	then, isObject := before.(map[string]any)
	here, alike := now.(map[string]any)
	if !isObject || !alike {
		return reflect.DeepEqual(before, now)
	}

	for name, value := range then {
		if !agrees(value, here[name]) {
			return false
		}
	}

	return true
}

func asJSON(value any, into *map[string]any) error {
	data, err := json.Marshal(value)
	if err != nil {
		return err
	}

	return json.Unmarshal(data, into)
}
