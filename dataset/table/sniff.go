package table

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"unicode/utf8"

	"github.com/benchrig/bench/internal/userfile"
)

// Form is what a file looks like at its beginning.
type Form struct {
	What  string   // "JSON lines of conversations"; "" where it is not known
	Kinds []string // kinds of dataset that read such a file, the best first
	Do    string   // what to do with a file that no kind reads
}

// sniffBytes are looked at to tell what a file is.
const sniffBytes = 1 << 16

// Begin is where the text of a file begins: behind a byte order mark and blank
// lines.
func Begin(file io.ReaderAt) (int64, error) {
	head := make([]byte, sniffBytes)
	n, err := file.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return 0, Cause(err)
	}

	return int64(n - len(textOf(head[:n]))), nil
}

// textOf leaves out a byte order mark and blanks at the beginning.
func textOf(head []byte) []byte {
	return bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\uFEFF")), " \t\r\n")
}

// Sniff recognises what a file is by its beginning. Its zero value says that this
// is not known, or that the file cannot be read.
func Sniff(path string) Form {
	file, err := userfile.Open(path)
	if err != nil {
		return Form{}
	}
	defer file.Close()
	head := make([]byte, sniffBytes)
	n, _ := io.ReadFull(file, head) // what cannot be read says nothing

	return formOf(head[:n])
}

func formOf(head []byte) Form {
	text := textOf(head)
	has := func(prefix string) bool { return bytes.HasPrefix(text, []byte(prefix)) }
	switch {
	case has("version https://git-lfs"):
		return Form{What: "a Git LFS pointer, not the file itself", Do: "fetch the file with git lfs pull"}
	case has("<!DOCTYPE") || has("<html") || has("<!doctype"):
		return Form{What: "a web page", Do: "download the file itself, with its raw address"}
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		return Form{What: "compressed with gzip", Do: "unpack it with gunzip"}
	case bytes.HasPrefix(head, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		return Form{What: "compressed with zstd", Do: "unpack it with unzstd"}
	case bytes.HasPrefix(head, []byte("PK\x03\x04")):
		return Form{What: "a zip archive", Do: "unpack it"}
	case bytes.HasPrefix(head, []byte("PAR1")):
		return Form{What: "a Parquet file", Kinds: []string{"hf", "tok_inputs"}}
	case has("Timestamp,Model,Request tokens"):
		return Form{What: "a trace of BurstGPT", Kinds: []string{"burstgpt"}}
	case has("["):
		return arrayForm(text)
	case has("{"):
		return linesForm(text)
	case len(text) > 0 && utf8.Valid(text[:min(len(text), 512)]) || len(text) > 512 && validStart(text[:512]):
		return Form{What: "plain text", Kinds: []string{"text", "sonnet"}}
	}

	return Form{}
}

// validStart recognises UTF-8 text that may be cut within its last character.
func validStart(text []byte) bool {
	for cut := range utf8.UTFMax {
		if utf8.Valid(text[:len(text)-cut]) {
			return true
		}
	}

	return false
}

// arrayForm recognises a JSON array by the keys of its first entry.
func arrayForm(text []byte) Form {
	decoder := json.NewDecoder(bytes.NewReader(text))
	if _, err := decoder.Token(); err != nil {
		return Form{}
	}
	keys := keysOf(decoder)
	switch {
	case slices.Contains(keys, "conversations"):
		return Form{What: "a JSON array of conversations", Kinds: []string{"sharegpt", "hf"}}
	case len(keys) > 0:
		return Form{What: "a JSON array of objects", Kinds: []string{"hf"}}
	}

	return Form{}
}

// linesForm recognises JSON lines by the keys of the first one.
func linesForm(text []byte) Form {
	keys := keysOf(json.NewDecoder(bytes.NewReader(text)))
	has := func(name string) bool { return slices.Contains(keys, name) }
	switch {
	case has("input_length") && has("session_id"):
		return Form{What: "recorded sessions", Kinds: []string{"sessions", "trace"}}
	case has("requests") && has("block_size"), has("resourceSpans"):
		return Form{What: "recorded sessions", Kinds: []string{"sessions"}}
	case has("input_length") && (has("hash_ids") || has("timestamp")):
		return Form{What: "a trace of requests", Kinds: []string{"trace"}}
	case has("format") && has("version"):
		return Form{What: "a frozen set of prompts", Kinds: []string{"frozen"}}
	case has("tok_inputs"):
		return Form{What: "JSON lines of token ids", Kinds: []string{"tok_inputs"}}
	case has("conversations") || has("conversation"):
		return Form{What: "JSON lines of conversations", Kinds: []string{"hf"}}
	case has("prompt_token_ids"):
		return Form{What: "JSON lines of prompts", Kinds: []string{"jsonl"}}
	case has("messages"):
		return Form{What: "JSON lines of messages", Kinds: []string{"hf", "jsonl"}}
	case has("prompt"):
		return Form{What: "JSON lines of prompts", Kinds: []string{"jsonl", "custom", "hf"}}
	case len(keys) > 0:
		return Form{What: "JSON lines", Kinds: []string{"hf"}}
	}

	return Form{}
}

// keysOf are the keys of the object that comes next, as far as it can be read.
func keysOf(decoder *json.Decoder) []string {
	if opening, err := decoder.Token(); err != nil || opening != json.Delim('{') {
		return nil
	}

	var keys []string
	for decoder.More() {
		key, err := decoder.Token()
		name, isText := key.(string)
		if err != nil || !isText {
			break
		}
		keys = append(keys, name)
		var skipped json.RawMessage
		if decoder.Decode(&skipped) != nil {
			break
		}
	}

	return keys
}
