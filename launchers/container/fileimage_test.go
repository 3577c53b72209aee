package container

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// The id of an image file changes with the image, and not with the file's name,
// place or times.
func TestFileImage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	id := func(image string) string {
		if info := (Options{Image: image}).FileImage(); info != nil && info.Name == image {
			return info.ID
		}
		return ""
	}

	first := write("a.sif", "SIF_MAGIC 1 content")
	same := write("elsewhere/b.sif", "SIF_MAGIC 1 content")
	if err := os.Chtimes(same, time.Now(), time.Unix(1e9, 0)); err != nil {
		t.Fatal(err)
	}
	if id(first) == "" || id(first) != id(same) {
		t.Errorf("ids of one image at two places: %q, %q", id(first), id(same))
	}
	for _, other := range []string{
		write("c.sif", "SIF_MAGIC 2 content"),
		write("d.sif", "SIF_MAGIC 1 content and more"),
	} {
		if id(other) == id(first) || id(other) == "" {
			t.Errorf("id of %s = %q, that of another image", other, id(other))
		}
	}

	write("image/ch/metadata.json", `{"arch": "amd64"}`)
	write("moved/ch/metadata.json", `{"arch": "arm64"}`)
	folder, moved := id(filepath.Join(dir, "image")), id(filepath.Join(dir, "moved"))
	if folder == "" || folder == moved {
		t.Errorf("ids of two folders: %q, %q", folder, moved)
	}

	fifo := filepath.Join(dir, "fifo.sif") // which nobody writes
	if err := unix.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, unknown := range []string{"docker://org/image:1", filepath.Join(dir, "no.sif"), dir, fifo} {
		if got := (Options{Image: unknown}).FileImage(); got != nil {
			t.Errorf("FileImage() of %s = %+v, want nothing", unknown, got)
		}
	}
}
