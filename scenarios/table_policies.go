package scenarios

import (
	"slices"
	"time"
)

// policyFields are the top-level keys that say how a run looks after itself.
func policyFields() []field[Scenario] {
	return []field[Scenario]{
		freeKey("retries", "Further attempts of a failed step, as a number or by failure class, where \"other\" is every class that is not named. "+
			"Every attempt stays visible.", oneOf(wholeIn(between(0, 100)), mapOf(wholeIn(between(0, 100)))), readRetries).or("0"),
		blockKey("deadlines", "Limits in time; 0 is none.", deadlinesBlock(), func(s *Scenario) *Scenario { return s }),
		blockKey("watchdog", "Limits of the time without progress.", watchdogBlock(), func(s *Scenario) *Watchdog { return &s.Watchdog }),
		blockKey("disk", "What a run may fill.", diskBlock(), func(s *Scenario) *Disk { return &s.Disk }),
		telemetryField(),
		blockKey("settle", "Wait before each step until its GPUs are calm.", settleBlock(), func(s *Scenario) *Settle { return &s.Settle }),
		blockKey("vram", "Proof that a server's video memory is free again.", vramBlock(), func(s *Scenario) *VRAM { return &s.VRAM }),
		blockKey("hooks", "Commands and HTTP calls around the run, every server life, every step.", levelsBlock(), func(s *Scenario) *LevelHooks { return &s.Hooks }),
		listKey("checks", "Conditions of the box that are looked at before the run.", checkBlock(), beginCheck, func(s *Scenario) *[]Check { return &s.Checks }),
		listKey("notify", "Whom to tell how the run goes.", notifyBlock(), func(n *Notify, pos Pos) { n.Pos = pos }, func(s *Scenario) *[]Notify { return &s.Notify }),
	}
}

func watchdogBlock() block[Watchdog] {
	return block[Watchdog]{
		name: "under watchdog:", doc: "A server that hangs often still answers its health check. What counts is tokens.", example: "\nstall: 10m\n",
		fields: []field[Watchdog]{
			durationKey("stall", "Longest time without a token of any request of a pass while some are outstanding; 0 is off.",
				func(w *Watchdog) *time.Duration { return &w.Stall }).or("5m"),
		},
	}
}

func diskBlock() block[Disk] {
	return block[Disk]{
		name: "under disk:", doc: "A full disk ends a run cleanly before it is full.", example: "\nmin-free: 20GiB\nmax-log: 1GiB\n",
		fields: []field[Disk]{
			sizeKey("min-free", "Must stay free where the results lie; 0 is not watched.", func(d *Disk) *int64 { return &d.MinFree }).or("1GiB"),
			sizeKey("max-log", "Kept of one server's log, its head and its end; 0 is all.", func(d *Disk) *int64 { return &d.MaxLog }).or("256MiB"),
		},
	}
}

// minPeriod is the shortest time between two looks at the GPUs: reading them
// more often disturbs what is measured.
const minPeriod = 50 * time.Millisecond

// Samplers are the names of package gpu's samplers.
func Samplers() []string {
	return []string{"auto", "nvml", "nvidia-smi", "sysfs", "amd-smi", "rocm-smi"}
}

func telemetryBlock() block[Telemetry] {
	reactions := []Reaction{ReactIgnore, ReactSuspect, ReactRepeat}
	return block[Telemetry]{
		name: "under telemetry:", doc: "How GPUs and host are sampled while a pass runs. In place of the block, off leaves it out.",
		example: "\nsampler: nvidia-smi\nperiod: 500ms\non-throttle: repeat\n",
		fields: []field[Telemetry]{
			enumKey("sampler", "Where readings come from; auto takes the best that works.", Samplers(), func(t *Telemetry) *string { return &t.Sampler }).or("auto"),
			freeKey("period", "Between two readings, at least 50ms.", simple(durationShape), readPeriod).elseNote("the sampler's own"),
			enumKey("on-throttle", "A step under throttling, or under another power limit than the first: record it, call the step suspect, or repeat it within retries.",
				reactions, func(t *Telemetry) *Reaction { return &t.OnThrottle }).or(string(ReactSuspect)),
			enumKey("on-foreign", "The same for a step during which somebody else used its GPUs.",
				reactions, func(t *Telemetry) *Reaction { return &t.OnForeign }).or(string(ReactSuspect)),
		},
	}
}

func telemetryField() field[Scenario] {
	b := telemetryBlock()
	f := freeKey("telemetry", "Sampling of GPUs and host; off for none.", oneOf(enumOf("off"), blockOf(b.info())),
		func(r *reader, n *node, s *Scenario) {
			if n.kind == text {
				_, s.Telemetry.Off = r.enum(n, enumOf("off"))
				return
			}
			decode(r, b, n, &s.Telemetry)
		})
	f.always = true
	return f
}

func readPeriod(r *reader, n *node, t *Telemetry) {
	d, ok := r.duration(n)
	if ok && d < minPeriod {
		r.fail(n.pos, "period is %s, expected at least %s: reading GPUs more often disturbs what is measured", n.shown(), minPeriod)
		return
	}
	t.Period = d
}

func settleBlock() block[Settle] {
	return block[Settle]{
		name: "under settle:", doc: "Without a timeout nothing is waited for. When it has passed, the step runs with a warning.",
		example: "\ntimeout: 10m\nmax-temperature: 55\npower: 1.3\nclock: stable\n",
		fields: []field[Settle]{
			durationKey("timeout", "Longest wait; 0 is none.", func(s *Settle) *time.Duration { return &s.Timeout }).or("0"),
			numberKey("max-temperature", "Degrees Celsius of the hottest sensor; 0 is not asked.", between(0, 150), func(s *Settle) *float64 { return &s.MaxTemp }).or("0"),
			freeKey("power", "Times the idle power that was seen before the first server.", numberIn(between(1, 100)), readIdlePower).elseNote("not asked"),
			enumKey("clock", "Of the cores. stable: within 2 % over 3 seconds. idle: at most 1.1 times the clock that was seen before the first server; servers that keep the clocks up never get there.",
				[]SettleClock{ClockStable, ClockIdle}, func(s *Settle) *SettleClock { return &s.Clock }).elseNote("not asked"),
		},
	}
}

func readIdlePower(r *reader, n *node, s *Settle) {
	if v, ok := r.number(n, numberIn(between(1, 100))); ok {
		s.Power = v
	}
}

func vramBlock() block[VRAM] {
	return block[VRAM]{
		name: "under vram:", doc: "Memory of a GPU is compared with what it held before the server's start. Processes of others are never ended.",
		example: "\ntimeout: 10m\ntolerance: 1GiB\nforeign: wait\n",
		fields: []field[VRAM]{
			durationKey("timeout", "From the end of the processes until memory is back.", func(v *VRAM) *time.Duration { return &v.Timeout }).
				elseNote("2m, on AMD 15m"),
			sizeKey("tolerance", "Above the former use that counts as back.", func(v *VRAM) *int64 { return &v.Tolerance }).
				elseNote("the larger of 512MiB and 1 % of the memory"),
			enumKey("foreign", "Memory that somebody else holds on GPUs of a server: report it and go on, wait for timeout and then as refuse, or refuse: "+
				"the variant's steps fail.", []ForeignHolders{ForeignReport, ForeignWait, ForeignRefuse},
				func(v *VRAM) *ForeignHolders { return &v.Foreign }).or(string(ForeignReport)),
		},
	}
}

// otherClasses stands in retries: for every class that is not named.
const otherClasses = "other"

// FailureClasses are the classes that retries: may name: those of package
// results, which this package does not import.
func FailureClasses() []string {
	return []string{
		"auth", "bad-recipe", "binary-not-found", "canceled", "changed", "compile-cache", "connect", "container-engine",
		"container-image", "context-too-small", "dataset", "deadline", "disk", "disturbed", "download-failed", "earlier-failure",
		"engine-died", "fatal-log-line", "first-token-timeout", "foreign-gpu-holder", "foreign-listener", "gated-model", "gpu-error",
		"hook-failed", "http-status", "in-band-error", "internal", "interrupted", "kv-cache-too-small", "load-agent",
		"model-not-loadable", "no-progress", "no-tokens", "node", "not-enough-gpus", "not-needed", "not-stopped", "out-of-memory",
		"passes-differ", "port-in-use", "previous-server-freeing", "protocol", "pruned", "ready-stall", "ready-timeout",
		"requests-failed", "server-exited", "server-restarted", "shm-full", "skipped-by-user", "smoke-failed", "stall-timeout",
		"total-timeout", "transport", "truncated", "unclassified", "unsupported-flag", "wrong-model",
	}
}

func readRetries(r *reader, n *node, s *Scenario) {
	each := wholeIn(between(0, 100))
	if n.kind != mapping {
		if n.kind != number {
			r.wrong(n, oneOf(each, mapOf(each)))
			return
		}
		if v, ok := r.whole(n, each); ok {
			s.Retries = int(v)
		}
		return
	}
	known := append(FailureClasses(), otherClasses)
	s.RetriesFor = map[string]int{}
	for _, p := range n.pairs {
		if !slices.Contains(known, p.key) {
			r.fail(p.pos, "%q is no failure class%s", p.key, didYouMean(p.key, known))
			continue
		}
		r.path = append(r.path, p.key)
		v, ok := r.whole(p.value, each)
		r.path = r.path[:len(r.path)-1]
		switch {
		case ok && p.key == otherClasses:
			s.Retries = int(v)
		case ok:
			s.RetriesFor[p.key] = int(v)
		}
	}
}

// RetriesOf is how many further attempts a failure of a class gives a step.
func (s *Scenario) RetriesOf(class string) int {
	if n, ok := s.RetriesFor[class]; ok {
		return n
	}
	return s.Retries
}
