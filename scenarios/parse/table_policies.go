package parse

import (
	"slices"
	"time"

	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/results/codes"
	"github.com/benchrig/bench/scenarios"
	"github.com/benchrig/bench/scenarios/schema"
)

// policyFields are the top-level keys that say how a run looks after itself.
func policyFields() []schema.Field[scenarios.Scenario] {
	return []schema.Field[scenarios.Scenario]{
		schema.FreeKey("retries", "Further attempts of a failed step, as a number or by failure class, where "+
			"\"other\" is every class that is not named. "+
			"Every attempt stays visible.", schema.OneOf(schema.WholeIn(schema.Between(0, 100)),
			schema.MapOf(schema.WholeIn(schema.Between(0, 100)))), readRetries).Or("0"),
		schema.BlockKey("deadlines", "Time limits of steps and of the run.", deadlinesBlock(),
			func(s *scenarios.Scenario) *scenarios.Scenario { return s }),
		momentKey("start-at", "When the run starts: 22:00, \"2026-11-29 22:00\" or an RFC 3339 time, "+
			"by this machine's clock. bench run waits for it, a resumed run does not.",
			func(s *scenarios.Scenario) *scenarios.Moment { return &s.StartAt }).DefaultNote("at once"),
		momentKey("until", "When the run ends at the latest, such as 07:30: a server start or step that would take "+
			"longer, by what the run has learned of its speed, is not begun, and what still runs then is ended.",
			func(s *scenarios.Scenario) *scenarios.Moment { return &s.EndBy }).DefaultNote("no limit"),
		schema.BlockKey("watchdog", "Limits of the time without progress.", watchdogBlock(),
			func(s *scenarios.Scenario) *scenarios.Watchdog { return &s.Watchdog }),
		schema.BlockKey("disk", "What a run may fill.", diskBlock(),
			func(s *scenarios.Scenario) *scenarios.Disk { return &s.Disk }),
		telemetryField(),
		schema.BlockKey("settle", "Wait before each step until its GPUs are calm.", settleBlock(),
			func(s *scenarios.Scenario) *scenarios.Settle { return &s.Settle }),
		schema.BlockKey("vram", "Proof that a server's video memory is free again.", vramBlock(),
			func(s *scenarios.Scenario) *scenarios.VRAM { return &s.VRAM }),
		schema.BlockKey("hooks", "Commands and HTTP calls around the run, every server start, every step.",
			levelsBlock(), func(s *scenarios.Scenario) *scenarios.LevelHooks { return &s.Hooks }),
		schema.ListKey("checks", "Conditions of the machine that are checked before the run.", checkBlock(), beginCheck,
			func(s *scenarios.Scenario) *[]scenarios.Check { return &s.Checks }),
		schema.ListKey("notify", "Where to send notifications about the run.", notifyBlock(),
			func(n *scenarios.Notify, pos schema.Pos) { n.Pos = pos },
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

func watchdogBlock() schema.Block[scenarios.Watchdog] {
	return schema.Block[scenarios.Watchdog]{
		Name: "under watchdog:", Doc: "A server that hangs often still answers its health check. What counts is " +
			"tokens.", Example: "\nstall: 10m\n",
		Fields: []schema.Field[scenarios.Watchdog]{
			schema.DurationKey("stall", "Longest time without a token of any request of a pass while some are "+
				"outstanding; 0 is off.",
				func(w *scenarios.Watchdog) *time.Duration { return &w.Stall }).Or("5m"),
		},
	}
}

func diskBlock() schema.Block[scenarios.Disk] {
	return schema.Block[scenarios.Disk]{
		Name: "under disk:", Doc: "A full disk ends a run cleanly before it is full.", Example: "\nmin-free: " +
			"20GiB\nmax-log: 1GiB\n",
		Fields: []schema.Field[scenarios.Disk]{
			schema.SizeKey("min-free", "Must stay free where the results lie; 0 is not watched.",
				func(d *scenarios.Disk) *int64 { return &d.MinFree }).Or("1GiB"),
			schema.SizeKey("max-log", "Kept of one server's log, its head and its end; 0 is all.",
				func(d *scenarios.Disk) *int64 { return &d.MaxLog }).Or("256MiB"),
		},
	}
}

// minPeriod is the shortest time between two looks at the GPUs: reading them
// more often disturbs what is measured.
const minPeriod = 50 * time.Millisecond

func telemetryBlock() schema.Block[scenarios.Telemetry] {
	reactions := []scenarios.Reaction{scenarios.ReactIgnore, scenarios.ReactSuspect, scenarios.ReactRepeat}

	return schema.Block[scenarios.Telemetry]{
		Name: "under telemetry:", Doc: "How GPUs and host are sampled while a pass runs. In place of the block, off " +
			"leaves it out.",
		Example: "\nsampler: nvidia-smi\nperiod: 500ms\non-throttle: repeat\n",
		Fields: []schema.Field[scenarios.Telemetry]{
			schema.EnumKey("sampler", "Where readings come from; auto takes the best that works.", scenarios.Samplers(),
				func(t *scenarios.Telemetry) *string { return &t.Sampler }).Or("auto"),
			schema.FreeKey("period", "Between two readings, at least 50ms.", schema.Simple(schema.DurationShape),
				readPeriod).DefaultNote("the sampler's own"),
			schema.EnumKey("on-throttle", "A step under throttling, or under another power limit than the first: "+
				"record it, call the step suspect, or repeat it within retries.",
				reactions, func(t *scenarios.Telemetry) *scenarios.Reaction { return &t.OnThrottle }).
				Or(string(scenarios.ReactSuspect)),
			schema.EnumKey("on-foreign", "The same for a step during which somebody else used its GPUs.",
				reactions, func(t *scenarios.Telemetry) *scenarios.Reaction { return &t.OnForeign }).
				Or(string(scenarios.ReactSuspect)),
		},
	}
}

func telemetryField() schema.Field[scenarios.Scenario] {
	b := telemetryBlock()
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

func settleBlock() schema.Block[scenarios.Settle] {
	return schema.Block[scenarios.Settle]{
		Name: "under settle:", Doc: "Without a timeout nothing is waited for. When it has passed, the step runs with " +
			"a warning.",
		Example: "\ntimeout: 10m\nmax-temperature: 55\npower: 1.3\nclock: stable\n",
		Fields: []schema.Field[scenarios.Settle]{
			schema.DurationKey("timeout", "Longest wait; 0 means no wait.",
				func(s *scenarios.Settle) *time.Duration { return &s.Timeout }).Or("0"),
			schema.NumberKey("max-temperature", "Degrees Celsius of the hottest sensor; 0 is not asked.",
				schema.Between(0, 150), func(s *scenarios.Settle) *float64 { return &s.MaxTemp }).Or("0"),
			schema.FreeKey("power", "Times the idle power that was seen before the first server.",
				schema.NumberIn(schema.Between(1, 100)), readIdlePower).DefaultNote("not asked"),
			schema.EnumKey("clock", "Of the cores. stable: within 2 % over 3 seconds. idle: at most 1.1 times the "+
				"clock that was seen before the first server; servers that keep the clocks up never get there.",
				[]scenarios.SettleClock{scenarios.ClockStable, scenarios.ClockIdle},
				func(s *scenarios.Settle) *scenarios.SettleClock { return &s.Clock }).DefaultNote("not asked"),
		},
	}
}

func readIdlePower(r *schema.Reader, n *schema.Node, s *scenarios.Settle) {
	if v, ok := r.Number(n, schema.NumberIn(schema.Between(1, 100))); ok {
		s.Power = v
	}
}

func vramBlock() schema.Block[scenarios.VRAM] {
	return schema.Block[scenarios.VRAM]{
		Name: "under vram:", Doc: "Memory of a GPU is compared with what it held before the server's start. " +
			"Other processes are never stopped.",
		Example: "\ntimeout: 10m\ntolerance: 1GiB\nforeign: wait\n",
		Fields: []schema.Field[scenarios.VRAM]{
			schema.DurationKey("timeout", "From the end of the processes until memory is back.",
				func(v *scenarios.VRAM) *time.Duration { return &v.Timeout }).
				DefaultNote("2m, on AMD 15m"),
			schema.SizeKey("tolerance", "Above the former use that counts as back.",
				func(v *scenarios.VRAM) *int64 { return &v.Tolerance }).
				DefaultNote("the larger of 512MiB and 1 % of the memory"),
			schema.EnumKey("foreign", "Memory that somebody else holds on GPUs of a server: report it and go on, "+
				"wait for timeout and then as refuse, or refuse: "+
				"the variant's steps fail.", []scenarios.ForeignHolders{
				scenarios.ForeignReport, scenarios.ForeignWait,
				scenarios.ForeignRefuse,
			},
				func(v *scenarios.VRAM) *scenarios.ForeignHolders { return &v.Foreign }).
				Or(string(scenarios.ForeignReport)),
		},
	}
}

// otherClasses stands in retries: for every class that is not named.
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
