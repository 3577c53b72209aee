package parse

import (
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/benchrig/bench/internal/goldentest"
	"github.com/benchrig/bench/scenarios/schema"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares got with a file, or writes the file.
func golden(t *testing.T, path, got string) {
	t.Helper()
	goldentest.Compare(t, path, got, *update)
}

// dump prints a value as indented lines, zero values left out.
func dump(v any) string {
	var b strings.Builder
	dumpValue(&b, reflect.ValueOf(v), "")
	return b.String()
}

func dumpValue(b *strings.Builder, v reflect.Value, indent string) {
	switch x := v.Interface().(type) {
	case time.Duration:
		fmt.Fprintf(b, "%v\n", x)
		return
	case schema.Pos:
		fmt.Fprintf(b, "%d:%d\n", x.Line, x.Column)
		return
	case json.Number:
		fmt.Fprintln(b, x)
		return
	case float64:
		if math.IsInf(x, 1) {
			fmt.Fprintln(b, "inf")
			return
		}
	}
	switch v.Kind() {
	case reflect.Pointer:
		dumpValue(b, v.Elem(), indent)
	case reflect.Struct:
		b.WriteString("\n")
		for i := range v.NumField() {
			f := v.Type().Field(i)
			if f.IsExported() && !v.Field(i).IsZero() {
				fmt.Fprintf(b, "%s  %s: ", indent, f.Name)
				dumpValue(b, v.Field(i), indent+"  ")
			}
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() != reflect.Struct {
			fmt.Fprintf(b, "%#v\n", v.Interface())
			return
		}
		b.WriteString("\n")
		for i := range v.Len() {
			fmt.Fprintf(b, "%s  -", indent)
			dumpValue(b, v.Index(i), indent+"  ")
		}
	default:
		fmt.Fprintf(b, "%#v\n", v.Interface())
	}
}
