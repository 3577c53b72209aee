package simengine

import (
	"math"
	"math/rand/v2"
	"testing"
)

// vLLM before V1 counts as accepted whatever the target agrees with, and emits
// what is before the first rejected token. The document's 0.797 of accepted
// tokens with k = 5 go with a system efficiency of 0.640; independent positions
// come to 0.61.
func TestAcceptanceBeforeV1(t *testing.T) {
	const rate, k, drafts = 0.797, 5, 20_000
	rates := []float64{rate, rate, rate, rate, rate}
	r := rand.New(rand.NewPCG(1, 2))
	keptAll, agreedAll := 0, 0
	for range drafts {
		kept, agreed := acceptAll(r, rates, k)
		if kept > agreed {
			t.Fatalf("acceptAll: %d kept of %d that the target agrees with", kept, agreed)
		}
		keptAll, agreedAll = keptAll+kept, agreedAll+agreed
	}
	near := func(name string, got, want float64) {
		if math.Abs(got-want) > 0.02 {
			t.Errorf("%s = %.3f, want %.3f", name, got, want)
		}
	}
	near("acceptance", float64(agreedAll)/(drafts*k), rate)
	near("system efficiency", float64(keptAll+drafts)/(drafts*(k+1)), (1-math.Pow(rate, k+1))/(1-rate)/(k+1))
	near("kept", float64(keptAll)/drafts, rate*(1-math.Pow(rate, k))/(1-rate))
	if kept, agreed := acceptAll(r, []float64{1, 1, 1}, 3); kept != 3 || agreed != 3 {
		t.Errorf("sure drafts: %d kept, %d agreed, want 3 and 3", kept, agreed)
	}
	if kept, agreed := acceptAll(r, []float64{0, 1, 1}, 3); kept != 0 || agreed != 2 {
		t.Errorf("the first is rejected: %d kept, %d agreed, want 0 and 2", kept, agreed)
	}
}
