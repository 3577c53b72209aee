package table

// Table is a table as text.
type Table struct {
	Columns []Column
	Rows    []Row
	Best    string   // what the mark of the best cells means; "": no cell is marked
	Legend  []string // what the other marks mean
	Keys    []int    // columns repeated in every part of a table that is too wide; nil: the first two and the last
}

// Column is the head of a column.
type Column struct {
	Head, Unit string
	Text       bool // left-aligned
}

// Words is a left-aligned column of text.
func Words(head string) Column { return Column{Head: head, Text: true} }

// Numbers is a right-aligned column in a unit; "": without one.
func Numbers(head, unit string) Column { return Column{Head: head, Unit: unit} }

// Row is one line of a table.
type Row struct {
	Cells    []Cell
	NewGroup bool   // another load point begins
	Unranked bool   // suspect, failed or incomplete, and so never the best
	Failed   bool   // without figures
	Step     string // id of the step that the row is about; "": of none or several
}

// Cell is one field.
type Cell struct {
	Text  string
	Short string // for narrow terminals; "": as Text
	Mark  string // marks that Text begins with; a legend explains them
	Best  bool   // the best of its load point among valid rows
}

// NewRow makes a row of plain fields.
func NewRow(texts ...string) Row {
	var r Row
	for _, s := range texts {
		r.Cells = append(r.Cells, Cell{Text: s})
	}

	return r
}

// Piece is a table with the text around it.
type Piece struct {
	Title    string   // "": it continues the piece before
	Below    bool     // the title is one level below that of an earlier piece
	Intro    []string // before the table
	Table    Table    // without rows: none
	Notes    []string // after it
	Verbatim string   // last, line by line as it is
}
