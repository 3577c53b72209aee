package parse

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/benchrig/bench/scenarios/schema"
)

// testOptions are those that the golden files are made with: "# set: ..."
// lines at the top of a file are its --set overrides.
func testOptions(src string) Options {
	env := map[string]string{
		"HF_TOKEN": "hf_secret_value", "PORT": "8123", "EMPTY": "",
		"FAN_TOKEN": "fan_secret_value", "NTFY_URL": "https://ntfy.example.org/our-secret-topic",
	}
	opts := Options{
		LookupEnv: func(name string) (string, bool) { v, ok := env[name]; return v, ok },
		Profile: func(name string) ([]byte, bool) {
			p := map[string]string{
				"small": "endpoint: chat\ndataset: {kind: random, prefix-len: 16}\ninput-len: 32\noutput-len: 8\n" +
					"sweep: {max-concurrency: [1, 2]}\n",
				"broken": "input-len: 32\noutput-len: some\nnum-promts: 3\n",
			}
			y, ok := p[name]
			return []byte(y), ok
		},
		Profiles: []string{"small", "broken"},
		Exists:   func(string) bool { return false },
	}
	for line := range strings.Lines(src) {
		if set, ok := strings.CutPrefix(line, "# set: "); ok {
			opts.Set = append(opts.Set, strings.TrimSpace(set))
		}
	}
	return opts
}

func TestBadFiles(t *testing.T) {
	paths, err := filepath.Glob("testdata/bad/*.yaml")
	if err != nil || len(paths) < 10 {
		t.Fatalf("testdata/bad holds %d files, %v, want at least 10", len(paths), err)
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			src, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			s, err := Source(path, src, testOptions(string(src)))
			if _, ok := errors.AsType[schema.Errors](err); !ok {
				t.Fatalf("Parse(%s) = %v, %v, want Errors", path, s, err)
			}
			if strings.Contains(err.Error(), "hf_secret_value") {
				t.Errorf("Parse(%s): an error shows a secret:\n%v", path, err)
			}
			golden(t, strings.TrimSuffix(path, ".yaml")+".txt", err.Error()+"\n")
		})
	}
}

func TestLoadFileMissing(t *testing.T) {
	_, err := File("testdata/nope.yaml", Options{})
	if !errors.Is(err, os.ErrNotExist) {
		t.Errorf("LoadFile(missing) = %v, want os.ErrNotExist", err)
	}
}
