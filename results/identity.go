package results

// IdentityName is the file of a run folder that says by what a run is the same
// experiment when it goes on later. It is written once.
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

// FileIdentity tells a version of a file or folder from another without
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
