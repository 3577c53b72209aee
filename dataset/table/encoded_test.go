package table

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/delta"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// TestEncodedPages: a few bytes can stand for billions of values, of which none
// is made that the page's header does not count.
func TestEncodedPages(t *testing.T) {
	run := func(count uint64, value ...byte) []byte { return append(binary.AppendUvarint(nil, count<<1), value...) }
	sized := func(levels []byte) []byte {
		return append(binary.LittleEndian.AppendUint32(nil, uint32(len(levels))), levels...)
	}
	deltas := binary.AppendUvarint(binary.AppendUvarint(binary.AppendUvarint(nil, 128), 4), 1<<30)
	lengths, err := new(delta.LengthByteArrayEncoding).EncodeByteArray(nil, []byte("abbc"), []uint32{0, 1, 3, 4})
	if err != nil {
		t.Fatal(err)
	}
	leveled := bytes.Join([][]byte{sized(run(2, 0)), sized(append(run(1, 2), run(1, 1)...)), plainText("a")}, nil)
	twice := bytes.Join([][]byte{plainText("a"), plainText("b")}, nil)
	for _, c := range []struct {
		name     string
		levels   levels
		encoding format.Encoding
		n        int32
		data     []byte
		want     string // the values, or words of the error
	}{
		{"texts", levels{}, format.Plain, 2, twice, "[a b]"},
		{"too few texts", levels{}, format.Plain, 3, twice, "end before"},
		{"a cut text", levels{}, format.Plain, 1, []byte{9, 0, 0, 0, 'a'}, "end before"},
		{"a text of gigabytes", levels{}, format.Plain, 1, []byte{0xff, 0xff, 0xff, 0xff}, "end before"},
		{"indexes", levels{}, format.RLEDictionary, 3, append([]byte{1}, run(3, 1)...), "[y y y]"},
		{"indexes of no bits", levels{}, plainDictionary, 2, []byte{0}, "[x x]"},
		{"packed indexes", levels{}, format.RLEDictionary, 4, []byte{2, 1<<1 | 1, 0b_00_01_00_01, 0}, "[y x y x]"},
		{"too many indexes", levels{}, plainDictionary, 1, append([]byte{1}, run(1<<50, 1)...), "[y]"},
		{"too many packed", levels{}, plainDictionary, 1, append([]byte{1}, 0xff, 0xff, 0xff, 0xff, 1, 1), "[y]"},
		{"too few indexes", levels{}, plainDictionary, 4, append([]byte{1}, run(3, 1)...), "end before"},
		{"a cut index", levels{}, plainDictionary, 1, append([]byte{9}, run(3, 1)...), "end before"},
		{"outside the dictionary", levels{}, plainDictionary, 1, append([]byte{2}, run(1, 3)...), "value 3 of"},
		{"indexes of 33 bits", levels{}, plainDictionary, 1, append([]byte{33}, run(1, 1)...), "end before"},
		{"a run without a length", levels{}, plainDictionary, 1, []byte{1, 0x80}, "end before"},
		{"levels", levels{1, 2}, format.Plain, 2, leveled, "[a null]"},
		{"only nulls", levels{0, 1}, format.Plain, 2, sized(run(2, 0)), "[null null]"},
		{"too few levels", levels{0, 3}, format.Plain, 2, sized(run(1, 0)), "definition levels: its data end"},
		{"cut levels", levels{1, 0}, format.Plain, 1, []byte{9, 0, 0, 0, 1}, "end before"},
		{"no levels", levels{1, 0}, format.Plain, 1, []byte{9}, "end before"},
		{"lengths", levels{}, format.DeltaLengthByteArray, 3, lengths, "[a bb c]"},
		{"too few lengths", levels{}, format.DeltaLengthByteArray, 4, lengths, "end before"},
		{"too many lengths", levels{}, format.DeltaLengthByteArray, 1, deltas, "claim 1073741824 values"},
		{"no lengths", levels{}, format.DeltaLengthByteArray, 1, []byte{1}, "no number of values"},
		{"shared beginnings", levels{}, format.DeltaByteArray, 1, nil, "cannot be read"},
	} {
		h := format.PageHeader{
			UncompressedPageSize: int32(len(c.data)),
			DataPageHeader: thrift.New(format.DataPageHeader{
				NumValues: c.n, Encoding: c.encoding,
				RepetitionLevelEncoding: format.RLE, DefinitionLevelEncoding: format.RLE,
			}),
		}
		dictionary := values{text: []byte("xy"), spans: []span{{0, 1}, {1, 2}}}
		pages := pageReader{leaf: leaf{kind: format.ByteArray, levels: c.levels}, dictionary: &dictionary}
		p, err := pages.firstForm(&h, io.NewSectionReader(bytes.NewReader(c.data), 0, int64(len(c.data))))

		got := fmt.Sprint(err)
		if err == nil {
			got = fmt.Sprint(textsOf(p))
		}
		if !strings.Contains(got, c.want) {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func textsOf(p *page) (texts []string) {
	for p.at < p.n {
		v := p.value()
		p.skip(v)
		if v.null {
			v.text = []byte("null")
		}
		texts = append(texts, string(v.text))
	}
	return texts
}

func TestDictionaryPages(t *testing.T) {
	header := func(encoding format.Encoding) *format.PageHeader {
		return &format.PageHeader{
			Type:                 format.DictionaryPage,
			DictionaryPageHeader: thrift.New(format.DictionaryPageHeader{NumValues: 1, Encoding: encoding}),
		}
	}
	empty := io.NewSectionReader(strings.NewReader(""), 0, 0)
	pages := pageReader{leaf: leaf{kind: format.ByteArray}}
	if err := pages.keepDictionary(header(format.DeltaByteArray), empty); err == nil ||
		!strings.Contains(err.Error(), "dictionary encoded as") {
		t.Errorf("an odd dictionary: %v", err)
	}
	if err := pages.keepDictionary(header(format.Plain), empty); err == nil {
		t.Error("a dictionary without its entry is read")
	}

	pages.dictionary = nil
	if _, err := pages.page(1, nil, nil, format.RLEDictionary, []byte{0}); err == nil ||
		!strings.Contains(err.Error(), "no dictionary") {
		t.Errorf("indexes without a dictionary: %v", err)
	}
}

// encodedRow has columns in encodings that are read.
type encodedRow struct {
	Plain  []string `parquet:"plain,list" parquet-element:",plain"`
	Dict   []string `parquet:"dict,list" parquet-element:",dict,snappy"`
	IDs    []int64  `parquet:"ids,list" parquet-element:",gzip"`
	Narrow []int32  `parquet:"narrow,list" parquet-element:",delta"`
	Wide   []int64  `parquet:"wide,list" parquet-element:",delta,brotli"`
	Named  []int64  `parquet:"named,list" parquet-element:",dict"`
}

// TestEncodings: what the library writes is read, whichever form its pages have
// and wherever they end.
func TestEncodings(t *testing.T) {
	var rows []encodedRow
	for i := range 300 {
		var row encodedRow
		for j := range (i * 7) % 11 {
			text, id := strings.Repeat(string(rune('a'+j)), i%40), int64((i*j)%29)-3
			row.Plain, row.Dict = append(row.Plain, text), append(row.Dict, text)
			row.IDs, row.Wide, row.Named = append(row.IDs, id), append(row.Wide, id<<40), append(row.Named, id)
			row.Narrow = append(row.Narrow, int32(id))
		}
		rows = append(rows, row)
	}

	for version := 1; version <= 2; version++ {
		for _, bytesOfPage := range []int{64, 1 << 20} {
			var file bytes.Buffer
			w := parquet.NewGenericWriter[encodedRow](&file, parquet.DataPageVersion(version),
				parquet.PageBufferSize(bytesOfPage), parquet.MaxRowsPerRowGroup(170))
			if _, err := w.Write(rows); err != nil {
				t.Fatal(err)
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			checkEncodings(t, fmt.Sprintf("version %d, pages of %d", version, bytesOfPage), file.Bytes(), rows)
		}
	}
}

func checkEncodings(t *testing.T, name string, file []byte, rows []encodedRow) {
	t.Helper()
	table, err := newParquetTable(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	picked := []int{1, 5, 168, 169, 170, 171, 299}

	for field, of := range map[string]func(encodedRow) []string{
		"plain": func(r encodedRow) []string { return r.Plain },
		"dict":  func(r encodedRow) []string { return r.Dict },
	} {
		var got, want [][]string
		for _, row := range picked {
			want = append(want, append([]string{}, of(rows[row])...))
		}
		if err := table.Each(t.Context(), field, picked, func(_ int, said []Utterance) error {
			texts := []string{}
			for _, u := range said {
				texts = append(texts, u.text)
			}
			got = append(got, texts)
			return nil
		}); err != nil {
			t.Errorf("%s, %s: %v", name, field, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s, %s: %s", name, field, diff)
		}
	}

	for field, of := range map[string]func(encodedRow) []int64{
		"ids":   func(r encodedRow) []int64 { return r.IDs },
		"wide":  func(r encodedRow) []int64 { return r.Wide },
		"named": func(r encodedRow) []int64 { return r.Named },
		"narrow": func(r encodedRow) (wide []int64) {
			for _, id := range r.Narrow {
				wide = append(wide, int64(id))
			}
			return wide
		},
	} {
		column, err := table.idColumn(field)
		if err != nil {
			t.Fatal(err)
		}
		got, err := column.IDs(t.Context(), picked)
		if err != nil {
			t.Errorf("%s, %s: %v", name, field, err)
			continue
		}
		for i, row := range picked {
			if want := of(rows[row]); fmt.Sprint(want) != fmt.Sprint(got[i]) {
				t.Errorf("%s, %s, row %d: %v, want %v", name, field, row, got[i], want)
			}
		}
	}
}
