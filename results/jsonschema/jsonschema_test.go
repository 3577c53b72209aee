package jsonschema

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/benchrig/bench/internal/goldentest"
	"github.com/benchrig/bench/internal/schematest"
	"github.com/benchrig/bench/results"
)

var update = flag.Bool("update", false, "write the schemas anew")

// The schemas follow the types and the document: a field that was added without
// -update fails here.
func TestSchemasFollowTheTypes(t *testing.T) {
	docs, comments := sources(t)
	for _, r := range roots() {
		schema, err := generate(r, docs, comments)
		if err != nil {
			t.Fatal(err)
		}
		goldentest.Compare(t, r.kind+".schema.json", string(schema), *update)
		if stored, err := Named(r.kind); err != nil || !*update && !bytes.Equal(stored, schema) {
			t.Errorf("the schema that is printed for %q is not the one in the file (%v)", r.kind, err)
		}
	}
}

// A field that nothing describes would be a riddle.
func TestFieldsAreDescribed(t *testing.T) {
	docs, comments := sources(t)
	described, all := 0, 0
	for _, r := range roots() {
		text, err := generate(r, docs, comments)
		if err != nil {
			t.Fatal(err)
		}
		var schema object
		if err := json.Unmarshal(text, &schema); err != nil {
			t.Fatal(err)
		}
		for name, property := range schema["properties"].(object) {
			all++
			if property.(object)["description"] != nil {
				described++
				continue
			}
			t.Errorf("%s: %s has no description", r.kind, name)
		}
	}
	if described < 100 {
		t.Errorf("%d of %d fields are described", described, all)
	}
}

func TestADifferentTypeGivesADifferentSchema(t *testing.T) {
	type Grown struct {
		A     string   `json:"a"`
		Added *float64 `json:"added"`
	}
	schema, err := generate(root{kind: "result", value: Grown{}, section: "x"}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := schematest.Check(schema, []byte(`{"a": "", "added": null}`)); err != nil {
		t.Error(err)
	}
	if err := schematest.Check(schema, []byte(`{"a": "", "added": "no"}`)); err == nil {
		t.Error("a text is taken for a number")
	}
}

// Every result, manifest, journal and list of requests among the test data fits.
func TestTestdataFits(t *testing.T) {
	found := map[string]int{}
	check := func(kind, path string, document []byte) {
		schema, err := Named(kind)
		if err != nil {
			t.Fatal(err)
		}
		found[kind]++
		if err := schematest.Check(schema, document); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}

	err := filepath.WalkDir("../..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if strings.HasPrefix(entry.Name(), ".") && entry.Name() != ".." && entry.Name() != "." {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.Contains(path, "testdata") {
			return nil
		}
		switch name := entry.Name(); {
		case name == "result.json", strings.HasPrefix(name, "result-") && strings.HasSuffix(name, ".json"):
			check("result", path, readFile(t, path))
		case name == "manifest.json":
			check("manifest", path, readFile(t, path))
		case name == "journal.jsonl":
			checkLines(t, path, func(line []byte) { check("event", path, line) })
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if found["result"] < 15 || found["manifest"] < 3 || found["event"] < 30 {
		t.Errorf("found too few files: %v", found)
	}
}

// A result with every field filled, and one with none, as they are written.
func TestWrittenResultsFit(t *testing.T) {
	schema, err := Named("result")
	if err != nil {
		t.Fatal(err)
	}
	full := results.Result{}
	fill(reflect.ValueOf(&full).Elem(), 0)
	full.Verdict, full.StartedAt = results.OK, "2026-11-01T12:00:00Z"
	measured := full
	measured.Imported = nil
	for name, r := range map[string]results.Result{
		"empty": {Verdict: results.NotRun}, "full": full, "measured": measured,
	} {
		document, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		if err := schematest.Check(schema, document); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// fill sets every field of a value, so that none is left out of its JSON.
func fill(v reflect.Value, depth int) {
	if depth > 12 {
		return
	}
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(true)
	case reflect.String:
		v.SetString("ok")
	case reflect.Float64:
		v.SetFloat(1.5)
	case reflect.Int, reflect.Int64:
		v.SetInt(3)
	case reflect.Uint64:
		v.SetUint(3)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), depth+1)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), depth+1)
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(key, depth+1)
		fill(value, depth+1)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fill(v.Field(i), depth+1)
			}
		}
	default:
	}
}

func TestNamed(t *testing.T) {
	for _, name := range Names() {
		if schema, err := Named(name); err != nil || !json.Valid(schema) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Named("results"); err == nil || !strings.Contains(err.Error(), `"results"`) {
		t.Errorf("error %v does not quote the name", err)
	}
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func checkLines(t *testing.T, path string, check func([]byte)) {
	t.Helper()
	lines := bufio.NewScanner(bytes.NewReader(readFile(t, path)))
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		if json.Valid(lines.Bytes()) { // the last line of a killed run may be cut
			check(lines.Bytes())
		}
	}
}
