package bundle

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func mustStat(t *testing.T, path string) time.Time {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.ModTime().Add(-time.Hour)
}

// entry is a member of a hostile archive.
type entry struct {
	name, text string
	mode       fs.FileMode
	raw        *zip.FileHeader // as it stands in the directory; nil: as the text asks for
}

// archive makes an archive whose index is right as far as it can be.
func archive(t testing.TB, entries []entry, change func(*Index)) []byte {
	t.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	index := Index{Format: 1}
	for _, e := range entries {
		header := &zip.FileHeader{Name: e.name, Method: zip.Deflate}
		if e.mode != 0 {
			header.SetMode(e.mode)
		}
		var err error
		if e.raw != nil {
			_, err = w.CreateRaw(e.raw)
		} else {
			var body interface{ Write([]byte) (int, error) }
			if body, err = w.CreateHeader(header); err == nil {
				_, err = body.Write([]byte(e.text))
			}
		}
		if err != nil {
			t.Fatal(err)
		}
		index.Members = append(index.Members, Member{e.name, int64(len(e.text)), hexOf([]byte(e.text))})
	}
	if change != nil {
		change(&index)
	}
	text, err := json.Marshal(index)
	if err != nil {
		t.Fatal(err)
	}
	body, err := w.Create(IndexName)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := body.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestReaderRefuses(t *testing.T) {
	good := []entry{{name: "manifest.json", text: "{}"}}
	bomb := &zip.FileHeader{Name: "a", Method: zip.Deflate, UncompressedSize64: 1 << 50, CompressedSize64: 10}
	overlap := &zip.FileHeader{Name: "a", Method: zip.Store, UncompressedSize64: 1 << 20, CompressedSize64: 1 << 20}
	tests := []struct {
		name string
		data []byte
		want string
	}{
		{"nothing", nil, "not a complete zip archive"},
		{"cut off", archive(t, good, nil)[:60], "not a complete zip archive"},
		{"a zip of something else", func() []byte {
			var out bytes.Buffer
			w := zip.NewWriter(&out)
			_, _ = w.Create("x")
			_ = w.Close()
			return out.Bytes()
		}(), "it is not a bundle"},
		{"path that climbs", archive(t, []entry{{name: "../x", text: "1"}}, nil), "not a name inside the folder"},
		{
			"path that climbs later", archive(t, []entry{{name: "a/../../x", text: "1"}}, nil),
			"not a name inside the folder",
		},
		{"absolute path", archive(t, []entry{{name: "/etc/x", text: "1"}}, nil), "not a name inside the folder"},
		{"drive", archive(t, []entry{{name: `C:\x`, text: "1"}}, nil), "characters that no file"},
		{"control character", archive(t, []entry{{name: "a\x1bb", text: "1"}}, nil), "characters that no file"},
		{"long name", archive(t, []entry{{name: strings.Repeat("a", 600), text: "1"}}, nil), "a name of 600 bytes"},
		{
			"link", archive(t, []entry{{name: "a", text: "/etc/passwd", mode: fs.ModeSymlink | 0o777}}, nil),
			"not a regular file",
		},
		{"folder", archive(t, []entry{{name: "a/"}}, nil), "not a name inside the folder"},
		{"twice", archive(t, []entry{{name: "a", text: "1"}, {name: "a", text: "2"}}, nil), "stands twice"},
		{
			"file and folder", archive(t, []entry{{name: "a", text: "1"}, {name: "a/b", text: "2"}}, nil),
			"is a file and a folder",
		},
		{"bomb", archive(t, []entry{{name: "a", raw: bomb}}, nil), "unpacked it would have"},
		{"overlap", archive(t, []entry{{name: "a", raw: overlap}}, nil), "overlap"},
		{
			"not in the index", archive(t, append(good, entry{name: "b"}), func(i *Index) {
				i.Members = i.Members[:1]
			}),
			`"b" is not in the index`,
		},
		{
			"not in the archive", archive(t, good, func(i *Index) { i.Members = append(i.Members, Member{Name: "b"}) }),
			"which the archive lacks",
		},
		{"listed twice", archive(t, good, func(i *Index) { i.Members = append(i.Members, i.Members[0]) }), "twice"},
		{
			"another length", archive(t, good, func(i *Index) { i.Members[0].Bytes = 3 }),
			"2 bytes in the archive, 3 by the index",
		},
		{"one step many times", archive(t, []entry{{
			name: "manifest.json",
			text: `{"x": [{"planned": 1}], "planned": [{"id": "s"}` + strings.Repeat(`, {"id": "s"}`, 3_000_000) +
				"]}",
		}}, nil), `plans step "s" twice`},
		{"newer", archive(t, good, func(i *Index) { i.Format = 2 }), "use a newer bench"},
		{"no version", archive(t, good, func(i *Index) { i.Format = 0 }), "no bundle_version"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := newReader(bytes.NewReader(test.data), int64(len(test.data)))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("NewReader = %v, want an error with %q", err, test.want)
			}
		})
	}
}

func TestCheckFindsChanges(t *testing.T) {
	data := archive(t, []entry{{name: "a", text: "one"}}, func(i *Index) { i.Members[0].SHA256 = hexOf([]byte("two")) })
	r, err := newReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Check(t.Context()); err == nil || !strings.Contains(err.Error(), "it was changed") {
		t.Errorf("Check = %v, want that a was changed", err)
	}
}

func TestExtractOverwritesNothing(t *testing.T) {
	data := archive(t, []entry{{name: "a", text: "one"}}, nil)
	r, err := newReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a"), []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := r.Extract(t.Context(), dir, func(string) bool { return true }); err == nil {
		t.Error("Extract overwrote a file")
	}
}

// Whatever is read: an error, or members that are in the folder and agree with
// the index.
func FuzzReader(f *testing.F) {
	f.Add(archive(f, []entry{{name: "manifest.json", text: "{}"}, {name: "steps/a/result.json", text: "{}"}}, nil))
	f.Add(archive(f, []entry{{name: "../x", text: "1"}}, nil))
	f.Add([]byte("PK\x05\x06"))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := newReader(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			return
		}
		dir := t.TempDir()
		inside := filepath.Join(dir, "in")
		if err := os.Mkdir(inside, 0o755); err != nil {
			t.Fatal(err)
		}
		whole := r.Check(t.Context()) == nil
		err = r.Extract(t.Context(), inside, func(string) bool { return true })
		if whole != (err == nil) {
			t.Errorf("Check says whole = %t, Extract %v", whole, err)
		}
		if entries, _ := os.ReadDir(dir); len(entries) != 1 {
			t.Errorf("Extract wrote outside: %v", entries)
		}
		for _, m := range r.Index.Members {
			if err != nil {
				break
			}
			text, err := os.ReadFile(filepath.Join(inside, m.Name))
			if err != nil || hexOf(text) != m.SHA256 {
				t.Errorf("%s: %v", m.Name, err)
			}
		}
	})
}
