package container

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/launchers/process"
	"github.com/benchrig/bench/results"
)

// Leftovers lists the containers that an engine ("docker", "podman")
// keeps with the cookie of a server life, running or not; "" stands for those
// of any life of ours. A container is ours if it has our label and the name that
// bench gives: an image that somebody made of a container of ours has its labels,
// too. environ is the client's environment. No such client is an error of which
// errors.Is(err, process.ErrNotFound) holds.
func Leftovers(ctx context.Context, engine, cookie string, environ []string) ([]results.ContainerInfo, error) {
	cli, err := openCLI(engine, environ)
	if err != nil {
		return nil, err
	}
	label := labelCookie
	if cookie != "" {
		label += "=" + cookie
	}

	found, _, err := cli.leftovers(ctx, label)
	return found, err
}

// LeftoversOfRun lists the containers of a run, by the part of the cookie that
// its servers share, in all engines whose client is found here, and others that
// have the run's label and not its name. The error says which of the engines that
// the run used did not answer; what the rest answered is returned beside it.
func LeftoversOfRun(ctx context.Context, run string, used, environ []string) (
	found, others []results.ContainerInfo, err error,
) {
	var errs []error
	isNew := func(info results.ContainerInfo) bool { // one engine may answer under both names
		same := func(f results.ContainerInfo) bool { return f.ID == info.ID }
		return !slices.ContainsFunc(found, same) && !slices.ContainsFunc(others, same)
	}

	for _, engine := range []string{docker, podman} {
		cli, err := openCLI(engine, environ)
		if err != nil {
			continue // nothing was started by a client that is not here
		}
		ours, unnamed, err := cli.leftovers(ctx, labelRun+"="+run)
		if slices.Contains(used, engine) {
			errs = append(errs, err)
		}
		for _, info := range ours {
			if isNew(info) {
				found = append(found, info)
			}
		}
		for _, info := range unnamed {
			if isNew(info) {
				others = append(others, info)
			}
		}
	}

	return found, others, errors.Join(errs...)
}

// leftovers lists the containers with a label: those with a name of ours, and
// others.
func (c CLI) leftovers(ctx context.Context, label string) (found, others []results.ContainerInfo, err error) {
	ids, err := c.labelled(ctx, label)
	if err != nil {
		return nil, nil, fmt.Errorf("list containers: %w", err)
	}

	for _, id := range ids {
		info, err := c.identify(ctx, id)
		switch {
		case noSuch(err): // it has gone meanwhile
		case err != nil:
			return found, others, fmt.Errorf("list containers: %w", err)
		case named(info):
			found = append(found, info)
		default:
			others = append(others, info)
		}
	}

	return found, others, nil
}

// named reports whether a container has a name that bench gives to one of the run
// in its label.
func named(info results.ContainerInfo) bool {
	cookie, ours := strings.CutPrefix(info.Label, labelCookie+"=")
	prefix, _, _ := strings.Cut(name(Job{Cookie: cookie, Life: nameMark}), nameMark)
	return ours && strings.HasPrefix(info.Name, prefix)
}

// nameMark stands for the part of a name that differs between starts of a run.
const nameMark = "nameMark"

// End removes a container that Leftovers listed, if it still
// carries that label, and proves that it is gone.
func End(ctx context.Context, info results.ContainerInfo, environ []string) error {
	cli, err := openCLI(info.Engine, environ)
	if err != nil {
		return err
	}

	now, err := cli.identify(ctx, info.ID)
	switch {
	case noSuch(err):
		return nil
	case err != nil:
		return fmt.Errorf("stop container %s: %w", info.Name, err)
	case now.Label != info.Label || info.Label == "":
		return fmt.Errorf("stop container %s: its label is %q, not %q: bench did not start it", info.Name, now.Label,
			info.Label)
	}

	if err := cli.remove(ctx, info.ID); err != nil {
		return fmt.Errorf("stop container %s: %w", info.Name, err)
	}

	return nil
}

func openCLI(engine string, environ []string) (CLI, error) {
	program, err := process.LookPath(engine, "/", environ)
	if err != nil {
		return CLI{}, fmt.Errorf("find container engine: %w", err)
	}
	return CLI{Engine: engine, Limits: DefaultLimits(), program: program, env: environ}, nil
}

// identify asks for name and label of a container.
func (c CLI) identify(ctx context.Context, id string) (results.ContainerInfo, error) {
	output, err := c.call(ctx, c.Limits.Ask, "inspect", "--type", "container",
		"--format", `{"Name":{{json .Name}},"Labels":{{json .Config.Labels}}}`, id)
	if err != nil {
		return results.ContainerInfo{}, err
	}

	var told struct {
		Name   string
		Labels map[string]string
	}

	if err := json.Unmarshal([]byte(output), &told); err != nil {
		return results.ContainerInfo{}, fmt.Errorf("%s inspect: %q is not understood: %w", c.Engine,
			text.Shorten(output), err)
	}

	info := results.ContainerInfo{Engine: c.Engine, Name: strings.TrimPrefix(told.Name, "/"), ID: id}
	if cookie, ours := told.Labels[labelCookie]; ours {
		info.Label = labelCookie + "=" + cookie
	}

	return info, nil
}
