package hooks

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/internal/userfile"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/scenarios"
)

// maxScoreFile bounds the file that a score is read from, in bytes.
const maxScoreFile = 64 << 20

// Evaluate runs the command that measures the quality of a step's servers, in the
// step's variables and BENCH_EVALUATION_DIR, an empty folder that is removed afterwards.
func (r *Runner) Evaluate(ctx context.Context, e scenarios.Evaluation, vars map[string]string,
) *results.CommandScore {
	began := time.Now()
	out := &results.CommandScore{Name: e.Name, Min: e.Min}
	score, said, err := r.score(ctx, e, vars)
	if err == nil {
		out.Score = &score
	} else {
		out.Problem = r.redact(err.Error())
		if said != "" {
			out.Problem += ": " + r.redact(said)
		}
	}
	out.TookS = time.Since(began).Seconds()
	return out
}

// score is the score of a command, and the last lines of what it said.
func (r *Runner) score(ctx context.Context, e scenarios.Evaluation, vars map[string]string) (
	score float64, said string, err error,
) {
	dir, err := os.MkdirTemp("", "bench-evaluation-")
	if err != nil {
		return 0, "", fmt.Errorf("make a folder for the evaluation: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }() // what is left is in the folder of temporary files

	vars = maps.Clone(vars)
	vars["BENCH_EVALUATION_DIR"] = dir
	tail, err := r.output(ctx, command{argv: e.Command, vars: vars, limit: e.Timeout})
	said = lastLines(tail)
	if err != nil {
		return 0, said, err
	}

	if e.File == "" {
		score, err = scoreIn([]byte(text.LastLine(tail)), e.Score)
		return score, said, err
	}
	path, err := newest(dir, e.File)
	if err != nil {
		return 0, said, err
	}
	data, err := userfile.Read(path, maxScoreFile)
	if err != nil {
		return 0, said, err
	}
	if score, err = scoreIn(data, e.Score); err != nil {
		err = fmt.Errorf("%s: %w", filepath.Base(path), err)
	}
	return score, said, err
}

// newest is the file of a pattern that was written last. Only the pattern is one:
// the folder's own path may hold any characters.
func newest(dir, pattern string) (path string, err error) {
	names, err := fs.Glob(os.DirFS(dir), filepath.Clean(pattern))
	if err != nil {
		return "", fmt.Errorf("evaluate.file %q: %w", pattern, err)
	}

	var latest time.Time
	for _, name := range names {
		p := filepath.Join(dir, name)
		if info, err := os.Stat(p); err == nil && (path == "" || info.ModTime().After(latest)) {
			path, latest = p, info.ModTime()
		}
	}
	if path == "" {
		return "", fmt.Errorf("the command wrote no file %s into BENCH_EVALUATION_DIR", pattern)
	}
	return path, nil
}

// scoreIn is the number at a path of keys in JSON; a plain number needs no path.
func scoreIn(data []byte, keys []string) (float64, error) {
	var value any
	if err := json.Unmarshal(bytes.TrimSpace(data), &value); err != nil {
		return 0, errors.New("no score: want a number or JSON")
	}

	for i, key := range keys {
		at := strings.Join(keys[:i+1], " > ")
		switch v := value.(type) {
		case map[string]any:
			inner, ok := v[key]
			if !ok {
				return 0, fmt.Errorf("no score: the JSON has no %s", at)
			}
			value = inner
		case []any:
			n, err := strconv.Atoi(key)
			if err != nil || n < 0 || n >= len(v) {
				return 0, fmt.Errorf("no score: %s is not one of the %d items of a list", at, len(v))
			}
			value = v[n]
		default:
			return 0, fmt.Errorf("no score: there is nothing below %s", strings.Join(keys[:i], " > "))
		}
	}

	score, ok := value.(float64)
	if !ok || math.IsInf(score, 0) {
		return 0, fmt.Errorf("no score: %q is not a number", strings.Join(keys, " > "))
	}
	return score, nil
}
