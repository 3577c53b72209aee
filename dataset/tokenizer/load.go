package tokenizer

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
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
// a tokenizer_config.json or special_tokens_map.json lies beside it, Load
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
