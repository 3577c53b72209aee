package serverlog

import (
	"regexp"
	"strconv"
)

// StartProgress is how far a part of a server's start has come.
type StartProgress struct {
	What        string // in words: "weights", "graph capture"
	Done, Total int
}

// startBar is a progress bar that engines draw while they start.
type startBar struct {
	what    string
	pattern *regexp.Regexp // its last two groups are done and total
}

func startBars() []startBar {
	bar := func(what, title string) startBar {
		return startBar{what, regexp.MustCompile(title + `[^|]*\|(?:[^|]*\|)? *(\d+)/(\d+)`)}
	}
	return []startBar{
		bar("weights", `Loading [a-zA-Z -]*checkpoint shards: +\d+%`),
		bar("weights", `(?:Multi-thread|Parallel) loading [a-z ]*shards: +\d+%`),
		bar("graph capture", `Capturing (?:CUDA|HIP|cuda|hip) graphs?[^:|]*: +\d+%`),
		bar("graph capture", `Capturing batches[^:|]*: +\d+%`),
		bar("download", `Fetching \d+ files: +\d+%`),
	}
}

// startPatterns are compiled once.
var startPatterns = startBars()

// ProgressOf reads a line of a server's log; false where it tells no progress
// of a start.
func ProgressOf(line string) (StartProgress, bool) {
	for _, b := range startPatterns {
		groups := b.pattern.FindStringSubmatch(line)
		if groups == nil {
			continue
		}
		done, err1 := strconv.Atoi(groups[1])
		total, err2 := strconv.Atoi(groups[2])
		if err1 != nil || err2 != nil || total <= 0 || done > total {
			continue
		}
		return StartProgress{What: b.what, Done: done, Total: total}, true
	}
	return StartProgress{}, false
}
