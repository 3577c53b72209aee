// Package bundle packs a run folder into one file that can be sent to somebody
// else, reads such a file back, and says what a lone result.json states about how
// to run its step again.
//
// What goes in: a run folder, or the bytes of a bundle, which may come from
// anybody. What comes out: a zip archive with an index of hashes, the same bytes
// for the same folder, without secrets; or its members, checked. It runs
// nothing, and writes nowhere but below the folder that it is given.
package bundle

// IndexName is the member that lists all others.
const IndexName = "bundle.json"

// FormatVersion is that of the index and of what a bundle holds.
const FormatVersion = 1

// Index is bundle.json.
type Index struct {
	Format     int         `json:"bundle_version"`
	Bench      string      `json:"bench_version"` // that packed it
	Scenario   string      `json:"scenario"`
	Run        string      `json:"run_id"`
	Finished   bool        `json:"finished"` // the run had come to its end
	Anonymized bool        `json:"anonymized"`
	Members    []Member    `json:"members"`    // by name; all but the index itself
	LeftOut    []LeftOut   `json:"left_out"`   // what of the folder is not in it
	Redactions []Redaction `json:"redactions"` // what was replaced by "***"
}

// Member is a file of the bundle.
type Member struct {
	Name   string `json:"name"` // as in the run folder
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"` // hex
}

// LeftOut is a file, or a part of one, that the bundle lacks.
type LeftOut struct {
	Name string `json:"name"`
	Why  string `json:"why"`
}

// Redaction says that secrets of a kind were taken out of a member.
type Redaction struct {
	Name  string `json:"name"`
	What  string `json:"what"` // "Hugging Face token", "value of API_KEY"
	Count int    `json:"count"`
}

// Options say what to pack. The zero value packs everything.
type Options struct {
	Bench          string   // version of this program
	WithoutLogs    bool     // no server logs and no bench.log
	WithoutRecords bool     // no records of requests, no telemetry, no server metrics
	Anonymize      bool     // names of users and machines are replaced
	MaxLog         int64    // of a longer log the middle is left out; 0: 16 MiB, before compression
	Secrets        []string // in the clear: never in the bundle, wherever they stand
}

const usualLog = 16 << 20
