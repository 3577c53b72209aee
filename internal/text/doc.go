// Package text formats what messages say: shortened quotes, numbers with
// units. It takes values and gives strings; it reads and writes nothing.
package text
