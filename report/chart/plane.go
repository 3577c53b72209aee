package chart

// length is in units of the view box, and so are coordinates, which go to the
// right and up.
type length float64

type point struct{ X, Y length }

type rectangle struct{ Min, Max point }

// X is the coordinate of a share of the width.
func (r rectangle) X(share float64) length { return r.Min.X + length(share)*(r.Max.X-r.Min.X) }

// Y is the coordinate of a share of the height.
func (r rectangle) Y(share float64) length { return r.Min.Y + length(share)*(r.Max.Y-r.Min.Y) }

// path is what is stroked or filled, one step after the other.
type path []step

type step struct {
	kind   stepKind
	at     point
	radius length // of a ring around at
}

type stepKind int

const (
	moveStep stepKind = iota
	lineStep
	ringStep
	closeStep
)

func (p *path) move(to point)                    { *p = append(*p, step{kind: moveStep, at: to}) }
func (p *path) line(to point)                    { *p = append(*p, step{kind: lineStep, at: to}) }
func (p *path) ring(around point, radius length) { *p = append(*p, step{ringStep, around, radius}) }
func (p *path) close()                           { *p = append(*p, step{kind: closeStep}) }

// lines goes to the first point and from one to the next.
func (p *path) lines(points []point) {
	for i, pt := range points {
		if i == 0 {
			p.move(pt)
			continue
		}
		p.line(pt)
	}
}

// polygon is a closed path.
func polygon(points []point) path {
	var p path
	p.lines(points)
	p.close()
	return p
}
