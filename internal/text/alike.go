package text

import "regexp"

// passing are the parts of a message that differ from one occurrence to the
// next though its reason is the same: dates, times of day, durations, process
// numbers, addresses in memory, ports of this machine, and folders of server
// starts.
var passing = regexp.MustCompile(`(?i)\b(?:\d{4}-)?\d{2}[-/]\d{2}[ T]\d{2}:\d{2}:\d{2}(?:[.,]\d+)?(?:Z|[+-]\d{2}:?\d{2})?` +
	`|\b\d{1,2}:\d{2}:\d{2}(?:[.,]\d+)?\b` +
	`|\b(?:\d+(?:\.\d+)?(?:ms|us|µs|ns|min|h|m|s))+\b` +
	`|\b\d+(?:\.\d+)? (?:ms|s|min|h|seconds?|minutes?|hours?)\b` +
	`|\b(?:pid|process|tid|thread)[ =:#]*\d+` +
	`|\b0x[0-9a-f]+\b` +
	`|\b(?:127\.0\.0\.1|localhost|\[::1\]|0\.0\.0\.0):\d+` +
	`|\blives/[^/\s]+`)

// Alike reports whether two messages give the same reason: they are equal but
// for times, process numbers, addresses and the like.
func Alike(a, b string) bool {
	return a == b || passing.ReplaceAllString(a, "\x00") == passing.ReplaceAllString(b, "\x00")
}
