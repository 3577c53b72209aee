package results

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
