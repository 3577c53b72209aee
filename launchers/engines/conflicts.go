package engines

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/benchrig/bench/launchers/recipe"
)

// Conflict is a setting of a recipe that its engine refuses or ignores.
type Conflict struct {
	Arg      string // as the recipe names it; "": it is not an argument
	Message  string // what happens, from which version on, and what to do
	NoEffect bool   // the engine starts all the same
	Room     int    // tokens of a request and its answer for which it leaves room; 0: it sets no limit
}

// Version is the version of an engine; "": it is not known.
type Version string

// Conflicts lists what is known to be wrong with a recipe for a version of its
// engine, and for some versions where version is "". An image's tag may tell
// it then.
func Conflicts(kind Kind, spec recipe.Spec, version string) []Conflict {
	known := Version(cmp.Or(version, imageVersion(spec.Container.Image)))
	found := retired(kind, spec, known)
	if kind.Args.Conflicts != nil {
		found = append(found, kind.Args.Conflicts(spec, known)...)
	}
	return append(found, hiddenTwice(spec)...)
}

// Retirement is a setting that an engine had once.
type Retirement struct {
	Arg     string // canonical name
	Written bool   // only as it stands, with its dashes: without them it is spelled anew
	Env     string // name of a variable, instead of Arg
	Since   string // version from which on it is gone; "": see When
	When    string // where no version is known: a month; "never": no release ever knew it
	Ignored bool   // the engine starts all the same; else it refuses the setting
	Instead string // what to do
}

// retired finds settings that are gone, or may be.
func retired(kind Kind, spec recipe.Spec, version Version) []Conflict {
	var found []Conflict
	for _, r := range kind.Args.Retired {
		text, holds := r.says(kind.Name, version)
		if !holds {
			continue
		}
		if r.Env != "" {
			if _, set := spec.Env[r.Env]; set {
				found = append(found, Conflict{Message: r.Env + ": " + text, NoEffect: r.Ignored})
			}
			continue
		}
		for _, arg := range spec.Args {
			if arg.Value != nil && r.names(arg.Name) {
				found = append(found, Conflict{Arg: arg.Name, Message: arg.Name + ": " + text, NoEffect: r.Ignored})
			}
		}
	}

	return found
}

// names reports whether an argument is the one that has gone.
func (r Retirement) names(arg string) bool {
	if r.Written {
		return strings.TrimLeft(arg, "-") == r.Arg && strings.HasPrefix(arg, "-")
	}
	return vllmSpelling().Key(arg) == r.Arg
}

// says is what becomes of the setting, for a version or for any.
func (r Retirement) says(engine string, version Version) (text string, holds bool) {
	verb := "refuse"
	if r.Ignored {
		verb = "ignore"
	}

	switch {
	case r.When == "never":
		return fmt.Sprintf("no release of %s knows it, only a fork: other builds ignore it",
			engine), true
	case r.Since == "":
		text = fmt.Sprintf("%s builds of %s and later %s it", engine, r.When, verb)
	case version == "":
		text = fmt.Sprintf("%s %s and newer %s it", engine, r.Since, verb)
	case version.olderThan(r.Since):
		return "", false
	default:
		text = fmt.Sprintf("%s %s %ss it", engine, version, verb)
	}

	return text + ": " + r.Instead, true
}

// hiddenTwice finds GPUs that are chosen twice.
func hiddenTwice(spec recipe.Spec) []Conflict {
	_, hip := spec.Env["HIP_VISIBLE_DEVICES"]
	_, rocr := spec.Env["ROCR_VISIBLE_DEVICES"]
	if !hip || !rocr {
		return nil
	}
	return []Conflict{{
		Message: "ROCR_VISIBLE_DEVICES: HIP_VISIBLE_DEVICES counts within what it leaves, " +
			"which may be no GPU at all: set HIP_VISIBLE_DEVICES alone",
	}}
}

var (
	versionNumbers = regexp.MustCompile(`^v?(\d+)\.(\d+)(?:\.(\d+))?`)
	imageTag       = regexp.MustCompile(`:v?(\d+\.\d+(?:\.\d+)?[^/:@]*)(?:@|$)`)
)

// imageVersion is the version that an image's tag names, "" if it names none:
// a tag such as 25.09 is a month.
func imageVersion(image string) string {
	const firstYear = 20
	m := imageTag.FindStringSubmatch(image)
	if m == nil {
		return ""
	}
	if numbers := numbersOf(m[1]); len(numbers) == 0 || numbers[0] >= firstYear {
		return ""
	}
	return m[1]
}

// olderThan compares versions by their first three numbers; what is not a version
// is not older.
func (v Version) olderThan(than string) bool {
	a, b := numbersOf(string(v)), numbersOf(than)
	return a != nil && b != nil && slices.Compare(a, b) < 0
}

// numbersOf are the first three numbers of a version; nil: not a version.
func numbersOf(version string) []int {
	m := versionNumbers.FindStringSubmatch(version)
	if m == nil {
		return nil
	}
	var numbers []int
	for _, digits := range m[1:] {
		n, _ := strconv.Atoi(cmp.Or(digits, "0"))
		numbers = append(numbers, n)
	}
	return numbers
}
