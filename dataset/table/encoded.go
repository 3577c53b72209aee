package table

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"

	"github.com/parquet-go/parquet-go/format"
)

// pageContent is the unpacked data of a page. A few bytes of it can stand for
// billions of values, of which the library makes all before it counts them.
type pageContent struct {
	header *format.PageHeader
	levels levels

	repetition, definition []byte // of pages of the second form, in which they stand before the data
	data                   []byte
}

// plainDictionary is what files of the format's first years say.
const plainDictionary format.Encoding = 2

var errCutPage = errors.New("its data end before its levels do")

// check counts what the page's data stand for.
func (c *pageContent) check() error {
	h := c.header
	if h.Type == format.DictionaryPage {
		if e := h.DictionaryPageHeader.V.Encoding; e != format.Plain && e != plainDictionary {
			return fmt.Errorf("a dictionary encoded as %s", e)
		}
		return nil
	}
	if h.Type == format.DataPageV2 {
		return c.checkParts(h.DataPageHeaderV2.V.Encoding)
	}
	return c.checkFirstForm(&h.DataPageHeader.V)
}

// checkFirstForm takes the levels off the data: each has its length before it.
func (c *pageContent) checkFirstForm(h *format.DataPageHeader) error {
	for _, part := range []struct {
		highest  int
		encoding format.Encoding
		levels   *[]byte
	}{
		{c.levels.repetition, h.RepetitionLevelEncoding, &c.repetition},
		{c.levels.definition, h.DefinitionLevelEncoding, &c.definition},
	} {
		if part.highest == 0 {
			continue
		}
		if len(c.data) < 4 {
			return errCutPage
		}
		n := int64(binary.LittleEndian.Uint32(c.data))
		if c.data = c.data[4:]; n > int64(len(c.data)) {
			return errCutPage
		}
		if part.encoding == format.RLE { // the older way has no runs
			*part.levels = c.data[:n]
		}
		c.data = c.data[n:]
	}

	return c.checkParts(h.Encoding)
}

// checkParts counts levels and values.
func (c *pageContent) checkParts(encoding format.Encoding) error {
	if err := checkRuns(c.repetition, bits.Len(uint(c.levels.repetition))); err != nil {
		return fmt.Errorf("repetition levels: %w", err)
	}
	if err := checkRuns(c.definition, bits.Len(uint(c.levels.definition))); err != nil {
		return fmt.Errorf("definition levels: %w", err)
	}

	switch encoding {
	case plainDictionary, format.RLEDictionary:
		if len(c.data) == 0 {
			return nil
		}
		return checkRuns(c.data[1:], int(c.data[0]))
	case format.DeltaBinaryPacked, format.DeltaLengthByteArray:
		return checkDeltas(c.data)
	case format.DeltaByteArray:
		return fmt.Errorf("values encoded as %s cannot be read: write the file with the default encodings", encoding)
	default: // the values stand one by one
		return nil
	}
}

// checkRuns counts the values of runs: each begins with its length, and is one
// value repeated or a number of values of so many bits.
func checkRuns(data []byte, width int) error {
	total := uint64(0)
	for len(data) > 0 {
		head, n := binary.Uvarint(data)
		if n <= 0 {
			return errors.New("a run without a length")
		}
		data = data[n:]
		count, size := head>>1, uint64(width+7)/8
		if count > pageValuesMax {
			return fmt.Errorf("a run claims %d values: want at most %d", count, pageValuesMax)
		}
		if head&1 != 0 {
			count, size = count*8, count*uint64(width)
		}
		// Runs of several bits are filled up, so that a few more are fine.
		if total += count; total > 2*pageValuesMax {
			return fmt.Errorf("its runs claim more than %d values", 2*pageValuesMax)
		}
		data = data[min(size, uint64(len(data))):]
	}

	return nil
}

// checkDeltas looks at the number of values that differences begin with.
func checkDeltas(data []byte) error {
	var count uint64
	for range 3 { // the size of a block, the parts of a block, the values
		var n int
		if count, n = binary.Uvarint(data); n <= 0 {
			return errors.New("no number of values")
		}
		data = data[n:]
	}
	if count > pageValuesMax {
		return fmt.Errorf("its data claim %d values: want at most %d", count, pageValuesMax)
	}
	return nil
}
