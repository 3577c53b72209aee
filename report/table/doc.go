// Package table is the one model of tables in reports, and its forms.
//
// Tables and the pieces of text around them go in; lines for a terminal of
// some width, or Markdown, come out. It computes no figure and knows nothing
// of runs.
package table
