package hooks

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/benchrig/bench/scenarios"
)

// path is where a file of the machine is.
func (r *Runner) path(name string) string {
	if r.Root == "" {
		return name
	}
	return filepath.Join(r.Root, name)
}

// maxChecked bounds what is read of a file that a check looks at.
const maxChecked = 64 << 10

func (r *Runner) read(name string) (string, error) {
	f, err := os.Open(r.path(name))
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%s is not there", name)
	}
	if err != nil {
		return "", fmt.Errorf("read %s: %w", name, err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxChecked))
	if err != nil {
		return "", fmt.Errorf("read %s: %w", name, err)
	}
	return strings.TrimSpace(string(data)), nil
}

// file compares the content of a file, blanks around it aside. Where the
// kernel lists choices and brackets the one in force, that one may be given
// alone.
func (r *Runner) file(name, want string) (string, error) {
	have, err := r.read(name)
	if err != nil {
		return "", err
	}
	want = strings.TrimSpace(want)
	if have == want || want != "" && (inForce(have) == want || "["+inForce(have)+"]" == want) {
		return fmt.Sprintf("%s is %q", name, have), nil
	}
	return "", fmt.Errorf("%s is %q; want %q", name, shorten(have), want)
}

// inForce is the bracketed word of "always [madvise] never"; "" if there is
// none.
func inForce(have string) string {
	for word := range strings.FieldsSeq(have) {
		if inner, ok := strings.CutPrefix(word, "["); ok {
			if inner, ok = strings.CutSuffix(inner, "]"); ok {
				return inner
			}
		}
	}
	return ""
}

func shorten(s string) string {
	if len(s) > 200 {
		return s[:200] + "..."
	}
	return s
}

// kernelParameter looks for a word of the kernel's command line. The kernel
// takes - and _ for the same, and the last word for the one that counts.
func (r *Runner) kernelParameter(c scenarios.Check) (string, error) {
	line, err := r.read("/proc/cmdline")
	if err != nil {
		return "", err
	}

	same := func(s string) string { return strings.ReplaceAll(s, "-", "_") }
	found, value := false, ""
	for word := range strings.FieldsSeq(line) {
		name, v, _ := strings.Cut(word, "=")
		if same(name) == same(c.Name) {
			found, value = true, v
		}
	}

	switch {
	case !found:
		return "", fmt.Errorf("the kernel was started without %s; want %s", c.Name, word(c.Name, c.Want))
	case c.Want != "" && value != c.Want:
		return "", fmt.Errorf("the kernel was started with %s; want %s", word(c.Name, value), word(c.Name, c.Want))
	}

	return "the kernel was started with " + word(c.Name, value), nil
}

func word(name, value string) string {
	if value == "" {
		return name
	}
	return name + "=" + value
}

// governor looks at the frequency governor of every CPU.
func (r *Runner) governor(want string) (string, error) {
	files, err := filepath.Glob(r.path("/sys/devices/system/cpu/cpufreq") + "/policy*/scaling_governor")
	if err != nil {
		return "", err
	}
	if len(files) == 0 {
		return "", errors.New("this kernel has no frequency governor (as in most virtual machines)")
	}

	others := map[string]int{}
	var first string
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return "", fmt.Errorf("read the governor: %w", err)
		}
		if have := strings.TrimSpace(string(data)); have != want {
			others[have]++
			first = cmp.Or(first, have)
		}
	}

	if len(others) > 0 {
		return "", fmt.Errorf("%d of %d frequency policies have governor %s; want %s", others[first], len(files), first,
			want)
	}

	return fmt.Sprintf("governor %s on all %d frequency policies", want, len(files)), nil
}

// freeDisk looks at the file system of a path, or of the nearest folder above
// it that is there.
func (r *Runner) freeDisk(c scenarios.Check) (string, error) {
	dir := cmp.Or(c.Name, r.DiskDir, ".")
	free, err := FreeDisk(dir)
	if err != nil {
		return "", err
	}
	if free < c.Bytes() {
		return "", fmt.Errorf("%s has %s free; want at least %s", dir, gib(free), c.Want)
	}
	return fmt.Sprintf("%s has %s free", dir, gib(free)), nil
}

// FreeDisk is how many bytes may still be written where dir is, or will be.
func FreeDisk(dir string) (int64, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return 0, err
	}

	for {
		var st unix.Statfs_t
		err := unix.Statfs(dir, &st)
		switch {
		case err == nil:
			return int64(st.Bavail) * st.Bsize, nil
		case !errors.Is(err, fs.ErrNotExist) || filepath.Dir(dir) == dir:
			return 0, fmt.Errorf("ask for free disk at %s: %w", dir, err)
		}
		dir = filepath.Dir(dir)
	}
}
