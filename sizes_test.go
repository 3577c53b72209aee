package bench

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"slices"
	"strings"
	"testing"
)

// Limits of a package, tests apart. What is larger is in largePackages with
// the reason.
const (
	maxLines   = 4500
	usualLines = 3000 // of nine packages in ten
	maxFiles   = 20
	maxMethods = 50 // of a type
	longFunc   = 20 // lines
)

// largePackages may have more than maxFiles files, for the reason given.
var largePackages = map[string]string{
	"cmd/bench":         "one file for each command",
	"dataset":           "one file for each kind",
	"launchers/engines": "one file for each kind of server",
}

func TestPackagesAreSmall(t *testing.T) {
	var sizes, numbers []int
	all, comments, blank := 0, 0, 0
	for pkg, files := range goFiles(t) {
		lines := 0
		for _, file := range files {
			text := read(t, file)
			lines += strings.Count(text, "\n")
			for line := range strings.Lines(text) {
				switch line = strings.TrimSpace(line); {
				case line == "":
					blank++
				case strings.HasPrefix(line, "//"):
					comments++
				}
			}
		}
		sizes, numbers, all = append(sizes, lines), append(numbers, len(files)), all+lines
		if lines > maxLines {
			t.Errorf("package %s has %d lines, want at most %d: split it along a seam", pkg, lines, maxLines)
		}
		if len(files) > maxFiles && largePackages[pkg] == "" {
			t.Errorf("package %s has %d files, want at most %d, or a reason in largePackages", pkg,
				len(files), maxFiles)
		}
	}

	slices.Sort(sizes)
	slices.Sort(numbers)
	p90 := sizes[len(sizes)*9/10]
	t.Logf("%d packages: lines p50 %d, p90 %d, max %d; files p90 %d", len(sizes), sizes[len(sizes)/2], p90,
		sizes[len(sizes)-1], numbers[len(numbers)*9/10])
	t.Logf("%d lines, %d of them blank, %d comments (%.0f %%)", all, blank, comments,
		100*float64(comments)/float64(all))
	if p90 > usualLines {
		t.Errorf("nine packages in ten have up to %d lines, want at most %d", p90, usualLines)
	}
}

// Long functions have blank lines between their phases. One of a single statement,
// such as a table, has no phases.
func TestFunctionsBreathe(t *testing.T) {
	long, tables := 0, 0
	var sizes []int
	var airless []string
	for _, files := range goFiles(t) {
		for _, file := range files {
			text := strings.Split(read(t, file), "\n")
			for _, f := range functions(t, file) {
				sizes = append(sizes, f.last-f.first+1)
				if f.last-f.first <= longFunc {
					continue
				}
				long++
				body := text[f.first : f.last-1] // lines count from 1
				switch {
				case slices.ContainsFunc(body, func(line string) bool { return strings.TrimSpace(line) == "" }):
				case f.statements == 1:
					tables++
				default:
					airless = append(airless, file+": "+f.name)
				}
			}
		}
	}

	slices.Sort(sizes)
	at := func(share float64) int { return sizes[int(share*float64(len(sizes)))] }
	t.Logf("%d functions: lines p50 %d, p90 %d, p99 %d, max %d", len(sizes), at(0.5), at(0.9), at(0.99),
		sizes[len(sizes)-1])
	t.Logf("%d functions over %d lines, %d without a blank line, %d of which are one statement", long, longFunc,
		tables+len(airless), tables)
	if len(airless) > 0 {
		slices.Sort(airless)
		t.Errorf("functions over %d lines without a blank line:\n%s", longFunc, strings.Join(airless, "\n"))
	}
}

// No type is one on which everything hangs: what needs more methods is taken apart
// into parts with one subject each.
func TestTypesAreSmall(t *testing.T) {
	largest, most := "", 0
	for pkg, files := range goFiles(t) {
		methods := map[string]int{}
		for _, file := range files {
			for _, f := range functions(t, file) {
				if f.receiver != "" {
					methods[f.receiver]++
				}
			}
		}
		for name, n := range methods {
			if n > most {
				largest, most = pkg+"."+name, n
			}
			if n > maxMethods {
				t.Errorf("type %s.%s has %d methods, want at most %d: take it apart", pkg, name, n, maxMethods)
			}
		}
	}
	t.Logf("the type with most methods is %s: %d", largest, most)
}

// function is the place of a function in its file, in lines from 1.
type function struct {
	name        string
	receiver    string // its type; "": it is not a method
	first, last int
	statements  int // of its body itself
}

func functions(t *testing.T, file string) []function {
	t.Helper()
	set := token.NewFileSet()
	parsed, err := parser.ParseFile(set, file, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}

	var out []function
	for _, decl := range parsed.Decls {
		if f, ok := decl.(*ast.FuncDecl); ok && f.Body != nil {
			out = append(out, function{
				f.Name.Name, receiverOf(f), set.Position(f.Pos()).Line, set.Position(f.End()).Line, len(f.Body.List),
			})
		}
	}
	return out
}

// receiverOf is the name of a method's type; "" for a function.
func receiverOf(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return ""
	}
	of := f.Recv.List[0].Type
	if star, is := of.(*ast.StarExpr); is {
		of = star.X
	}
	switch generic := of.(type) {
	case *ast.IndexExpr:
		of = generic.X
	case *ast.IndexListExpr:
		of = generic.X
	}
	return of.(*ast.Ident).Name
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
