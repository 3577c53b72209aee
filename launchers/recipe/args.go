package recipe

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"strings"
)

// ListForm is how an option with several values is spelled.
type ListForm int

// Spread, Repeated, Comma and JSONList are the forms; Spread is the zero value.
const (
	Spread   ListForm = iota // --name a b c (argparse nargs)
	Repeated                 // --name a --name b
	Comma                    // --name a,b
	JSONList                 // --name '["a","b"]'
)

// Spelling is the option syntax of one engine. The zero value suits a plain
// GNU-like program: "--name value", switches, lists spread.
//
// For every engine: null leaves the option out; true is the bare switch; a
// number is spelled as in the recipe; "" is an explicit empty value; a map is
// compact JSON text with sorted keys; an empty list leaves the option out. A
// name with dashes in front ("-tp", "--mlock") is taken as it stands.
type Spelling struct {
	Engine string

	Rename    func(Arg) Arg                     // to what current builds take; not for names with dashes
	Short     func(name string) bool            // written with a single dash
	Canonical func(name string) string          // one name for all spellings of an option
	Falsehood func(name string) string          // the flag for false; "": left out
	BoolValue func(name string, on bool) string // value of an option that takes on, off and the like; "": a switch
	List      func(name string) ListForm

	// JoinDash: a value that begins with a dash becomes --name=value, because
	// the engine would take it for the next option.
	JoinDash bool

	// JSONParts: an option with dots in its name is a part of a JSON option, and
	// its value is one word of JSON.
	JSONParts bool

	Underscores bool // names keep theirs: the program is not known to take dashes as well

	Owned map[string]string // canonical name -> the recipe's key that sets it
}

// OptionName is what may be before a value: letters first, no "=".
var OptionName = regexp.MustCompile(`^-{0,2}[A-Za-z][A-Za-z0-9_.-]*$`)

// Render turns arguments into argv elements, in their order.
func (s Spelling) Render(args []Arg) ([]string, error) {
	var argv []string
	given := map[string]string{}
	for _, arg := range args {
		if !OptionName.MatchString(arg.Name) {
			return nil, fmt.Errorf("args: invalid option name %q: give the bare name as key and the value beside it",
				arg.Name)
		}
		name := arg.Name
		arg = s.current(arg)
		if arg.Value == nil {
			continue
		}
		key := s.Key(arg.Name)
		if owner, ok := s.Owned[key]; ok {
			return nil, fmt.Errorf("args: %s is set by bench: use the key %s: of the server block", name, owner)
		}
		if first, ok := given[key]; ok {
			return nil, fmt.Errorf("args: %s and %s are one option of %s: keep one of them", first, name, s.Engine)
		}
		given[key] = name
		words, err := s.option(arg)
		if err != nil {
			return nil, fmt.Errorf("args: %s: %w", name, err)
		}
		argv = append(argv, words...)
	}

	return argv, nil
}

// Has reports whether args name the option of that canonical name at all,
// null included.
func (s Spelling) Has(args []Arg, canonical string) bool {
	_, ok := s.Find(args, canonical)
	return ok
}

// Find returns the value of the option of that canonical name.
func (s Spelling) Find(args []Arg, canonical string) (any, bool) {
	for _, arg := range args {
		if s.Key(s.current(arg).Name) == canonical {
			return arg.Value, true
		}
	}
	return nil, false
}

func (s Spelling) current(arg Arg) Arg {
	if s.Rename == nil || strings.HasPrefix(arg.Name, "-") {
		return arg
	}
	arg.Name = normalized(arg.Name)
	return s.Rename(arg)
}

// Key is the name under which all spellings of an option meet.
func (s Spelling) Key(name string) string {
	name = normalized(strings.TrimLeft(name, "-"))
	if s.Canonical != nil {
		return s.Canonical(name)
	}
	return name
}

// normalized spells a name with dashes; what follows a dot (vLLM's path into
// a JSON option) keeps its underscores.
func normalized(name string) string {
	head, path, dotted := strings.Cut(name, ".")
	head = strings.ReplaceAll(head, "_", "-")
	if dotted {
		return head + "." + path
	}
	return head
}

// Flag is the option's first argv element.
func (s Spelling) Flag(name string) string {
	if !s.Underscores {
		name = normalized(name)
	}
	switch {
	case strings.HasPrefix(name, "-"):
		return name
	case s.Short != nil && s.Short(name):
		return "-" + name
	}
	return "--" + name
}

func (s Spelling) option(arg Arg) ([]string, error) {
	flag := s.Flag(arg.Name)
	if s.JSONParts && strings.Contains(arg.Name, ".") {
		text, err := jsonPart(arg.Value)
		if err != nil {
			return nil, err
		}
		return s.Pair(flag, text), nil
	}

	switch value := arg.Value.(type) {
	case bool:
		return s.boolean(arg.Name, flag, value), nil
	case []any:
		return s.many(arg.Name, flag, value)
	default:
		text, err := Scalar(value)
		if err != nil {
			return nil, err
		}
		return s.Pair(flag, text), nil
	}
}

func (s Spelling) boolean(name, flag string, on bool) []string {
	key := s.Key(name)
	if s.BoolValue != nil {
		if text := s.BoolValue(key, on); text != "" {
			return s.Pair(flag, text)
		}
	}

	if on {
		return []string{flag}
	}
	if s.Falsehood != nil {
		if no := s.Falsehood(key); no != "" {
			return []string{no}
		}
	}

	return nil
}

func (s Spelling) many(name, flag string, values []any) ([]string, error) {
	form := Spread
	if s.List != nil {
		form = s.List(s.Key(name))
	}
	if form == JSONList {
		text, err := CompactJSON(values)
		return s.Pair(flag, text), err
	}

	texts := make([]string, 0, len(values))
	for _, value := range values {
		text, err := Scalar(value)
		if err != nil {
			return nil, err
		}
		texts = append(texts, text)
	}

	switch {
	case len(texts) == 0:
		return nil, nil
	case form == Comma:
		return s.Pair(flag, strings.Join(texts, ",")), nil
	case form == Repeated || len(texts) == 1:
		var argv []string
		for _, text := range texts {
			argv = append(argv, s.Pair(flag, text)...)
		}
		return argv, nil
	}

	for _, text := range texts {
		if strings.HasPrefix(text, "-") {
			return nil, fmt.Errorf("%q begins with a dash, and %s would take it for an option: it is not allowed in a "+
				"list", text, s.Engine)
		}
	}

	return append([]string{flag}, texts...), nil
}

// Pair spells an option with one value: two arguments, or flag=text where JoinDash asks for it.
func (s Spelling) Pair(flag, text string) []string {
	if s.JoinDash && strings.HasPrefix(text, "-") {
		return []string{flag + "=" + text}
	}
	return []string{flag, text}
}

// jsonPart is a value as an engine reads it that tries JSON first and takes
// anything else as text: text that looks like another JSON value is quoted.
func jsonPart(value any) (string, error) {
	switch v := value.(type) {
	case bool, []any:
		return CompactJSON(v)
	case string:
		if json.Valid([]byte(v)) {
			return CompactJSON(v)
		}
	}

	return Scalar(value)
}

// Scalar is the text of one value.
func Scalar(value any) (string, error) {
	var text string
	switch v := value.(type) {
	case string:
		text = v
	case json.Number:
		text = v.String()
	case bool:
		text = fmt.Sprint(v)
	case map[string]any, []any:
		var err error
		if text, err = CompactJSON(v); err != nil {
			return "", err
		}
	case nil:
		return "", fmt.Errorf("null is not allowed in a list")
	default:
		return "", fmt.Errorf("a value of type %T cannot become text", value)
	}

	if strings.ContainsRune(text, 0) {
		return "", fmt.Errorf("%q contains a NUL byte", text)
	}

	return text, nil
}

// CompactJSON is the value as JSON on one line, with sorted keys and without HTML escapes.
func CompactJSON(value any) (string, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return "", fmt.Errorf("spell as JSON: %w", err)
	}
	return strings.TrimSuffix(out.String(), "\n"), nil
}

// Across reserves options that bench sets for a server over several nodes.
func (s Spelling) Across(span Span, names ...string) Spelling {
	if !span.Several() {
		return s
	}
	s.Owned = maps.Clone(s.Owned)
	for _, name := range names {
		s.Owned[name] = "nodes"
	}
	return s
}
