package results

// Manifest is manifest.json: what a run set out to do, written when it starts
// and never changed.
type Manifest struct {
	Format         int       `json:"format_version"`
	Bench          string    `json:"bench_version"`
	Scenario       string    `json:"scenario"` // its name
	Description    string    `json:"description"`
	Run            string    `json:"run_id"`
	StartedAt      string    `json:"started_at"` // RFC 3339, wall clock; a label only
	Simulated      bool      `json:"simulated"`  // at least one variant runs on the simulator
	Sets           []string  `json:"sets"`       // the --set overrides, as given
	ScenarioSHA256 string    `json:"scenario_sha256"`
	PlanSHA256     string    `json:"plan_sha256"`
	Variants       []string  `json:"variants"` // in the order of the scenario; reports keep it
	Points         []string  `json:"points"`
	Planned        []StepRef `json:"planned"` // every step, in the order of the plan
}
