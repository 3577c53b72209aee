package blame

import "math"

// column is a term of a linear model, with its value for each row of the data.
type column []float64

// fit is a linear model by least squares. Columns that follow from those before
// them are not in it.
type fit struct {
	in       []int       // columns of the model, as indices into those given
	beta     []float64   // coefficients of these
	inverse  [][]float64 // of the triangular factor, from which variances follow
	residual float64     // sum of squares
	freedom  int
	aliases  map[int][]float64 // columns that are not in the model, as sums of those that are
}

// negligible is the part of a column's length below which it is a sum of others.
const negligible = 1e-9

// leastSquares fits a model of all columns that can be told apart, earlier ones
// first, to y.
func leastSquares(columns []column, y []float64) fit {
	f := fit{aliases: map[int][]float64{}}
	var basis []column     // orthonormal
	var factor [][]float64 // the model's columns in terms of the basis
	for i, c := range columns {
		rest, parts := project(c, basis)
		if length := norm(rest); length > negligible*math.Max(1, norm(c)) {
			basis = append(basis, scale(rest, 1/length))
			factor = append(factor, append(parts, length))
			f.in = append(f.in, i)
			continue
		}
		f.aliases[i] = parts
	}

	f.invert(factor)
	rest, parts := project(y, basis)
	f.beta = f.solve(parts)
	f.residual, f.freedom = norm(rest)*norm(rest), len(y)-len(basis)
	for i, parts := range f.aliases {
		f.aliases[i] = f.solve(append(parts, make([]float64, len(basis)-len(parts))...))
	}
	return f
}

// project takes the parts of c along the basis out of it.
func project(c column, basis []column) (rest column, parts []float64) {
	rest = append(column{}, c...)
	parts = make([]float64, len(basis))
	for range 2 { // once more takes out what rounding has left
		for k, b := range basis {
			part := dot(rest, b)
			parts[k] += part
			for row := range rest {
				rest[row] -= part * b[row]
			}
		}
	}
	return rest, parts
}

// invert inverts the triangular factor, which holds a row for each column.
func (f *fit) invert(factor [][]float64) {
	n := len(factor)
	f.inverse = make([][]float64, n)
	for j := n - 1; j >= 0; j-- {
		f.inverse[j] = make([]float64, n)
		f.inverse[j][j] = 1 / factor[j][j]
	}
	for j := range n { // column j of the inverse, from its diagonal upwards
		for i := j - 1; i >= 0; i-- {
			sum := 0.0
			for k := i + 1; k <= j; k++ {
				sum += factor[k][i] * f.inverse[k][j]
			}
			f.inverse[i][j] = -sum / factor[i][i]
		}
	}
}

// solve gives coefficients of the model's columns for parts along the basis.
func (f *fit) solve(parts []float64) []float64 {
	out := make([]float64, len(f.inverse))
	for i, row := range f.inverse {
		out[i] = dot(row, parts)
	}
	return out
}

// estimate is a sum of coefficients, each with a weight, and its standard error
// for errors of deviation 1.
func (f *fit) estimate(weights []float64) (value, se float64) {
	variance := 0.0
	for j := range f.inverse {
		part := 0.0
		for i, w := range weights {
			part += w * f.inverse[i][j]
		}
		variance += part * part
	}
	return dot(weights, f.beta), math.Sqrt(variance)
}

func dot(a, b []float64) (sum float64) {
	for i := range a {
		sum += a[i] * b[i]
	}
	return sum
}

func norm(c column) float64 { return math.Sqrt(dot(c, c)) }

func scale(c column, by float64) column {
	out := make(column, len(c))
	for i := range c {
		out[i] = c[i] * by
	}
	return out
}
