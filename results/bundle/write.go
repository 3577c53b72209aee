package bundle

import (
	"archive/zip"
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/results/store"
)

// writeBundle packs the run folder dir. The archive is a zip file whose members are
// in the order of their names, the index last; its bytes depend on the folder
// and the options only. Secrets are found in a first reading of all files, and
// taken out in a second.
func writeBundle(ctx context.Context, w io.Writer, dir string, o Options) (*Index, error) {
	run, err := store.Read(dir)
	if err != nil {
		return nil, fmt.Errorf("bundle %s: %w", dir, err)
	}

	// the folder itself may be a link, nothing in it is followed
	if run.Dir, err = filepath.EvalSymlinks(dir); err != nil {
		return nil, fmt.Errorf("bundle %s: %w", dir, err)
	}
	if o.MaxLog == 0 {
		o.MaxLog = usualLog
	}

	p := &packer{dir: run.Dir, options: o, scrub: newScrubber(o.Secrets), rehashed: map[string]string{}}
	p.index = Index{
		Format: FormatVersion, Bench: o.Bench, Scenario: run.Manifest.Scenario, Run: run.Manifest.Run,
		Finished: run.Finished, Anonymized: o.Anonymize,
		Members: []Member{}, LeftOut: []LeftOut{}, Redactions: []Redaction{},
	}

	p.zip = zip.NewWriter(w)
	if err := errors.Join(p.list(), p.learn(ctx), p.rehash()); err != nil {
		return nil, fmt.Errorf("bundle %s: %w", dir, err)
	}

	for _, name := range p.names {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := p.pack(name); err != nil {
			return nil, fmt.Errorf("bundle %s: %s: %w", dir, name, err)
		}
	}

	if err := p.finish(); err != nil {
		return nil, fmt.Errorf("bundle %s: %w", dir, err)
	}

	return &p.index, nil
}

// packer is one bundle in the making.
type packer struct {
	dir      string
	options  Options
	names    []string // of the files to pack, with slashes, sorted
	scrub    *scrubber
	rehashed map[string]string // hash of a file -> that of what becomes of it
	zip      *zip.Writer
	index    Index
}

// list finds what to pack. Links and devices are left out: they are not files
// of the run.
func (p *packer) list() error {
	return filepath.WalkDir(p.dir, func(full string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}

		rel, err := filepath.Rel(p.dir, full)
		if err != nil {
			return err
		}

		name := filepath.ToSlash(rel)
		why := unwanted(name)
		switch {
		case why != "":
			return nil
		case !entry.Type().IsRegular():
			why = "not a regular file"
		case nameError(name) != nil:
			why = nameError(name).Error()
		case isEndless(entry):
			why = fmt.Sprintf("it has more than %d GiB, which no file of a run has", maxFile>>30)
		case p.options.WithoutLogs && isLog(name):
			why = "without logs"
		case p.options.WithoutRecords && isRecords(name):
			why = "without records"
		default:
			p.names = append(p.names, name)
			return nil
		}

		p.index.LeftOut = append(p.index.LeftOut, LeftOut{name, why})
		return nil
	})
}

// maxFile is more than the largest file of a run has, in bytes: millions of requests.
const maxFile = 64 << 30

// isEndless reports whether a file claims to be larger than any of a run.
func isEndless(entry fs.DirEntry) bool {
	info, err := entry.Info()
	return err == nil && info.Size() > maxFile
}

// learn reads everything but records once for what names its secrets.
func (p *packer) learn(ctx context.Context) error {
	var hosts []string
	for _, name := range p.names {
		if err := ctx.Err(); err != nil {
			return err
		}
		if isRecords(name) || isPrompts(name) {
			continue
		}
		if err := p.learnFile(name); err != nil {
			p.leaveOut(name, err)
			continue
		}
		if base := path.Base(name); base == results.EnvironmentName || base == results.ResultName {
			text, err := store.ReadPlain(p.path(name))
			if err != nil {
				return err
			}
			hosts = append(hosts, hostsIn(text)...)
		}
	}

	if p.options.Anonymize {
		slices.Sort(hosts)
		p.scrub.rewrites = anonymous(slices.Compact(hosts))
	}

	p.names = slices.DeleteFunc(p.names, func(name string) bool {
		return slices.ContainsFunc(p.index.LeftOut, func(l LeftOut) bool { return l.Name == name })
	})
	return nil
}

// leaveOut notes that a file cannot be read: it is damaged, and the others are packed.
func (p *packer) leaveOut(name string, err error) {
	p.index.LeftOut = append(p.index.LeftOut, LeftOut{name, "it cannot be read: " + err.Error()})
}

func (p *packer) path(name string) string { return filepath.Join(p.dir, filepath.FromSlash(name)) }

func (p *packer) learnFile(name string) error {
	in, err := openText(p.path(name))
	if err != nil {
		return err
	}
	defer in.Close()

	p.scrub.learned = 0
	whole := strings.HasSuffix(name, ".json")
	var text bytes.Buffer
	err = eachLine(in, func(line []byte) error {
		p.scrub.learnLine(line)
		switch {
		case whole:
			text.Write(line)
		case strings.HasSuffix(name, ".jsonl"):
			p.scrub.learnJSON(line)
		}
		return p.scrub.tooMany()
	})

	if whole {
		p.scrub.learnJSON(text.Bytes())
	}

	return cmp.Or(err, p.scrub.tooMany())
}

// rehash finds what the manifest must say of files that are not packed as they
// are.
func (p *packer) rehash() error {
	for _, name := range []string{results.ScenarioName, results.PlanName} {
		if !slices.Contains(p.names, name) {
			continue
		}
		before, err := store.ReadPlain(p.path(name))
		if err != nil {
			return err
		}
		var after bytes.Buffer
		if _, err := p.rewrite(name, bytes.NewReader(before), &after); err != nil {
			return err
		}
		if !bytes.Equal(before, after.Bytes()) {
			p.rehashed[hexOf(before)] = hexOf(after.Bytes())
		}
	}

	return nil
}

func hexOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// rewrite copies plain text without what is to be taken out.
func (p *packer) rewrite(name string, in io.Reader, out io.Writer) (counts map[string]int, err error) {
	counts = map[string]int{}
	p.scrub.begin(name)
	err = eachLine(in, func(line []byte) error {
		line = p.scrub.line(line, counts)
		if name == results.ManifestName {
			for before, after := range p.rehashed {
				line = bytes.ReplaceAll(line, []byte(before), []byte(after))
			}
		}
		_, err := out.Write(line)
		return err
	})
	return counts, err
}

// finish writes the index.
func (p *packer) finish() error {
	slices.SortStableFunc(p.index.LeftOut, func(a, b LeftOut) int { return strings.Compare(a.Name, b.Name) })
	text, err := json.MarshalIndent(p.index, "", "  ")
	if err != nil {
		return err
	}
	w, err := p.member(IndexName)
	if err != nil {
		return err
	}
	if _, err := w.Write(append(text, '\n')); err != nil {
		return err
	}
	return p.zip.Close()
}

// member begins a member. All have one date: that of a file is not a fact of the
// run. What is compressed already is stored as it is.
func (p *packer) member(name string) (io.Writer, error) {
	header := &zip.FileHeader{Name: name, Method: zip.Deflate, Modified: time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)}
	if strings.HasSuffix(name, compressed) {
		header.Method = zip.Store
	}
	header.SetMode(0o644)
	return p.zip.CreateHeader(header)
}

// redacted notes what was taken out of a member.
func (p *packer) redacted(name string, counts map[string]int) {
	for _, what := range slices.Sorted(maps.Keys(counts)) {
		p.index.Redactions = append(p.index.Redactions, Redaction{name, what, counts[what]})
	}
}
