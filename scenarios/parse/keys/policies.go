package keys

import (
	"slices"
	"time"

	"github.com/benchrig/bench/gpu"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/results/codes"
	"github.com/benchrig/bench/scenarios"
	"github.com/benchrig/bench/scenarios/schema"
)

// policyFields are the top-level keys that say how a run looks after itself.
func policyFields() []schema.Field[scenarios.Scenario] {
	return []schema.Field[scenarios.Scenario]{
		schema.FreeKey("retries", "Number of further attempts of a failed step, as one number or per failure "+
			"class; \"other\" covers every class that is not listed. Every attempt is recorded.",
			schema.OneOf(schema.WholeIn(schema.Between(0, 100)),
				schema.MapOf(schema.WholeIn(schema.Between(0, 100)))), readRetries).Or("0"),
		schema.BlockKey("deadlines", "Time limits of steps and of the run.", Deadlines(),
			func(s *scenarios.Scenario) *scenarios.Scenario { return s }),
		momentKey("start-at", "When the run starts: 22:00, \"2026-11-29 22:00\" or an RFC 3339 time, "+
			"by this machine's clock. bench run waits for it, a resumed run does not.",
			func(s *scenarios.Scenario) *scenarios.Moment { return &s.StartAt }).DefaultNote("at once"),
		momentKey("until", "Latest end of the run, such as 07:30. A server start or step that would take longer, "+
			"judged by the durations seen so far, is not begun; whatever still runs at that time is stopped.",
			func(s *scenarios.Scenario) *scenarios.Moment { return &s.EndBy }).DefaultNote("no limit"),
		schema.BlockKey("watchdog", "Limits on time without progress.", Watchdog(),
			func(s *scenarios.Scenario) *scenarios.Watchdog { return &s.Watchdog }),
		schema.BlockKey("disk", "Limits on disk use.", Disk(),
			func(s *scenarios.Scenario) *scenarios.Disk { return &s.Disk }),
		telemetryField(),
		schema.BlockKey("settle", "Wait before each step until its GPUs are cool and idle.", Settle(),
			func(s *scenarios.Scenario) *scenarios.Settle { return &s.Settle }),
		schema.BlockKey("vram", "Limits of the proof that a server's video memory is free again.", VRAM(),
			func(s *scenarios.Scenario) *scenarios.VRAM { return &s.VRAM }),
		schema.BlockKey("hooks", "Commands and HTTP calls around the run, each server start and each step.",
			Levels(), func(s *scenarios.Scenario) *scenarios.LevelHooks { return &s.Hooks }),
		schema.GivenBlockKey("evaluate", "A command that measures the quality of the answers of each variant, such as "+
			"lm-eval.", Evaluation(), func(s *scenarios.Scenario) *scenarios.Evaluation { return &s.Evaluation }),
		schema.ListKey("checks", "Conditions of the machine that are checked before the run.", Check(),
			scenarios.Check{},
			func(s *scenarios.Scenario) *[]scenarios.Check { return &s.Checks }),
		schema.ListKey("notify", "Where to send notifications about the run.", Notify(), scenarios.Notify{},
			func(s *scenarios.Scenario) *[]scenarios.Notify { return &s.Notify }),
	}
}

// momentKey is a key whose value is a moment.
func momentKey(key, doc string, at func(*scenarios.Scenario) *scenarios.Moment) schema.Field[scenarios.Scenario] {
	return schema.FreeKey(key, doc, schema.Simple(schema.TextShape),
		func(r *schema.Reader, n *schema.Node, s *scenarios.Scenario) {
			text, ok := r.Text(n)
			if !ok {
				return
			}
			m, err := scenarios.ParseMoment(text)
			if err != nil {
				r.Fail(n.Pos, "%s is %s, expected 22:00, \"2026-11-29 22:00\" or an RFC 3339 time", key, n.Shown())
				return
			}
			*at(s) = m
		})
}

// Watchdog are the keys of watchdog:.
func Watchdog() schema.Block[scenarios.Watchdog] {
	return schema.Block[scenarios.Watchdog]{
		Name: "under watchdog:", Doc: "A hanging server often still answers its health check, so bench watches for " +
			"tokens.", Example: "\nstall: 10m\n",
		Fields: []schema.Field[scenarios.Watchdog]{
			schema.DurationKey("stall", "Longest time without a token from any request while some are outstanding; "+
				"0: no limit.",
				func(w *scenarios.Watchdog) *time.Duration { return &w.Stall }).Or("5m"),
		},
	}
}

// Disk are the keys of disk:.
func Disk() schema.Block[scenarios.Disk] {
	return schema.Block[scenarios.Disk]{
		Name: "under disk:", Doc: "The run stops cleanly before the disk is full.", Example: "\nmin-free: " +
			"20GiB\nmax-log: 1GiB\n",
		Fields: []schema.Field[scenarios.Disk]{
			schema.SizeKey("min-free", "Space that must stay free on the file system of the results; 0: no limit.",
				func(d *scenarios.Disk) *int64 { return &d.MinFree }).Or("1GiB"),
			schema.SizeKey("max-log", "Size to which a server's log is cut, keeping its beginning and end; 0: no "+
				"limit.",
				func(d *scenarios.Disk) *int64 { return &d.MaxLog }).Or("256MiB"),
		},
	}
}

// minPeriod is the shortest time between two looks at the GPUs: reading them
// more often disturbs what is measured.
const minPeriod = 50 * time.Millisecond

// Telemetry are the keys of telemetry:.
func Telemetry() schema.Block[scenarios.Telemetry] {
	reactions := []scenarios.Reaction{scenarios.ReactIgnore, scenarios.ReactSuspect, scenarios.ReactRepeat}

	return schema.Block[scenarios.Telemetry]{
		Name: "under telemetry:", Doc: "How GPUs and host are sampled during a pass. The value off disables sampling.",
		Example: "\nsampler: nvidia-smi\nperiod: 500ms\non-throttle: repeat\n",
		Fields: []schema.Field[scenarios.Telemetry]{
			schema.EnumKey("sampler", "Source of the readings; auto takes the best one that works.",
				append([]string{"auto"}, gpu.SamplerNames()...),
				func(t *scenarios.Telemetry) *string { return &t.Sampler }).Or("auto"),
			schema.FreeKey("period", "Time between two readings, at least 50ms.", schema.Simple(schema.DurationShape),
				readPeriod).DefaultNote("the sampler's own"),
			schema.EnumKey("on-throttle", "What to do with a step during which a GPU throttled, or had another "+
				"power limit than in the first step: record it, mark the step suspect, or repeat it within "+
				"retries.",
				reactions, func(t *scenarios.Telemetry) *scenarios.Reaction { return &t.OnThrottle }).
				Or(string(scenarios.ReactSuspect)),
			schema.EnumKey("on-foreign", "What to do with a step during which another program used its GPUs.",
				reactions, func(t *scenarios.Telemetry) *scenarios.Reaction { return &t.OnForeign }).
				Or(string(scenarios.ReactSuspect)),
		},
	}
}

func telemetryField() schema.Field[scenarios.Scenario] {
	b := Telemetry()
	f := schema.FreeKey("telemetry", "Sampling of GPUs and host; off for none.",
		schema.OneOf(schema.EnumOf("off"), schema.BlockOf(b.Info())),
		func(r *schema.Reader, n *schema.Node, s *scenarios.Scenario) {
			if n.Kind == schema.Text {
				_, s.Telemetry.Off = r.Enum(n, schema.EnumOf("off"))
				return
			}
			schema.Decode(r, b, n, &s.Telemetry)
		})
	f.Always = true
	return f
}

func readPeriod(r *schema.Reader, n *schema.Node, t *scenarios.Telemetry) {
	d, ok := r.Duration(n)
	if ok && d < minPeriod {
		r.Fail(n.Pos, "period is %s, expected at least %s: reading GPUs more often disturbs what is measured",
			n.Shown(), minPeriod)
		return
	}
	t.Period = d
}

// Settle are the keys of settle:.
func Settle() schema.Block[scenarios.Settle] {
	return schema.Block[scenarios.Settle]{
		Name: "under settle:", Doc: "bench waits only if timeout is set. After it has passed, the step runs with a " +
			"warning.",
		Example: "\ntimeout: 10m\nmax-temperature: 55\npower: 1.3\nclock: stable\n",
		Fields: []schema.Field[scenarios.Settle]{
			schema.DurationKey("timeout", "Longest wait; 0: no wait.",
				func(s *scenarios.Settle) *time.Duration { return &s.Timeout }).Or("0"),
			schema.NumberKey("max-temperature", "Highest temperature of the hottest sensor, in degrees Celsius; 0: "+
				"any.",
				schema.Between(0, 150), func(s *scenarios.Settle) *float64 { return &s.MaxTemp }).Or("0"),
			schema.NumberKey("power", "Highest power, as a multiple of the idle power before the first server.",
				schema.Between(1, 100), func(s *scenarios.Settle) *float64 { return &s.Power }).DefaultNote("none"),
			schema.EnumKey("clock", "State of the core clocks. stable: within 2 % over 3 seconds. idle: at most "+
				"1.1 times the clock before the first server, which servers that keep the clocks up never reach.",
				[]scenarios.SettleClock{scenarios.ClockStable, scenarios.ClockIdle},
				func(s *scenarios.Settle) *scenarios.SettleClock { return &s.Clock }).DefaultNote("none"),
		},
	}
}

// VRAM are the keys of vram:.
func VRAM() schema.Block[scenarios.VRAM] {
	return schema.Block[scenarios.VRAM]{
		Name: "under vram:", Doc: "After a stop, each GPU's memory is compared with its use before the server's " +
			"start. Processes of others are never stopped.",
		Example: "\ntimeout: 10m\ntolerance: 1GiB\nforeign: wait\n",
		Fields: []schema.Field[scenarios.VRAM]{
			schema.DurationKey("timeout", "Longest time from the exit of the processes until the memory is free.",
				func(v *scenarios.VRAM) *time.Duration { return &v.Timeout }).
				DefaultNote("2m, on AMD 15m"),
			schema.SizeKey("tolerance", "Use above the former one that still counts as free.",
				func(v *scenarios.VRAM) *int64 { return &v.Tolerance }).
				DefaultNote("the larger of 512MiB and 1 % of the memory"),
			schema.EnumKey("foreign", "If another program holds memory on a server's GPUs: report it and continue; "+
				"wait until timeout, then refuse; or refuse, so that the variant's steps fail.",
				[]scenarios.ForeignHolders{
					scenarios.ForeignReport, scenarios.ForeignWait,
					scenarios.ForeignRefuse,
				},
				func(v *scenarios.VRAM) *scenarios.ForeignHolders { return &v.Foreign }).
				Or(string(scenarios.ForeignReport)),
		},
	}
}

// otherClasses is the key in retries: for every class that is not named.
const otherClasses = "other"

func readRetries(r *schema.Reader, n *schema.Node, s *scenarios.Scenario) {
	each := schema.WholeIn(schema.Between(0, 100))
	if n.Kind != schema.Mapping {
		if n.Kind != schema.Number {
			r.Wrong(n, schema.OneOf(each, schema.MapOf(each)))
			return
		}
		if v, ok := r.Whole(n, each); ok {
			s.Retries = int(v)
		}
		return
	}

	known := append(failureClasses(), otherClasses)
	s.RetriesFor = map[string]int{}
	for _, p := range n.Pairs {
		switch {
		case !slices.Contains(known, p.Key):
			r.Fail(p.Pos, "%q is not a failure class%s", p.Key, schema.DidYouMean(p.Key, known))
			continue
		case results.FailureClass(p.Key).Final():
			r.Fail(p.Pos, "%q is never followed by another attempt: the step was not run or not wanted, or the run "+
				"ends with it; remove the line", p.Key)
			continue
		}
		r.Path = append(r.Path, p.Key)
		v, ok := r.Whole(p.Value, each)
		r.Path = r.Path[:len(r.Path)-1]
		switch {
		case ok && p.Key == otherClasses:
			s.Retries = int(v)
		case ok:
			s.RetriesFor[p.Key] = int(v)
		}
	}
}

// failureClasses are the classes that retries: may name, by name.
func failureClasses() []string {
	var names []string
	for _, entry := range codes.Failures() {
		names = append(names, entry.Code)
	}
	slices.Sort(names)
	return names
}
