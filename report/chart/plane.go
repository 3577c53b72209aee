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

func (r rectangle) center() point { return point{X: r.X(0.5), Y: r.Y(0.5)} }

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

// border is one side of a rectangle, as how far inside of it a point lies.
type border func(point) length

func (r rectangle) borders() []border {
	return []border{
		func(p point) length { return r.Max.X - p.X },
		func(p point) length { return p.X - r.Min.X },
		func(p point) length { return p.Y - r.Min.Y },
		func(p point) length { return r.Max.Y - p.Y },
	}
}

// crossing is where the line between two points, one on each side, meets the
// border.
func (b border) crossing(p, q point) point {
	share := b(p) / (b(p) - b(q))
	return point{X: p.X + share*(q.X-p.X), Y: p.Y + share*(q.Y-p.Y)}
}

// clipLines returns the parts of lines inside the rectangle.
func (r rectangle) clipLines(lines [][]point) [][]point {
	for _, b := range r.borders() {
		var inside [][]point
		for _, line := range lines {
			inside = append(inside, b.clipLine(line)...)
		}
		lines = inside
	}
	return lines
}

func (b border) clipLine(line []point) (parts [][]point) {
	var part []point
	for i, p := range line {
		holds := b(p) >= 0
		if i > 0 && holds != (b(line[i-1]) >= 0) {
			part = append(part, b.crossing(line[i-1], p))
		}
		if holds {
			part = append(part, p)
		}
		if len(part) > 1 && (!holds || i == len(line)-1) {
			parts = append(parts, part)
		}
		if !holds {
			part = nil
		}
	}
	return parts
}

// clipPolygon returns the part of a polygon inside the rectangle.
func (r rectangle) clipPolygon(corners []point) []point {
	for _, b := range r.borders() {
		var inside []point
		for i, p := range corners {
			next := corners[(i+1)%len(corners)]
			if b(p) >= 0 {
				inside = append(inside, p)
			}
			if (b(p) >= 0) != (b(next) >= 0) {
				inside = append(inside, b.crossing(p, next))
			}
		}
		corners = inside
	}
	return corners
}
