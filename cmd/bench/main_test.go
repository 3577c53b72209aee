package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/benchrig/bench/internal/fakeengine"
	"github.com/benchrig/bench/internal/freeport"
	"github.com/benchrig/bench/internal/schematest"
	"github.com/benchrig/bench/results/jsonschema"
)

var update = flag.Bool("update", false, "rewrite the golden parts of scripts")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"bench":  func() { os.Exit(realMain()) },
		"ray":    func() { os.Exit(fakeengine.SpanMain(os.Args)) },
		"vllm":   func() { os.Exit(fakeengine.SpanMain(os.Args)) },
		"sglang": func() { os.Exit(fakeengine.SpanMain(os.Args)) },
		"router": func() { os.Exit(fakeengine.RouterMain(os.Args)) },
	})
}

// TestScripts runs the commands as a user types them. A script that needs a
// real llama-server runs where BENCH_LLAMA_SERVER names one.
func TestScripts(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:           "testdata/script",
		UpdateScripts: *update,
		Setup: func(e *testscript.Env) error {
			e.Setenv("PORT", strconv.Itoa(freeport.Take(t, 1)))
			e.Setenv("PORT2", strconv.Itoa(freeport.Take(t, 1)))
			e.Setenv("REPO", root)
			e.Setenv("BENCH_STATE_DIR", filepath.Join(e.WorkDir, ".state")) // scripts run side by side
			e.Setenv("LLAMA", os.Getenv("BENCH_LLAMA_SERVER"))
			e.Setenv("LLAMA_BENCH", besideLlama("llama-bench"))
			e.Setenv("LLAMA_BATCHED_BENCH", besideLlama("llama-batched-bench"))
			e.Defer(func() { resultsFitSchema(t, e.WorkDir) })
			return nil
		},
		Condition: func(cond string) (bool, error) {
			switch cond {
			case "llama":
				return os.Getenv("BENCH_LLAMA_SERVER") != "", nil
			case "llama-bench", "llama-batched-bench":
				_, err := os.Stat(besideLlama(cond))
				return err == nil, nil
			}
			return false, nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"refused":     refused,
			"noleftovers": noLeftovers,
			"keys":        keys,
			"webhook":     webhook,
		},
	})
}

// resultsFitSchema holds every result that a script made against the schema that
// bench prints.
func resultsFitSchema(t *testing.T, folder string) {
	schema, err := jsonschema.Named("result")
	if err != nil {
		t.Error(err)
	}
	_ = filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.Name() != "result.json" || !entry.Type().IsRegular() {
			return nil //nolint:nilerr // a script spoiled the folder
		}
		text, err := os.ReadFile(path)
		if err == nil && json.Valid(text) {
			err = schematest.Check(schema, text)
		}
		if err != nil {
			t.Errorf("%s: %v", path, err)
		}
		return nil
	})
}

// besideLlama is a program beside the llama-server that is tested with.
func besideLlama(name string) string {
	return filepath.Join(filepath.Dir(os.Getenv("BENCH_LLAMA_SERVER")), name)
}

// refused PORT asserts that nothing listens there.
func refused(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: refused PORT")
	}
	conn, err := net.Dial("tcp", "127.0.0.1:"+args[0])
	if err == nil {
		conn.Close()
		ts.Fatalf("port %s is still served", args[0])
	}
}

// noLeftovers asserts that no process of a run in this script's folder is left:
// none that works in it.
func noLeftovers(ts *testscript.TestScript, neg bool, _ []string) {
	if neg {
		ts.Fatalf("noleftovers cannot be negated")
	}
	work := ts.Getenv("WORK")
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		cwd, err := os.Readlink(filepath.Join(dir, "cwd"))
		if err == nil && cwd == work && filepath.Base(dir) != strconv.Itoa(os.Getpid()) {
			ts.Fatalf("process %s is left in %s", filepath.Base(dir), work)
		}
	}
}

// keys FILE prints the names of a JSON object in their order.
func keys(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: keys FILE")
	}
	decoder := json.NewDecoder(strings.NewReader(ts.ReadFile(args[0])))
	var names []string
	depth := 0
	for isKey := true; ; {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		ts.Check(err)
		switch t := token.(type) {
		case json.Delim:
			if t == '{' || t == '[' {
				depth++
			} else {
				depth--
			}
			isKey = depth == 1
			continue
		case string:
			if depth == 1 && isKey {
				names = append(names, t)
				isKey = false
				continue
			}
		}
		isKey = depth == 1
	}
	fmt.Fprintln(ts.Stdout(), strings.Join(names, " "))
}
