package dataset

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
)

// Layouts of chat datasets on the hub.
type (
	hfMessage struct {
		Role    string `parquet:"role"`
		Content string `parquet:"content"`
	}
	hfMessages struct {
		ID       int64       `parquet:"id"`
		Messages []hfMessage `parquet:"messages,list"`
		Score    float64     `parquet:"score,optional"`
	}
	hfTurn struct {
		From  string `parquet:"from,optional"`
		Value string `parquet:"value,optional"`
	}
	hfRepeated struct {
		Conversations []hfTurn `parquet:"conversations"`
	}
	hfColumns struct {
		Conversations struct {
			From  []string `parquet:"from,list"`
			Value []string `parquet:"value,list"`
		} `parquet:"conversations"`
	}
	hfPrompts struct {
		Prompt string `parquet:"prompt,optional,snappy"`
		Number int64  `parquet:"number"`
	}
	hfTexts struct {
		Texts []string `parquet:"texts,list"`
	}
)

func parquetBytes[T any](t testing.TB, rows []T, options ...parquet.WriterOption) []byte {
	t.Helper()
	var out bytes.Buffer
	w := parquet.NewGenericWriter[T](&out, options...)
	if _, err := w.Write(rows); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// question is a text of n words that names the row.
func question(row, n int) string {
	return strings.TrimSpace(strings.Repeat(fmt.Sprint("q", row, " "), n))
}

// hfFolder writes one dataset in every layout: rows ask 5+row words and get 6,
// with a second turn of 4 words that gets 7.
func hfFolder(t *testing.T) string {
	t.Helper()
	var messages []hfMessages
	var repeated []hfRepeated
	var columns []hfColumns
	var prompts []hfPrompts
	var texts []hfTexts
	var lines, objects []string
	for row := range 40 {
		said := []string{question(row, 5+row), question(row, 6), question(row, 4), question(row, 7)}
		messages = append(messages, hfMessages{ID: int64(row), Messages: []hfMessage{
			{"system", "be good"}, {"user", said[0]}, {"assistant", said[1]}, {"user", said[2]}, {"assistant", said[3]},
		}})
		repeated = append(repeated, hfRepeated{[]hfTurn{
			{"human", said[0]},
			{"gpt", said[1]},
			{"human", said[2]},
			{"gpt", said[3]},
		}})
		var c hfColumns
		c.Conversations.From, c.Conversations.Value = []string{"human", "gpt", "human", "gpt"}, said
		columns = append(columns, c)
		prompts = append(prompts, hfPrompts{said[0], int64(row)})
		texts = append(texts, hfTexts{said})
		lines = append(lines,
			fmt.Sprintf(
				`{"id": %d, "messages": [{"role": "user", "content": %q}, {"role": "assistant", "content": %q}, {"role": "user", "content": %q}, {"role": "assistant", "content": %q}]}`,
				row, said[0], said[1], said[2], said[3]))
		objects = append(objects, fmt.Sprintf(
			`{"conversations": {"from": ["human", "gpt", "human", "gpt"], "value": [%q, %q, %q, %q]}}`, said[0],
			said[1], said[2], said[3]))
	}
	folder := t.TempDir()
	for name, content := range map[string][]byte{
		"messages.parquet": parquetBytes(t, messages),
		"repeated.parquet": parquetBytes(t, repeated, parquet.MaxRowsPerRowGroup(7)),
		"columns.parquet":  parquetBytes(t, columns, parquet.PageBufferSize(64)),
		"prompts.parquet":  parquetBytes(t, prompts),
		"texts.parquet":    parquetBytes(t, texts, parquet.Compression(&parquet.Zstd)),
		"lines.jsonl":      []byte(strings.Join(lines, "\n")),
		"objects.json":     []byte("[" + strings.Join(objects, ",\n ") + "]"),
	} {
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

func TestHF(t *testing.T) {
	folder := hfFolder(t)
	for _, c := range []struct {
		file, field string
		turns       int
		want        string // of row 3: tokens in, out, further turns
	}{
		{"messages.parquet", "", 0, "8 6 []"},
		{"messages.parquet", "messages", 2, "8 6 [q3 q3 q3 q3/7]"},
		{"repeated.parquet", "", 2, "8 6 [q3 q3 q3 q3/7]"},
		{"columns.parquet", "", 2, "8 6 [q3 q3 q3 q3/7]"},
		{"prompts.parquet", "", 0, "8 0 []"},
		{"texts.parquet", "texts", 2, "8 6 [q3 q3 q3 q3/7]"},
		{"lines.jsonl", "", 2, "8 6 [q3 q3 q3 q3/7]"},
		{"objects.json", "", 2, "8 6 [q3 q3 q3 q3/7]"},
	} {
		for _, shuffle := range []bool{false, true} {
			spec := Spec{
				Kind: "hf", Path: filepath.Join(folder, c.file), Field: c.field, Turns: c.turns, N: 40,
				Shuffle: shuffle, Seed: 1,
			}
			set := build(t, spec, &words{})
			if ordered := strings.HasPrefix(set.Prompts[0].Text, "q0 "); ordered == shuffle {
				t.Errorf("%s: first prompt %.10q, shuffled %t", c.file, set.Prompts[0].Text, shuffle)
			}
			found := false
			for _, p := range set.Prompts {
				if p.Text == question(3, 8) {
					found = true
					var turns []string
					for _, turn := range p.Turns {
						turns = append(turns, fmt.Sprintf("%s/%d", turn.Text, turn.OutputTokens))
					}
					if got := fmt.Sprint(p.InputTokens, p.OutputTokens, turns); got != c.want {
						t.Errorf("%s: row 3 is %s, want %s", c.file, got, c.want)
					}
				}
			}
			if !found || len(set.Notes) != 0 {
				t.Errorf("%s: row 3 was sent: %t, notes %q", c.file, found, set.Notes)
			}
		}
	}
}

// All files of a folder are one dataset, read as far as needed.
func TestHFFolder(t *testing.T) {
	parent := t.TempDir()
	folder := filepath.Join(parent, "en")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	for part := range 3 {
		var rows []hfPrompts
		for row := range 10 {
			rows = append(rows, hfPrompts{question(10*part+row, 5), 0})
		}
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("train-%d.parquet", part)), parquetBytes(t, rows),
			0o600); err != nil {
			t.Fatal(err)
		}
	}
	set := build(t, Spec{Kind: "hf", Path: parent, Subset: "en", N: 30, OutputLen: 9}, &words{})
	for i, p := range set.Prompts {
		if p.Text != question(i, 5) || p.OutputTokens != 9 {
			t.Errorf("prompt %d = %+v", i, p)
		}
	}
}

func TestHFErrors(t *testing.T) {
	folder := hfFolder(t)
	for name, content := range map[string]string{
		"empty.jsonl": "", "scalar.jsonl": "5", "broken.parquet": "PAR1 but not so", "cut.json": `[{"prompt": "a"}, {`,
		"names.jsonl": `{"b": 1, "a": 2}`, "short.jsonl": `{"prompt": "a b"}`, "shape.jsonl": `{"prompt": 5}`,
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ file, field, want string }{
		{"nowhere", "", "no such file"},
		{"empty.jsonl", "", "the file is empty"},
		{"scalar.jsonl", "", "a JSON number, expected an object"},
		{"broken.parquet", "", "parquet"},
		{"cut.json", "", "row 2: the file ends in the middle"},
		{"names.jsonl", "", "set the field to one of a, b"},
		{"lines.jsonl", "text", `no column "text"; it has id, messages`},
		{"messages.parquet", "score", `column "score" contains no text`},
		{"messages.parquet", "talk", `no column "talk"; it has id, messages, score`},
		{"short.jsonl", "", "none of 1 rows passes the filter"},
		{"shape.jsonl", "", `row 1: "prompt": want a text or a list of messages`},
	} {
		path := filepath.Join(folder, c.file)
		_, err := Build(t.Context(), Spec{Kind: "hf", Path: path, Field: c.field, N: 1}, &words{})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %s: %v, want %q", c.file, c.field, err, c.want)
		}
	}
	if _, err := Build(t.Context(), Spec{Kind: "hf", Path: t.TempDir(), N: 1}, nil); err == nil ||
		!strings.Contains(err.Error(), "no .parquet") {
		t.Errorf("an empty folder: %v", err)
	}
	if _, err := Build(t.Context(), Spec{
		Kind: "hf", Path: filepath.Join(folder, "texts.parquet"), Field: "texts",
		N: 1,
	}, broken{}); !errors.Is(err, errTokenizer) {
		t.Errorf("tokenizer's error: %v", err)
	}
}

// A file is never held as a whole: of 60 MB of rows, the few asked for are kept.
func TestHFMemory(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "big.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	line := fmt.Sprintf("{\"prompt\": %q}\n", question(1, 1000))
	for range 20_000 {
		if _, err := file.WriteString(line); err != nil {
			t.Fatal(err)
		}
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	build(t, Spec{Kind: "hf", Path: file.Name(), N: 3, Shuffle: true}, nil)
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapSys) - int64(before.HeapSys); grown > 30<<20 {
		t.Errorf("the heap grew by %d MiB, want less than 30", grown>>20)
	}
}
