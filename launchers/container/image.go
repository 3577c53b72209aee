package container

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/results"
)

// pullLimit is how long an image may take to come where nothing is said: those of
// engines have 10 to 40 GB.
func (o Options) pullLimit() time.Duration {
	const usual = 2 * time.Hour
	return cmp.Or(o.Pull, usual)
}

// haveImage says which image a name stands for now, and pulls one that the
// engine does not have. tell gets how far a pull is.
func (c CLI) haveImage(ctx context.Context, name string, patience time.Duration, tell func(string)) (
	results.ImageInfo, *results.Failure,
) {
	image, err := c.inspectImage(ctx, name)
	if noSuch(err) {
		if err = c.pull(ctx, name, patience, tell); err == nil {
			image, err = c.inspectImage(ctx, name)
		}
	}

	switch {
	case err == nil:
		return image, nil
	case ctx.Err() != nil:
		return image, results.Interrupted(ctx, "waiting for image "+name)
	}

	return image, results.Failf(results.FailImage, "container: image %q: %v", name, err)
}

// pull fetches an image, and reports the last line of what the client says about it.
func (c CLI) pull(ctx context.Context, name string, patience time.Duration, tell func(string)) error {
	if tell == nil {
		tell = func(string) {}
	}
	tell("image " + name)
	_, err := c.callTelling(ctx, patience, func(line string) {
		tell("image " + name + ": " + text.Shorten(text.Clean(line)))
	}, "pull", name)

	return err
}

// inspectImage asks for the identity of an image that the engine has.
func (c CLI) inspectImage(ctx context.Context, name string) (results.ImageInfo, error) {
	info := results.ImageInfo{Name: name, Labels: map[string]string{}}
	output, err := c.call(ctx, c.Limits.Ask, "image", "inspect", name) // podman 4.3 takes no format of several fields
	if err != nil {
		return info, err
	}

	var answers []struct {
		ID          string `json:"Id"`
		RepoDigests []string
		Config      struct{ Labels map[string]string }
	}
	if err := json.Unmarshal([]byte(output), &answers); err != nil || len(answers) == 0 {
		return info, fmt.Errorf("%s image inspect: %q is not understood: %w", c.Engine, text.Shorten(output), err)
	}

	answer := answers[0]
	info.ID = answer.ID
	for _, digest := range answer.RepoDigests {
		if _, sum, found := strings.Cut(digest, "@"); found {
			info.Digest = sum
			break
		}
	}
	keepLabels(info.Labels, answer.Config.Labels)

	return info, nil
}

// keepLabels takes over an image's labels, each within reason.
func keepLabels(kept, labels map[string]string) {
	const (
		most    = 64
		longest = 256 // bytes
	)
	maps.Copy(kept, labels)
	maps.DeleteFunc(kept, func(name, value string) bool { return len(name)+len(value) > longest })
	if len(kept) > most {
		maps.DeleteFunc(kept, func(name, _ string) bool {
			return !strings.HasPrefix(name, "org.opencontainers.image.")
		})
	}
}
