package suite

import (
	"fmt"
	"slices"
	"strings"

	"github.com/benchrig/bench/profiles"
	"github.com/benchrig/bench/scenarios"
	"github.com/benchrig/bench/scenarios/parse"
)

// Round is one load: so many requests at once. Problem says why it cannot be
// run; its Load has no input length then.
type Round struct {
	Profile string
	Load    scenarios.Load
	Seed    uint64 // of its prompts: no two rounds send the same ones
	Problem string
}

// Wish is what one may set of a suite.
type Wish struct {
	Profiles    []string
	MaxModelLen int // of the server, prompt and answer together; 0: not known
	Image       scenarios.ImageSize
	Seed        uint64 // of the first round's prompts
}

// Plan lists the rounds of profiles in their order.
func Plan(w Wish) ([]Round, error) {
	var rounds []Round
	for i, name := range w.Profiles {
		if slices.Contains(w.Profiles[:i], name) {
			return nil, fmt.Errorf("profile %q is named twice", name)
		}
		points, err := points(name)
		if err != nil {
			return nil, err
		}
		for _, load := range points {
			if IsVision(name) {
				load.Dataset.Images.Sizes = []scenarios.ImageSize{w.Image}
			}
			round := Round{Profile: name, Seed: w.Seed + uint64(len(rounds))}
			load.Percentiles = []float64{99}
			if round.Load, err = load.For(w.MaxModelLen); err != nil {
				round.Problem = err.Error()
			} else if need := round.Load.InputLen + round.Load.OutputLen; w.MaxModelLen > 0 && need > w.MaxModelLen {
				round.Problem = fmt.Sprintf("it needs %d tokens a request, and the server's max-model-len is %d", need,
					w.MaxModelLen)
			}
			rounds = append(rounds, round)
		}
	}

	return rounds, nil
}

// points are the loads of a profile, as a scenario would have them.
func points(profile string) ([]scenarios.Load, error) {
	all := slices.Concat(Text(), Vision())
	if !slices.Contains(all, profile) {
		return nil, fmt.Errorf("profile %q: want one of %s", profile, strings.Join(all, ", "))
	}
	const around = "schema: 1\nserver: {launcher: external, base-url: \"http://localhost\", model: any}\nload: " +
		"{profile: %s}\n"
	scenario, err := parse.Source("suite", fmt.Appendf(nil, around, profile),
		parse.Options{Profile: profiles.Lookup, Profiles: profiles.Names()})
	if err != nil {
		return nil, fmt.Errorf("read profile %s: %w", profile, err)
	}
	return scenario.Points, nil
}
