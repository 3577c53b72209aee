package results

import (
	"os"
	"reflect"
	"strings"
	"testing"
)

// jsonNames collects the JSON names of a type and of the types inside it.
func jsonNames(t reflect.Type, names map[string]bool) {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		jsonNames(t.Elem(), names)
	case reflect.Struct:
		for field := range t.Fields() {
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			if name == "" {
				continue
			}
			if name != "-" {
				names[name] = true
			}
			jsonNames(field.Type, names)
		}
	default:
	}
}

func TestEveryFieldIsDocumented(t *testing.T) {
	text, err := os.ReadFile("../docs/results-format.md")
	if err != nil {
		t.Fatal(err)
	}
	names := make(map[string]bool)
	for _, value := range []any{
		Manifest{},
		Event{},
		Record{},
		Result{},
		CompatFigures{},
		TelemetrySample{},
		Identity{},
		Live{},
	} {
		jsonNames(reflect.TypeOf(value), names)
	}
	if len(names) < 100 {
		t.Fatalf("found %d names only", len(names))
	}
	for name := range names {
		if !strings.Contains(string(text), "`"+name+"`") {
			t.Errorf("docs/results-format.md does not name field `%s`", name)
		}
	}
	for name := range strings.FieldsSeq(vllmKeys) {
		if stem, rest, found := strings.Cut(name, "_"); found && strings.HasSuffix(rest, "_ms") {
			if strings.HasPrefix(stem, "p") {
				stem = "pNN"
			}
			name = stem + "_X_ms"
		}
		if !strings.Contains(string(text), "`"+name+"`") {
			t.Errorf("docs/results-format.md does not name vLLM's `%s`", name)
		}
	}
}

// The words that are part of the format must be listed where readers look.
func TestEveryClassIsDocumented(t *testing.T) {
	text, err := os.ReadFile("../docs/results-format.md")
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("verdict.go")
	if err != nil {
		t.Fatal(err)
	}
	differences, err := os.ReadFile("compat.go")
	if err != nil {
		t.Fatal(err)
	}
	source = append(source, differences...)
	metricsText, err := os.ReadFile("../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for line := range strings.Lines(string(source)) {
		typeAndValue := strings.SplitN(line, `"`, 3)
		if len(typeAndValue) != 3 {
			continue
		}
		value, where := "`"+typeAndValue[1]+"`", ""
		switch {
		case strings.Contains(typeAndValue[0], "FailureClass ="):
			where = string(text)
		case strings.Contains(typeAndValue[0], "WarningCode ="):
			where = string(metricsText)
		case strings.Contains(typeAndValue[0], "DifferenceCode ="):
			where = string(metricsText)
		default:
			continue
		}
		found++
		if !strings.Contains(where, value) {
			t.Errorf("the documents do not name %s", value)
		}
	}
	if found < 40 {
		t.Errorf("found %d classes and codes only", found)
	}
}
