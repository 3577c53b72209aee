package results

// Manifest is manifest.json: what a run set out to do, written when it starts
// and never changed.
type Manifest struct {
	Format         int       `json:"format_version"`
	Bench          string    `json:"bench_version"`
	Scenario       string    `json:"scenario"` // its name
	Description    string    `json:"description"`
	Run            string    `json:"run_id"`
	StartedAt      string    `json:"started_at"`      // RFC 3339, wall clock; a label only
	Simulated      bool      `json:"simulated"`       // at least one variant runs on the simulator
	Sets           []string  `json:"sets"`            // the --set overrides, as given
	ScenarioSHA256 string    `json:"scenario_sha256"` // of scenario.yaml, hex; "": there was none
	PlanSHA256     string    `json:"plan_sha256"`     // of plan.json
	Variants       []string  `json:"variants"`        // in the order of the scenario; reports keep it
	Points         []string  `json:"points"`
	Planned        []StepRef `json:"planned"` // every step, in the order of the plan

	Method string `json:"method"` // "": serving
	// variant that the others are compared to; "": the first
	Baseline string `json:"baseline"`
	// relative, 0.03 for 3 %; null: that of the reports
	SmallestDifference *float64          `json:"smallest_difference"`
	Tables             []string          `json:"tables"` // that reports show beside the usual one
	Sizes              map[string]string `json:"sizes"`  // of the models, by variant, as the scenario says
	Notes              map[string]string `json:"notes"`  // by variant
	// what each job of a cluster carries out; null: the run has no jobs
	Groups []Group          `json:"groups"`
	Price  *Price           `json:"price"`            // of the scenario; null: none
	Prices map[string]Price `json:"prices,omitempty"` // by variant, where it has its own; see PriceOf

	Imported   *Imported   `json:"imported,omitempty"`   // null: bench carried it out
	Reproduces *Reproduces `json:"reproduces,omitempty"` // null: it repeats no other run

	NullTest string         `json:"null_test,omitempty"` // variant that is the baseline once more; "": none
	Search   *SearchPolicy  `json:"search,omitempty"`    // null: the points are those of the scenario
	Repeats  *RepeatsPolicy `json:"repeats,omitempty"`   // null: every repeat is run
	Prune    *PrunePolicy   `json:"prune,omitempty"`     // null: every point is run
	Tune     *TunePolicy    `json:"tune,omitempty"`      // null: every variant has all repeats
}
