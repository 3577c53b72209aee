package chart

// classKeys say what the looks of spans stand for.
type classKeys struct{ rows [][]Class }

const keySize length = 12

// newClassKeys are those of the classes in use; none where only slots are.
func newClassKeys(lanes []Lane, width length) classKeys {
	used := map[Class]bool{}
	for _, lane := range lanes {
		for _, s := range lane.Spans {
			used[s.Class] = s.Class != Plain
		}
	}

	var k classKeys
	at := width
	for _, class := range []Class{Good, Doubtful, Bad, Skipped, Busy, Starting, Serving, Stopping, Hook} {
		if !used[class] {
			continue
		}
		if at+class.keyWidth() > width {
			k.rows, at = append(k.rows, nil), 0
		}
		k.rows[len(k.rows)-1] = append(k.rows[len(k.rows)-1], class)
		at += class.keyWidth()
	}

	return k
}

func (c Class) keyWidth() length { return keySize + 6 + textWidth(string(c), textSize) + entryGap }

func (k classKeys) height() length { return rowSize * length(len(k.rows)) }

func (k classKeys) draw(c *canvas, left, top length) {
	for i, row := range k.rows {
		x, y := left, top-rowSize*length(i)-rowSize/2
		for _, class := range row {
			fill, pattern := Span{Class: class}.fill()
			shape := box(x, y-keySize/2, x+keySize, y+keySize/2)
			c.fill(fill, shape)
			if pattern {
				c.patterned(string(class), shape)
			}
			c.text(point{X: x + keySize + 6, Y: y - 4}, "start", "", string(class))
			x += class.keyWidth()
		}
	}
}
