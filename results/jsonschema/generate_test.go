package jsonschema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/benchrig/bench/results"
)

type object = map[string]any

// root is a kind of file as the generator sees it.
type root struct {
	kind     string
	value    any
	section  string // its heading in docs/results-format.md
	required []string
}

// What every version of the format had is required; what came later is not.
func roots() []root {
	return []root{
		{
			"result",
			results.Result{},
			"result.json",
			[]string{"format_version", "scenario", "run_id", "step", "verdict"},
		},
		{"request", results.Record{}, "requests.jsonl.zst", []string{"index"}},
		{"manifest", results.Manifest{}, "manifest.json", []string{"format_version", "scenario", "run_id", "planned"}},
		{"event", results.Event{}, "journal.jsonl", []string{"seq", "time", "event"}},
	}
}

// generator makes the schema of one kind of file.
type generator struct {
	docs     map[string]map[string]string // what the document says about a field, by table and field
	comments map[string]string            // the comment of a field in the code, by "Type.Field"
	contexts map[string][]string          // tables that may name the fields of a type, by its name
	defs     object
	types    map[string]reflect.Type // of the definitions
}

func generate(r root, docs map[string]map[string]string, comments map[string]string) ([]byte, error) {
	g := &generator{
		docs: docs, comments: comments, contexts: map[string][]string{}, defs: object{},
		types: map[string]reflect.Type{},
	}
	t := reflect.TypeOf(r.value)
	g.findContexts(t, r.section)

	schema, err := g.structure(t)
	if err != nil {
		return nil, err
	}
	if r.kind == "result" {
		g.addVLLMNames(schema)
	}

	schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	schema["$id"] = fmt.Sprintf("urn:benchrig:bench:%s:%d", r.kind, results.FormatVersion)
	schema["title"] = fmt.Sprintf("bench: %s, format version %d", r.section, results.FormatVersion)
	schema["required"] = r.required
	schema["$defs"] = g.defs

	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", " ")
	err = encoder.Encode(schema)
	return out.Bytes(), err
}

// findContexts notes under which headings the document describes a type.
func (g *generator) findContexts(t reflect.Type, context string) {
	t = inner(t)
	if t.Kind() != reflect.Struct || slices.Contains(g.contexts[t.Name()], context) {
		return
	}
	g.contexts[t.Name()] = append(g.contexts[t.Name()], context)
	for field := range t.Fields() {
		if name := nameOf(field); name != "-" {
			if name == "" {
				name = context // its fields are those of the object around it
			}
			g.findContexts(field.Type, name)
		}
	}
}

// inner is the type of the single values in a pointer, a list or a map.
func inner(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
		t = t.Elem()
	}
	return t
}

func nameOf(field reflect.StructField) string {
	name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
	return name
}

// structure is the schema of an object.
func (g *generator) structure(t reflect.Type) (object, error) {
	properties := object{}
	for field := range t.Fields() {
		name := nameOf(field)
		switch {
		case name == "-":
			continue
		case name == "" && field.Anonymous:
			embedded, err := g.structure(field.Type)
			if err != nil {
				return nil, err
			}
			maps.Copy(properties, embedded["properties"].(object))
			continue
		case name == "":
			return nil, fmt.Errorf("%s.%s has no JSON name", t.Name(), field.Name)
		}

		property, err := g.value(g.known(t, field))
		if err != nil {
			return nil, fmt.Errorf("%s.%s: %w", t.Name(), field.Name, err)
		}
		if text := g.description(t, field, name); text != "" {
			property["description"] = text
		}
		properties[name] = property
	}

	return object{"type": "object", "properties": properties}, nil
}

// known is the type of a field as it is written: of an imported step, counts may
// be unknown.
func (g *generator) known(t reflect.Type, field reflect.StructField) reflect.Type {
	if t == reflect.TypeFor[results.Figures]() {
		if counts, ok := reflect.TypeFor[results.KnownCounts]().FieldByName(field.Name); ok {
			return counts.Type
		}
	}
	return field.Type
}

func (g *generator) value(t reflect.Type) (object, error) {
	switch t {
	case reflect.TypeFor[time.Time]():
		return object{"type": "string"}, nil
	case reflect.TypeFor[results.Verdict]():
		return object{"enum": []results.Verdict{results.OK, results.Suspect, results.Failed, results.NotRun}}, nil
	}

	switch t.Kind() { //nolint:exhaustive // files have no others
	case reflect.Bool:
		return object{"type": "boolean"}, nil
	case reflect.String:
		return object{"type": "string"}, nil
	case reflect.Float64, reflect.Float32:
		return object{"type": "number"}, nil
	case reflect.Int, reflect.Int64, reflect.Int32, reflect.Uint64, reflect.Uint32:
		return object{"type": "integer"}, nil
	case reflect.Interface:
		return object{}, nil
	case reflect.Struct:
		return g.reference(t)
	case reflect.Pointer:
		return g.orNull(t.Elem())
	case reflect.Slice:
		items, err := g.value(t.Elem())
		return object{"type": []string{"array", "null"}, "items": items}, err
	case reflect.Map:
		values, err := g.value(t.Elem())
		return object{"type": []string{"object", "null"}, "additionalProperties": values}, err
	}
	return nil, fmt.Errorf("no schema for %s", t)
}

func (g *generator) orNull(t reflect.Type) (object, error) {
	schema, err := g.value(t)
	if err != nil {
		return nil, err
	}
	if kind, ok := schema["type"].(string); ok {
		schema["type"] = []string{kind, "null"}
		return schema, nil
	}
	return object{"anyOf": []any{schema, object{"type": "null"}}}, nil
}

// reference is one to the definition of an object, which has the name of its type.
func (g *generator) reference(t reflect.Type) (object, error) {
	if before, ok := g.types[t.Name()]; ok && before != t {
		return nil, fmt.Errorf("%s and %s share a name", before, t)
	}
	g.types[t.Name()] = t
	if _, ok := g.defs[t.Name()]; !ok {
		g.defs[t.Name()] = nil // a type may hold itself
		def, err := g.structure(t)
		if err != nil {
			return nil, err
		}
		g.defs[t.Name()] = def
	}
	return object{"$ref": "#/$defs/" + t.Name()}, nil
}

// description is what the document says about a field, else what the code does.
func (g *generator) description(t reflect.Type, field reflect.StructField, name string) string {
	for _, context := range g.contexts[t.Name()] {
		if text := g.docs[context][name]; text != "" {
			return text
		}
	}
	return g.comments[t.Name()+"."+field.Name]
}

// addVLLMNames adds the names that a result has for scripts that read vLLM's files.
func (g *generator) addVLLMNames(schema object) {
	properties := schema["properties"].(object)
	names := g.docs["vllm"]
	add := func(value object, of ...string) {
		for _, name := range of {
			property := maps.Clone(value)
			if text := names[name]; text != "" {
				property["description"] = "as vLLM's client writes it: " + text
			}
			properties[name] = property
		}
	}

	add(object{"type": []string{"string", "null"}},
		"date", "endpoint_type", "backend", "label", "model_id", "tokenizer_id")
	add(object{"type": "integer"}, "num_prompts")
	add(object{"type": []string{"integer", "null"}}, "max_concurrency", "completed", "failed", "total_input_tokens",
		"total_output_tokens", "max_concurrent_requests")
	add(object{"anyOf": []any{object{"type": "number"}, object{"enum": []string{"inf"}}}}, "request_rate")
	add(object{"type": []string{"number", "null"}}, "burstiness", "duration", "request_throughput", "request_goodput",
		"output_throughput", "total_token_throughput", "max_output_tokens_per_s")
	schema["patternProperties"] = object{
		`^(mean|median|std|p[0-9.]+)_(ttft|tpot|itl|e2el)_ms$`: object{
			"type": []string{"number", "null"}, "description": "as vLLM's client writes it, in milliseconds",
		},
	}
}

var (
	code   = regexp.MustCompile("`([^`]+)`")
	below  = regexp.MustCompile(`:? ?\[below\]\([^)]*\)`)
	link   = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
	spaces = regexp.MustCompile(`\s+`)
)

// readDocs reads the tables of docs/results-format.md: what each says about a field.
// A table belongs to the heading above it, or to the field that its first cell
// names.
func readDocs(text string) map[string]map[string]string {
	docs := map[string]map[string]string{}
	section, table := "", ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if heading := strings.TrimLeft(line, "#"); heading != line {
			section = strings.TrimSpace(heading)
			table = section
			continue
		}
		cells := strings.Split(strings.Trim(line, "|"), " | ")
		if !strings.HasPrefix(line, "|") || len(cells) < 2 {
			continue
		}

		first, meaning := cells[0], plain(strings.Join(cells[1:], " | "))
		switch names := code.FindAllStringSubmatch(first, -1); {
		case strings.Contains(first, " in `"):
			table = names[0][1]
		case strings.Contains(first, "vLLM's name"):
			table = "vllm"
		case strings.Contains(first, "field"):
			table = section
		default:
			for _, name := range names {
				if docs[table] == nil {
					docs[table] = map[string]string{}
				}
				docs[table][name[1]] = withNames(plain(first), len(names), meaning)
			}
		}
	}
	return docs
}

// withNames puts the names that share a row before its text, which says what each means
// in turn.
func withNames(names string, n int, meaning string) string {
	if n < 2 || meaning == "" {
		return meaning
	}
	return names + ": " + meaning
}

// plain is a text without its Markdown.
func plain(text string) string {
	text = below.ReplaceAllString(text, "")
	text = link.ReplaceAllString(text, "$1")
	text = strings.ReplaceAll(text, "`", "")
	return strings.TrimLeft(strings.TrimSpace(spaces.ReplaceAllString(text, " ")), "; ")
}

// readComments reads the comments of the fields of all types in a folder.
func readComments(t *testing.T, folder string, comments map[string]string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: %d files, %v", folder, len(files), err)
	}
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			structure, ok := spec.Type.(*ast.StructType)
			if !ok {
				return true
			}
			for _, field := range structure.Fields.List {
				text := strings.TrimSpace(field.Doc.Text() + " " + field.Comment.Text())
				for _, name := range field.Names {
					comments[spec.Name.Name+"."+name.Name] = spaces.ReplaceAllString(text, " ")
				}
			}
			return true
		})
	}
}

func sources(t *testing.T) (docs map[string]map[string]string, comments map[string]string) {
	t.Helper()
	text, err := os.ReadFile("../../docs/results-format.md")
	if err != nil {
		t.Fatal(err)
	}
	comments = map[string]string{}
	readComments(t, "..", comments)
	readComments(t, "../../load/spec", comments)
	return readDocs(string(text)), comments
}
