// Package mixture puts the prompts of a load's classes into one list.
//
// What goes in: the kinds of request with their shares, a set of prompts for
// each class, a seed. What comes out: the order of the kinds, and one set in this
// order, the same on every machine. It makes no prompts and sends nothing.
package mixture

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/benchrig/bench/dataset"
	"github.com/benchrig/bench/dataset/prng"
	"github.com/benchrig/bench/load/spec"
)

// stream distinguishes the draws of a mixture from others with the same seed.
const stream = 0x6d69787475726573

// orderOf is which kind of request each of n is, as an index of kinds. Each kind
// has its share of n, rounded so that the numbers add up; the seed decides about
// the order.
func orderOf(kinds []spec.Kind, n int, seed uint64) []int {
	order := make([]int, 0, n)
	for kind, count := range spec.Counts(kinds, n) {
		order = append(order, slices.Repeat([]int{kind}, count)...)
	}
	prng.NewPython(seed^stream).Shuffle(n, func(i, j int) { order[i], order[j] = order[j], order[i] })
	return order
}

// RoundRobin is an order of n requests in which each kind has its turn.
func RoundRobin(kinds []spec.Kind, n int) []int {
	order := make([]int, n)
	for i := range order {
		order[i] = i % len(kinds)
	}
	return order
}

// Whole are the prompts of n requests in the order that the seed decides. An error
// says that a class has too few.
func Whole(kinds []spec.Kind, n int, seed uint64, sets []*dataset.Set) (*dataset.Set, error) {
	all := Merge(kinds, orderOf(kinds, n, seed), sets)
	if len(all.Prompts) < n {
		return nil, fmt.Errorf("the datasets have prompts for %d of %d requests", len(all.Prompts), n)
	}
	return all, nil
}

// Merge lists prompts in an order of kinds: each request gets the next one of its
// class. sets are those of the classes, or the only one. Requests whose class has
// no prompts left are left out. Of several sets the times of traces are dropped:
// each has its own.
func Merge(kinds []spec.Kind, order []int, sets []*dataset.Set) *dataset.Set {
	sum := sha256.New()
	fmt.Fprintln(sum, "bench mixture 1")
	out := &dataset.Set{Prompts: make([]dataset.Prompt, 0, len(order))}
	for _, set := range sets {
		fmt.Fprintln(sum, set.SHA256)
		for _, note := range set.Notes {
			if !slices.Contains(out.Notes, note) {
				out.Notes = append(out.Notes, note)
			}
		}
	}

	if len(sets) == 1 {
		out.NumpyDrawn = sets[0].NumpyDrawn
	}

	next := make([]int, len(sets))
	for _, kind := range order {
		k := kinds[kind]
		at := max(k.Class-1, 0)
		if next[at] == len(sets[at].Prompts) {
			continue
		}
		p := sets[at].Prompts[next[at]]
		p.Class, p.Adapter = k.Class, k.Adapter
		if len(sets) > 1 {
			p.At = nil
		}
		next[at]++
		out.Prompts = append(out.Prompts, p)
		fmt.Fprintf(sum, "%d %s\n", k.Class, k.Adapter)
	}

	out.SHA256 = hex.EncodeToString(sum.Sum(nil))
	return out
}
