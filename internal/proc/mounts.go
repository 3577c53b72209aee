package proc

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Mount is a file system as this program sees it mounted.
type Mount struct {
	Root     string // folder of the file system that is mounted
	Point    string // where
	Kind     string // "cgroup2", "tmpfs", ...
	ReadOnly bool
	Options  []string // of the file system, "hidepid=invisible" among them
}

// Mounts lists what is mounted in this program's mount namespace, in the order
// of the mounts.
func (fs FS) Mounts() ([]Mount, error) {
	text, err := os.ReadFile(filepath.Join(string(fs), "self/mountinfo"))
	if err != nil {
		return nil, err
	}

	return parseMounts(string(text)), nil
}

// parseMounts reads a table in the format of /proc/self/mountinfo; lines that it
// cannot read are left out.
func parseMounts(table string) []Mount {
	const rootField, pointField, optionField, fields = 3, 4, 5, 6
	const superField = 2 // after the dash

	var mounts []Mount
	for line := range strings.Lines(table) {
		before, after, found := strings.Cut(line, " - ")
		mount, kind := strings.Fields(before), strings.Fields(after)
		if !found || len(mount) < fields || len(kind) == 0 {
			continue
		}
		m := Mount{
			Root:     unescape(mount[rootField]),
			Point:    unescape(mount[pointField]),
			Kind:     kind[0],
			ReadOnly: slices.Contains(strings.Split(mount[optionField], ","), "ro"),
		}
		if len(kind) > superField {
			m.Options = strings.Split(kind[superField], ",")
		}
		mounts = append(mounts, m)
	}

	return mounts
}

// unescape undoes the kernel's octal escapes of blanks in names.
func unescape(text string) string {
	return strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(text)
}
