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
	// steps that can be needed, where rounds measure some of the variants; 0: all, or not known
	MostSteps int `json:"most_steps,omitempty"`

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
	Blame    *BlamePolicy   `json:"blame,omitempty"`     // null: the variants are those of the scenario
	Bisect   *BisectPolicy  `json:"bisect,omitempty"`    // null: every variant has all repeats
}

// FailuresAreResults reports whether steps that fail say something of their
// variants that the run wants to know: it succeeds as long as others were measured.
func (m Manifest) FailuresAreResults() bool {
	return m.Tune != nil || m.Blame != nil || m.Bisect != nil
}

// Reproduces says that a run repeats an earlier one, to see whether its figures
// hold.
type Reproduces struct {
	Source   string   `json:"source"`        // name of the bundle, folder or file that it was read from
	SHA256   string   `json:"source_sha256"` // of a file; "": a folder
	Bench    string   `json:"bench_version"` // of the earlier run
	Scenario string   `json:"scenario"`
	Run      string   `json:"run_id"`
	Steps    []string `json:"only_steps"` // ids, where not all are repeated; null: all
	Derived  bool     `json:"derived"`    // the scenario was made of a result.json alone
}

// IdentityName is the file of a run folder that says by what a run is the same
// experiment when it continues later. It is written once.
const IdentityName = "identity.json"

// Identity is identity.json.
type Identity struct {
	// absolute; relative paths in the scenario start from its folder
	ScenarioPath string `json:"scenario_path"`
	// scenario.yaml or the overrides had secrets in the clear, which are "***" now
	SecretsInFile bool              `json:"secrets_in_file"`
	Bench         string            `json:"bench_version"`
	Kernel        string            `json:"kernel"`
	Drivers       map[string]string `json:"drivers"` // of GPUs, by vendor
	GPUs          []string          `json:"gpus"`    // ids of the devices
	// programs, models and other files that the servers' arguments name, by path
	Files []FileIdentity `json:"files"`
}

// FileIdentity distinguishes a version of a file or folder from another without
// reading all of a model.
type FileIdentity struct {
	Path     string `json:"path"`
	Bytes    int64  `json:"bytes"`    // of a folder: the sum of the files in it
	Modified string `json:"modified"` // RFC 3339; of a folder: the newest file in it
	// SHA-256, hex, of the first and the last MiB; of a folder: of the names, sizes and ends of its files
	Ends string `json:"ends"`
}

// Engine is who answered as a variant's server.
type Engine struct {
	Variant  string `json:"variant"`
	Launcher string `json:"launcher"`
	Model    string `json:"model"`   // as the server names it
	Version  string `json:"version"` // as the server says; "" if it does not

	Image string `json:"image,omitempty"` // id of its container's image; "": it has none, or it is not known
}
