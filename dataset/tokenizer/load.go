package tokenizer

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/benchrig/bench/internal/userfile"
)

// Names of the files of a tokenizer, and the most bytes read of one.
const (
	tokenizerFile  = "tokenizer.json"
	configFile     = "tokenizer_config.json"
	specialsFile   = "special_tokens_map.json"
	maxFileBytes   = 256 << 20
	maxConfigBytes = 32 << 20
)

// Load reads a tokenizer.json, a folder that holds one, or a GGUF file. Where
// a tokenizer_config.json or special_tokens_map.json is beside it, Load
// follows it as Hugging Face transformers does: roles of tokens, added tokens,
// whether a sequence is opened and closed. Settings for cutting and padding are
// not followed, as they are not there either.
func Load(path string) (*Tokenizer, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("load tokenizer: no file or folder %q: %w: nothing is downloaded; give a folder that "+
			"holds a tokenizer.json, or name no tokenizer, so that the server counts", path, fs.ErrNotExist)
	}
	if err != nil {
		return nil, fmt.Errorf("load tokenizer: %w", err)
	}
	if info.IsDir() {
		path = filepath.Join(path, tokenizerFile)
	}

	var t *Tokenizer
	if strings.EqualFold(filepath.Ext(path), ".gguf") {
		t, err = loadGGUF(path)
	} else {
		t, err = loadHF(path)
	}

	if err != nil {
		return nil, fmt.Errorf("load tokenizer %s: %w", path, err)
	}

	t.name = nameOf(path)
	return t, nil
}

// nameOf is the last part of a path that is not the same for all tokenizers.
func nameOf(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	base := filepath.Base(path)
	if base == tokenizerFile {
		base = filepath.Base(filepath.Dir(path))
	}
	return base
}

func loadHF(path string) (*Tokenizer, error) {
	data, err := userfile.Read(path, maxFileBytes)
	if err != nil {
		return nil, err
	}

	cfg, err := readConfig(filepath.Dir(path))
	if err != nil {
		return nil, err
	}

	t, err := parseHF(data, cfg)
	if err != nil {
		if what := otherFile(data); what != "" {
			return nil, errors.New(what)
		}
		return nil, err
	}

	sum := sha256.Sum256(data)
	t.sha256 = hex.EncodeToString(sum[:])
	return t, nil
}

// readConfig reads the configuration in a folder; nil: there is none.
func readConfig(dir string) (*config, error) {
	main, err := readOptional(filepath.Join(dir, configFile))
	if err != nil {
		return nil, err
	}
	specials, err := readOptional(filepath.Join(dir, specialsFile))
	if err != nil {
		return nil, err
	}
	if main == nil && specials == nil {
		return nil, nil
	}
	return parseConfig(main, specials)
}

func readOptional(path string) ([]byte, error) {
	data, err := userfile.Read(path, maxConfigBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return data, err
}

// tiktokenLine begins a file of tiktoken: a token in base64, and its rank.
var tiktokenLine = regexp.MustCompile(`^[A-Za-z0-9+/]+={0,2} [0-9]+\r?\n`)

// otherFile names the kind of a file that is not a tokenizer.json, and says what
// to name in its place; "" where it is not known.
func otherFile(data []byte) string {
	const instead = "name the tokenizer.json of the same model, or a folder that holds one"
	text := bytes.TrimLeft(bytes.TrimPrefix(data, []byte("\uFEFF")), " \t\r\n")
	switch {
	case len(text) == 0:
		return "the file is empty: " + instead
	case bytes.HasPrefix(text, []byte("version https://git-lfs")):
		return "it is a Git LFS pointer, not the file itself: fetch the file with git lfs pull"
	case bytes.HasPrefix(text, []byte("<")):
		return "it is a web page: download the file itself, with its raw address"
	case bytes.HasPrefix(data, []byte("GGUF")):
		return "it is a GGUF file: give it a name that ends in .gguf"
	case tiktokenLine.Match(data):
		return "it is a vocabulary of tiktoken, which does not say how text is split: " + instead
	case bytes.HasPrefix(data, []byte{0x0a}) && bytes.Contains(data[:min(len(data), 64)], []byte("<unk>")):
		return "it is a SentencePiece model: " + instead
	}

	var keys map[string]json.RawMessage
	if json.Unmarshal(data, &keys) != nil {
		return ""
	}

	has := func(name string) bool { return keys[name] != nil }
	switch {
	case has("config") && has("vocab"):
		return "it is Mistral's tekken.json: " + instead
	case has("tokenizer_class"):
		return "it is a tokenizer_config.json: " + instead
	case has("model_type") || has("architectures"):
		return "it is a model's config.json: " + instead
	case !has("model"):
		return "it is not a tokenizer.json, which has a \"model\": " + instead
	}

	return ""
}
