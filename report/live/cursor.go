package live

// at is a cursor on the step that runs, else on the last that has ended.
func (c cursor) at(v View) cursor {
	best, found := c, false
	for r, row := range v.Rows {
		for i, cell := range row.Cells {
			for k, s := range cell {
				switch {
				case v.Now != nil && s.ID == v.Now.StepID, s.State == Running:
					c.row, c.column, c.repeat = r, i, k
					return c
				case s.State != Pending && !found:
					best.row, best.column, best.repeat, found = r, i, k, true
				}
			}
		}
	}

	return best
}

// within keeps the cursor on a step of the matrix.
func (c cursor) within(v View) cursor {
	c.row = max(0, min(c.row, len(v.Rows)-1))
	c.column = max(0, min(c.column, len(v.Columns)-1))
	if len(v.Rows) > 0 && len(v.Columns) > 0 {
		c.repeat = max(0, min(c.repeat, len(v.Rows[c.row].Cells[c.column])-1))
	}
	return c
}

// moved is the cursor after a key; false: the key moves nothing.
func (c cursor) moved(key string, v View) (cursor, bool) {
	switch key {
	case "up", "k":
		c.row--
	case "down", "j":
		c.row++
	case "left", "h":
		if c.repeat--; c.repeat < 0 {
			c.column, c.repeat = c.column-1, v.Repeats
		}
	case "right":
		if len(v.Rows) > 0 && len(v.Columns) > 0 && c.repeat+1 < len(v.Rows[c.row].Cells[c.column]) {
			c.repeat++
		} else if c.column+1 < len(v.Columns) {
			c.column, c.repeat = c.column+1, 0
		}
	case "home":
		c.column, c.repeat = 0, 0
	case "end":
		c.column, c.repeat = len(v.Columns)-1, v.Repeats
	case "pgup":
		c.row -= 10
	case "pgdown":
		c.row += 10
	default:
		return c, false
	}

	if c.column < 0 {
		c.column, c.repeat = 0, 0
	}

	return c.within(v), true
}
