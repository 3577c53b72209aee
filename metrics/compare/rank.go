package compare

import (
	"math"
	"slices"
)

// exactRanks is the number of values up to which the distribution of a rank sum
// is counted out.
const exactRanks = 60

// rankTest is the two-sided p of the Mann-Whitney U test (Wilcoxon's rank sum),
// exact with ties too: twice the share of all ways to deal the ranks to the arms
// that give a sum at least as far out on the side of the one seen, at most 1.
// For many values it is the normal approximation, corrected for ties.
func rankTest(a, b []float64) float64 {
	ranks := doubledRanks(slices.Concat(a, b))
	seen := 0
	for _, r := range ranks[:len(a)] {
		seen += r
	}
	if len(ranks) > exactRanks {
		return normalRankTest(ranks, len(a), seen)
	}

	ways := waysToDeal(ranks, len(a))
	all, below, above := 0.0, 0.0, 0.0
	for sum, n := range ways {
		all += n
		if sum <= seen {
			below += n
		}
		if sum >= seen {
			above += n
		}
	}
	return min(1, 2*min(below, above)/all)
}

// doubledRanks are twice the ranks, which are whole numbers with ties too.
func doubledRanks(values []float64) []int {
	order := make([]int, len(values))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int {
		switch {
		case values[i] < values[j]:
			return -1
		case values[i] > values[j]:
			return 1
		}
		return 0
	})

	ranks := make([]int, len(values))
	for from := 0; from < len(order); {
		to := from + 1
		for to < len(order) && values[order[to]] == values[order[from]] {
			to++
		}
		for _, i := range order[from:to] {
			ranks[i] = from + 1 + to // twice the mean of from+1 ... to
		}
		from = to
	}
	return ranks
}

// waysToDeal counts the choices of n ranks by their sum.
func waysToDeal(ranks []int, n int) []float64 {
	total := 0
	for _, r := range ranks {
		total += r
	}

	ways := make([][]float64, n+1) // by how many are chosen, by their sum
	for i := range ways {
		ways[i] = make([]float64, total+1)
	}
	ways[0][0] = 1

	reached := 0 // the largest sum of those seen
	for seen, r := range ranks {
		reached += r
		least := max(1, n-(len(ranks)-seen-1)) // with all that are left
		for chosen := min(seen+1, n); chosen >= least; chosen-- {
			for sum := reached; sum >= r; sum-- {
				ways[chosen][sum] += ways[chosen-1][sum-r]
			}
		}
	}

	return ways[n]
}

// normalRankTest is the approximation for many values.
func normalRankTest(ranks []int, n, seen int) float64 {
	mean, square := 0.0, 0.0
	for _, r := range ranks {
		mean += float64(r) / float64(len(ranks))
	}
	for _, r := range ranks {
		square += (float64(r) - mean) * (float64(r) - mean)
	}
	m, all := float64(n), float64(len(ranks))
	variance := m * (all - m) / (all * (all - 1)) * square
	if variance == 0 {
		return 1
	}
	const half = 1.0 // of a doubled rank, for continuity
	z := max(0, math.Abs(float64(seen)-m*mean)-half) / math.Sqrt(variance)
	return min(1, math.Erfc(z/math.Sqrt2))
}
