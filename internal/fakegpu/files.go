package fakegpu

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/benchrig/bench/internal/executable"
)

// Tree writes files under a new folder and returns the folder. A value that
// begins with "->" is the target of a symbolic link.
func Tree(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()

	for name, content := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}

		var err error
		if target, link := strings.CutPrefix(content, "->"); link {
			err = os.Symlink(target, path)
		} else {
			err = os.WriteFile(path, []byte(content), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}

	return root
}

// Card is a graphics card in sysfs, for Tree: cardN links to its PCI device.
func Card(n int, pci string, attributes map[string]string) map[string]string {
	folder := "sys/devices/pci0000:00/" + pci
	files := map[string]string{
		fmt.Sprintf("sys/class/drm/card%d/device", n):      "->../../../devices/pci0000:00/" + pci,
		fmt.Sprintf("sys/class/drm/card%d-DP-1/status", n): "disconnected\n",
	}
	for name, value := range attributes {
		files[folder+"/"+name] = value + "\n"
	}

	return files
}

// Node is a node of the compute driver's topology, for Tree.
func Node(n int, properties, bank string) map[string]string {
	base := fmt.Sprintf("sys/class/kfd/kfd/topology/nodes/%d/", n)

	return map[string]string{base + "properties": properties, base + "mem_banks/0/properties": bank}
}

// Join merges files for Tree; of files with the same name, the last counts.
func Join(parts ...map[string]string) map[string]string {
	files := map[string]string{}
	for _, part := range parts {
		maps.Copy(files, part)
	}

	return files
}

// Tools puts shell scripts of these names into a folder at the front of PATH.
func Tools(t *testing.T, scripts map[string]string) {
	t.Helper()
	folder := t.TempDir()

	for name, script := range scripts {
		if err := executable.Write(filepath.Join(folder, name), "#!/bin/sh\n"+script+"\n"); err != nil {
			t.Fatal(err)
		}
	}

	t.Setenv("PATH", folder+":/bin:/usr/bin")
}

// NoTool is Options.RunTool of a machine without any vendor's program.
func NoTool(_ context.Context, argv []string) ([]byte, error) {
	return nil, &exec.Error{Name: argv[0], Err: exec.ErrNotFound}
}

// SMISaying is Options.RunTool of a machine whose nvidia-smi prints this text
// and ends with this error, whatever its arguments.
func SMISaying(text string, err error) func(context.Context, []string) ([]byte, error) {
	return func(_ context.Context, argv []string) ([]byte, error) {
		if argv[0] != "nvidia-smi" {
			return nil, fmt.Errorf("unexpected program %q", argv)
		}

		return []byte(text), err
	}
}

// Server is a machine with n MI300X for one test.
func Server(t testing.TB, n int) *Machine {
	t.Helper()
	machine, err := New(t.TempDir(), n)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = machine.Close() })

	return machine
}

// CloseAfter closes a sampler or watcher when the test ends.
func CloseAfter(t *testing.T, c interface{ Close() error }) {
	t.Helper()
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
}

// JSON is a value as a failure shows it.
func JSON(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}

	return string(text)
}
