package cluster

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/benchrig/bench/harness/slurm"
	"github.com/benchrig/bench/internal/inside"
	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/results/store"
)

// How jobs fared on a node is in a folder of its own, so that a job need not
// read the rest of the run: a file for each job that failed quickly, and one for the
// last that had a result.
const (
	okName       = "ok"
	failedPrefix = "failed-"
	// quickFailure is within what a job without any result counts against its node:
	// a queue of such jobs would be empty soon.
	quickFailure = 5 * time.Minute
	// badAfter is how many such jobs in a row make a node a bad one.
	badAfter = 2
)

func nodeDir(run, node string) string {
	return filepath.Join(run, filepath.FromSlash(slurm.NodesName), node)
}

// noteFailure notes that a job failed quickly on a node; job tells it apart from
// others there.
func noteFailure(run, node, job, why string) error {
	if strings.ContainsAny(job, "/\x00") {
		return nil
	}
	if err := noteOnNode(run, node, failedPrefix+job, why+"\n"); err != nil {
		return fmt.Errorf("note a failure on %s: %w", node, err)
	}
	return nil
}

// noteSuccess notes that a node works: what failed there before no longer counts.
func noteSuccess(run, node string) error {
	if err := noteOnNode(run, node, okName, ""); err != nil {
		return fmt.Errorf("note a success on %s: %w", node, err)
	}
	return nil
}

// noteOnNode writes a file of a node. A name that cannot be that of a folder is
// passed over.
func noteOnNode(run, node, name, content string) error {
	if node == "" || node != filepath.Base(node) || strings.HasPrefix(node, ".") {
		return nil
	}
	dir := filepath.Join(filepath.FromSlash(slurm.NodesName), node)
	if err := inside.MkdirAll(run, dir); err != nil {
		return err
	}
	return inside.Replace(run, filepath.Join(dir, name), func(w io.Writer) error {
		_, err := io.WriteString(w, content)
		return err
	})
}

// badNodes are the nodes on which the last jobs failed quickly, with the reason. As
// long as no job of the run has had a result, it is one node at most: what fails on
// two of them is the scenario.
func badNodes(run string) map[string]string {
	bad := map[string]string{}
	works := false
	for _, dir := range store.Matching(nodeDir(run, ""), "*") {
		ok, err := os.Lstat(filepath.Join(dir, okName))
		works = works || err == nil

		failed, last := 0, ""
		for _, path := range store.Matching(dir, failedPrefix+"*") {
			info, statErr := os.Lstat(path)
			if statErr != nil || err == nil && info.ModTime().Before(ok.ModTime()) {
				continue
			}
			failed++
			why, _ := store.ReadPlain(path) // "": what cannot be read says nothing
			last = strings.TrimSpace(string(why))
		}
		if failed >= badAfter {
			bad[filepath.Base(dir)] = fmt.Sprintf("%s in a row failed there within %s without a result: %s",
				text.Count(failed, "job"), quickFailure, last)
		}
	}

	if !works && len(bad) > 1 {
		return nil
	}
	return bad
}

func nodesOf(bad map[string]string) []string { return slices.Sorted(maps.Keys(bad)) }

// excludeBad keeps jobs that wait away from nodes on which jobs fail quickly, and
// notes that in the run's journal. Who else submits does it in place of this one.
func (c Cluster) excludeBad(ctx context.Context) error {
	bad := badNodes(c.Folder.Dir())
	if len(bad) == 0 {
		return nil
	}

	return c.asSubmitter(func(whole *store.Folder, journal *store.Journal) error {
		return c.exclude(ctx, whole, journal, bad)
	})
}

// exclude keeps jobs that wait away from bad nodes.
func (c Cluster) exclude(
	ctx context.Context, whole *store.Folder, journal *store.Journal, bad map[string]string,
) error {
	events, err := whole.Events()
	if err != nil {
		return err
	}
	excluded := map[string]bool{}
	for _, e := range events {
		switch {
		case e.Kind == results.JobsSubmitted:
			clear(excluded) // it named those of its time, which may work again
		case e.Kind == results.NodeExcluded && e.Job != nil:
			excluded[e.Job.Node] = true
		}
	}
	fresh := maps.Clone(bad)
	maps.DeleteFunc(fresh, func(node, _ string) bool { return excluded[node] })
	if len(fresh) == 0 {
		return nil
	}

	groups, err := c.submissions()
	if err != nil {
		return err
	}
	if err := c.client.Exclude(ctx, slices.Sorted(maps.Keys(groups)), nodesOf(bad)); err != nil {
		return err
	}

	for _, node := range nodesOf(fresh) {
		fmt.Fprintf(c.Process.Stderr, "node %s gets no more jobs of this run: %s\n", node, fresh[node])
		err := journal.Append(results.Event{
			Kind: results.NodeExcluded, Message: fresh[node], Job: &results.JobEnd{Node: node},
		})
		if err != nil {
			return err
		}
	}
	return nil
}
