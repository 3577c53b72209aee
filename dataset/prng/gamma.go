package prng

import "math"

// Gamma is np.random.gamma(shape, scale), with mean shape*scale. vLLM's client
// draws the gap before each request from it: shape is the burstiness.
func (n *Numpy) Gamma(shape, scale float64) float64 {
	switch {
	case shape == 0:
		return 0
	case shape == 1:
		return scale * n.standardExponential()
	case shape < 1:
		return scale * n.gammaBelowOne(shape)
	default:
		return scale * n.gammaAboveOne(shape)
	}
}

// gammaBelowOne is Ahrens and Dieter's rejection method.
func (n *Numpy) gammaBelowOne(shape float64) float64 {
	for {
		u, e := n.mt.float64(), n.standardExponential()
		if u <= 1-shape {
			if x := math.Pow(u, 1/shape); x <= e {
				return x
			}
			continue
		}
		y := -math.Log((1 - u) / shape)
		if x := math.Pow(1-shape+shape*y, 1/shape); x <= e+y {
			return x
		}
	}
}

// gammaAboveOne is Marsaglia and Tsang's method.
func (n *Numpy) gammaAboveOne(shape float64) float64 {
	d := shape - 1.0/3
	c := 1 / math.Sqrt(9*d)
	for {
		x := n.standardNormal()
		v := 1 + c*x
		if v <= 0 {
			continue
		}
		v = v * v * v
		u := n.mt.float64()
		if u < 1-0.0331*(x*x)*(x*x) || math.Log(u) < 0.5*x*x+d*(1-v+math.Log(v)) {
			return d * v
		}
	}
}
