package store

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/benchrig/bench/results"
)

// written are the files that bench writes in a run folder, each with a function
// that does it. A slash in front of nothing: names are relative to the folder.
var written = []struct {
	name  string
	write func(f *Folder) error
}{
	{results.LockName, func(f *Folder) error {
		lock, err := f.Lock()
		if err == nil {
			err = lock.Release()
		}
		return err
	}},
	{"." + results.LiveName + ".tmp", func(f *Folder) error { return f.WriteLive(&results.Live{}) }},
	{results.LiveName, func(f *Folder) error { return f.WriteLive(&results.Live{}) }},
	{results.JournalName, func(f *Folder) error {
		journal, err := f.OpenJournal()
		if err != nil {
			return err
		}
		return journal.Append(results.Event{Kind: results.RunStarted})
	}},
	{"bench.log", func(f *Folder) error {
		return writeTo(f.OpenOwn("bench.log", os.O_CREATE|os.O_APPEND|os.O_WRONLY))
	}},
	{".reserve", func(f *Folder) error {
		if err := f.RemoveOwn(".reserve"); err != nil {
			return err
		}
		return writeTo(f.OpenOwn(".reserve", os.O_CREATE|os.O_EXCL|os.O_WRONLY))
	}},
	{results.ReportName, func(f *Folder) error { return f.WriteFile(results.ReportName, []byte("new")) }},
	{results.SummaryName, func(f *Folder) error { return f.WriteFile(results.SummaryName, []byte("new")) }},
	{"report.html", func(f *Folder) error { return f.WriteFile("report.html", []byte("new")) }},
	{"lives/01-a/command.txt", func(f *Folder) error { return f.WriteFile("lives/01-a/command.txt", []byte("new")) }},
	{"lives/01-a/server-0.log", func(f *Folder) error {
		return CloseServerLog(filepath.Join(f.LifeDir("01-a"), "server-0.log"), 0,
			func(s string) string { return "new" + s })
	}},
	{"lives/01-a/server-0.log.zst", func(f *Folder) error {
		return f.WriteFile("lives/01-a/server-0.log.zst", []byte("new"))
	}},
	{"steps/b/result.json", func(f *Folder) error {
		return f.WriteResult(&results.Result{Step: results.StepRef{ID: "b"}})
	}},
	{"steps/b/requests.jsonl", writeRecords},
	{"steps/b/requests.jsonl.zst", writeRecords},
	{"steps/b/telemetry.jsonl", func(f *Folder) error {
		w, err := NewSampleWriter(f.StepDir("b"), "telemetry.jsonl", 0)
		if err != nil {
			return err
		}
		_ = w.Write(map[string]int{"new": 1})
		return w.Close()
	}},
	{"attempts/b/1", func(f *Folder) error {
		return f.WriteResult(&results.Result{Step: results.StepRef{ID: "b", Attempt: 1}})
	}},
	{"steps/b", func(f *Folder) error {
		return f.WriteResult(&results.Result{Step: results.StepRef{ID: "b", Attempt: 1}})
	}},
	{"lives/02-b", func(f *Folder) error { _, err := f.NewLife("02-b"); return err }},
	{"jobs/submitter", func(f *Folder) error { _, err := f.Submit(); return err }},
	{"jobs/g/1", func(f *Folder) error {
		part, err := f.NewPart("g")
		if err != nil {
			return err
		}
		return writeTo(part.OpenOwn("bench.log", os.O_CREATE|os.O_APPEND|os.O_WRONLY))
	}},
}

func writeTo(file *os.File, err error) error {
	if err != nil {
		return err
	}
	_, _ = file.WriteString("new")
	return file.Close()
}

func writeRecords(f *Folder) error {
	w, err := f.RecordWriter("b")
	if err != nil {
		return err
	}
	_ = w.Write(results.Record{})
	return w.Close()
}

// hostile are things that somebody may put in the place of a file, given a file
// and a folder of the user outside the run folder.
var hostile = []struct {
	name string
	put  func(place, file, dir string) error
}{
	{"link to a file", func(place, file, _ string) error { return os.Symlink(file, place) }},
	{"link to a file that is not there", func(place, _, dir string) error {
		return os.Symlink(filepath.Join(dir, "made"), place)
	}},
	{"link to a folder", func(place, _, dir string) error { return os.Symlink(dir, place) }},
	{"second name of a file", func(place, file, _ string) error { return os.Link(file, place) }},
	{"pipe", func(place, _, _ string) error { return unix.Mkfifo(place, 0o644) }},
	{"folder", func(place, _, _ string) error { return os.MkdirAll(filepath.Join(place, "x"), 0o755) }},
	{"its folder is a link", func(place, _, dir string) error {
		parent := filepath.Dir(place)
		if err := os.Remove(parent); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(place)), []byte("the user's"), 0o644); err != nil {
			return err
		}
		return os.Symlink(dir, parent)
	}},
}

// Whatever lies in a run folder, a write changes no file outside it, and hangs
// nowhere.
func TestWritesStayInTheFolder(t *testing.T) {
	t.Parallel()
	for _, w := range written {
		for _, h := range hostile {
			if h.name == "its folder is a link" && filepath.Dir(w.name) == "." {
				continue // the folder that the user named may be a link
			}
			t.Run(w.name+" "+h.name, func(t *testing.T) {
				t.Parallel()
				outside, place := t.TempDir(), t.TempDir()
				f := &Folder{dir: place}
				file := filepath.Join(outside, "precious")
				if err := os.WriteFile(file, []byte("the user's"), 0o644); err != nil {
					t.Fatal(err)
				}
				dir := filepath.Join(outside, "dir")
				path := filepath.Join(place, filepath.FromSlash(w.name))
				for _, d := range []string{dir, filepath.Dir(path)} {
					if err := os.MkdirAll(d, 0o755); err != nil {
						t.Fatal(err)
					}
				}
				if err := h.put(path, file, dir); err != nil {
					t.Fatal(err)
				}

				before := treeOf(t, outside)
				done := make(chan error, 1)
				go func() { done <- w.write(f) }()
				select {
				case err := <-done:
					t.Logf("write: %v", err)
				case <-time.After(time.Minute):
					t.Fatal("the write hangs")
				}
				if after := treeOf(t, outside); after != before {
					t.Errorf("outside the folder there is now\n%swant\n%s", after, before)
				}
			})
		}
	}
}

// treeOf lists the files below a folder with their content.
func treeOf(t *testing.T, dir string) string {
	t.Helper()
	text := ""
	err := filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		text += path + ": " + string(content) + "\n"
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return text
}
