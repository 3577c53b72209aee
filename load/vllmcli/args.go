// Package vllmcli reads the command line of vLLM's serving benchmark client.
//
// What goes in: arguments as "vllm bench serve" takes them. What comes out: the
// dataset, the way to send requests and the name of the result file that they
// ask for, and notes on flags whose effect differs here. A flag whose effect
// this client does not have is an error, never silently dropped. It sends
// nothing, opens no file and prints nothing.
package vllmcli

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/benchrig/bench/internal/text"
)

// Parse reads args into f. Names may be written with underscores and cut
// short, and flags that take several values may have them as separate
// arguments, as Python's argparse has it.
func (f *Flags) Parse(fs *pflag.FlagSet, args []string) error {
	args, notes, err := parse(fs, args)
	if err != nil {
		return err
	}
	f.Notes = notes
	f.changed = func(name string) bool { flag := fs.Lookup(name); return flag != nil && flag.Changed }
	if err := f.check(); err != nil {
		return err
	}
	return f.readClasses(args)
}

// Parse reads args into d, as Flags.Parse does.
func (d *DatasetFlags) Parse(fs *pflag.FlagSet, args []string) error {
	if _, _, err := parse(fs, args); err != nil {
		return err
	}
	return d.check()
}

// parse reads args; full has them spread.
func parse(fs *pflag.FlagSet, args []string) (full, notes []string, err error) {
	full, err = spread(fs, args)
	if err != nil {
		return nil, nil, err
	}
	if err := fs.Parse(full); err != nil {
		return nil, nil, withHint(fs, err)
	}
	if fs.NArg() > 0 {
		return nil, nil, fmt.Errorf("argument %q belongs to no flag", fs.Arg(0))
	}
	if err := checkFinite(fs); err != nil {
		return nil, nil, err
	}
	notes, err = checkOthers(fs)
	return full, notes, err
}

// checkFinite refuses flags that are not a number, and infinite ones but for
// those of which inf is a value.
func checkFinite(fs *pflag.FlagSet) (err error) {
	fs.Visit(func(flag *pflag.Flag) {
		v, notNumber := strconv.ParseFloat(flag.Value.String(), 64)
		mayBeInfinite := flag.Name == "request-rate" || flag.Name == "burstiness"
		if err != nil || flag.Value.Type() != "float64" || notNumber != nil || math.IsInf(v, 1) && mayBeInfinite {
			return
		}
		if math.IsNaN(v) || math.IsInf(v, 0) {
			err = fmt.Errorf("--%s is %v, want a finite number", flag.Name, v)
		}
	})

	return err
}

// withHint adds the flag that an unknown one resembles.
func withHint(fs *pflag.FlagSet, err error) error {
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok {
		return err
	}

	var names []string
	fs.VisitAll(func(flag *pflag.Flag) { names = append(names, flag.Name) })
	if near := text.Nearest(unknown.GetSpecifiedName(), names); near != "" {
		return fmt.Errorf("%w, did you mean --%s?", err, near)
	}
	return err
}

// severalValues lists flags after which several values may stand.
func severalValues(name string) bool {
	return slices.Contains([]string{"header", "metadata", "goodput", "until", "lora-modules", "stages"}, name)
}

// spread writes args as the flag package wants them: full names with dashes,
// and each of several values with its flag.
func spread(fs *pflag.FlagSet, args []string) ([]string, error) {
	var out []string
	var fields dotted
	for i := 0; i < len(args); i++ {
		name, value, hasValue := strings.Cut(args[i], "=")
		if !strings.HasPrefix(name, "--") || name == "--" {
			out = append(out, args[i])
			continue
		}

		flag, path, _ := strings.Cut(name[2:], ".")
		full, err := fullName(fs, strings.ReplaceAll(flag, "_", "-"))
		if err != nil {
			return nil, err
		}

		switch {
		case isDotted(name[2:]) && takesObject(full):
			if !hasValue && i+1 == len(args) {
				return nil, fmt.Errorf("%s needs a value", name)
			}
			if !hasValue {
				i++
				value = args[i]
			}
			if err := fields.set(full, path, value); err != nil {
				return nil, err
			}
		case path != "": // left for the flag package to report
			out = append(out, args[i])
		case full == oldDataset && (hasValue || i+1 < len(args)):
			if !hasValue {
				i++
				value = args[i]
			}
			out = append(out, "--dataset-name=sharegpt", "--dataset-path="+value)
		case hasValue:
			out = append(out, "--"+full+"="+value)
		case severalValues(full):
			for i+1 < len(args) && !strings.HasPrefix(args[i+1], "-") {
				i++
				out = append(out, "--"+full+"="+args[i])
			}
		case takesValue(fs, full) && i+1 < len(args):
			i++ // a value may look like a flag: "-1"
			out = append(out, "--"+full+"="+args[i])
		default:
			out = append(out, "--"+full)
		}
	}

	return fields.args(out)
}

// takesObject reports whether a flag's value is a JSON object.
func takesObject(name string) bool {
	switch name {
	case "extra-body", "chat-template-kwargs", "random-mm-limit-mm-per-prompt", "random-range-ratio":
		return true
	}
	return false
}

// oldDataset is the flag of 2024 that names a file of ShareGPT.
const oldDataset = "dataset"

// renamed are flags that had another name in some versions of vLLM's clients,
// each with the name that they have here.
func renamed() map[string]string {
	return map[string]string{
		"endpoint-type":             "backend",
		"custom-skip-chat-template": "skip-chat-template",
		"hf-text-column":            "dataset-field",
		"speed-bench-config":        "speed-bench-dataset-subset",
	}
}

func takesValue(fs *pflag.FlagSet, name string) bool {
	flag := fs.Lookup(name)
	return flag != nil && flag.NoOptDefVal == ""
}

// fullName completes a name that was cut short; an unknown one is left for the
// flag package to report.
func fullName(fs *pflag.FlagSet, name string) (string, error) {
	if now, was := renamed()[name]; was {
		name = now
	}
	if fs.Lookup(name) != nil || name == oldDataset {
		return name, nil
	}

	var found []string
	fs.VisitAll(func(flag *pflag.Flag) {
		if strings.HasPrefix(flag.Name, name) {
			found = append(found, flag.Name)
		}
	})

	switch {
	case len(found) > 1:
		return "", fmt.Errorf("--%s could be --%s", name, strings.Join(found, " or --"))
	case len(found) == 1:
		return found[0], nil
	}

	return name, nil
}
