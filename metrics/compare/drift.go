package compare

import "math"

// Drift says whether a figure moved with the order in which an arm's lives
// ran, whatever ran between them.
type Drift struct {
	N       int      `json:"n"`
	Tau     *float64 `json:"tau"` // Kendall's tau-a of order against value; null with fewer than four values
	P       *float64 `json:"p"`   // exact, two-sided
	Drifted bool     `json:"drifted"`
}

const (
	enoughForDrift = 4
	// mostExact is the largest sample whose orders are counted; beyond it the
	// normal approximation is as good.
	mostExact = 50
)

// driftOf tests an arm at a rate of false alarms of alpha. Ties count half.
func driftOf(a Sample, alpha float64) Drift {
	n := len(a.Values)
	d := Drift{N: n}
	if n < enoughForDrift {
		return d
	}

	score, pairs := 0, n*(n-1)/2
	for i := range n {
		for j := i + 1; j < n; j++ {
			switch {
			case a.Values[j] > a.Values[i]:
				score++
			case a.Values[j] < a.Values[i]:
				score--
			}
		}
	}

	d.Tau, d.P = new(float64(score)/float64(pairs)), new(kendallP(n, score))
	d.Drifted = *d.P < alpha
	return d
}

// kendallP is the chance that an order drawn at random has a score as far from
// 0, by counting orders by their number of inversions.
func kendallP(n, score int) float64 {
	if n > mostExact {
		variance := float64(n*(n-1)*(2*n+5)) / 18
		return math.Erfc(math.Abs(float64(score)) / math.Sqrt(2*variance))
	}

	share := []float64{1} // by inversions, as a share of all orders
	for k := 2; k <= n; k++ {
		next := make([]float64, k*(k-1)/2+1)
		for inversions, s := range share {
			for add := range k {
				next[inversions+add] += s / float64(k)
			}
		}
		share = next
	}

	pairs, total := n*(n-1)/2, 0.0
	for inversions, s := range share {
		if abs(pairs-2*inversions) >= abs(score) {
			total += s
		}
	}

	return min(1, total)
}

func abs(x int) int { return max(x, -x) }
