package launchers

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

// listForm is how an option with several values is spelled.
type listForm int

const (
	spread   listForm = iota // --name a b c (argparse nargs)
	repeated                 // --name a --name b
	comma                    // --name a,b
)

// spelling is the option syntax of one engine. The zero value suits a plain
// GNU-like program: "--name value", switches, lists spread.
//
// For every engine: null leaves the option out; true is the bare switch; a
// number is spelled as in the recipe; "" is an explicit empty value; a map is
// compact JSON text with sorted keys; an empty list leaves the option out. A
// name with dashes in front ("-tp", "--mlock") is taken as it stands.
type spelling struct {
	engine string

	rename    func(Arg) Arg                     // to what current builds take; not for names with dashes
	short     func(name string) bool            // written with a single dash
	canonical func(name string) string          // one name for all spellings of an option
	falsehood func(name string) string          // the flag for false; "": left out
	boolValue func(name string, on bool) string // value of an option that takes on, off and the like; "": a switch
	list      func(name string) listForm

	// joinDash: a value that begins with a dash becomes --name=value, because
	// the engine would take it for the next option.
	joinDash bool

	underscores bool // names keep theirs: the program is not known to take dashes as well

	owned map[string]string // canonical name -> the recipe's key that sets it
}

// optionName is what may stand before a value: letters first, no "=".
var optionName = regexp.MustCompile(`^-{0,2}[A-Za-z][A-Za-z0-9_.-]*$`)

// render turns arguments into argv elements, in their order.
func (s spelling) render(args []Arg) ([]string, error) {
	var argv []string
	given := map[string]string{}
	for _, arg := range args {
		if !optionName.MatchString(arg.Name) {
			return nil, fmt.Errorf("args: %q is no option name: give the bare name as key and the value beside it", arg.Name)
		}
		name := arg.Name
		arg = s.current(arg)
		if arg.Value == nil {
			continue
		}
		key := s.key(arg.Name)
		if owner, ok := s.owned[key]; ok {
			return nil, fmt.Errorf("args: %s is set by bench: use the key %s: of the server block", name, owner)
		}
		if first, ok := given[key]; ok {
			return nil, fmt.Errorf("args: %s and %s are one option of %s: keep one of them", first, name, s.engine)
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

// has reports whether args name the option of that canonical name at all,
// null included.
func (s spelling) has(args []Arg, canonical string) bool {
	_, ok := s.find(args, canonical)
	return ok
}

// find returns the value of the option of that canonical name.
func (s spelling) find(args []Arg, canonical string) (any, bool) {
	for _, arg := range args {
		if s.key(s.current(arg).Name) == canonical {
			return arg.Value, true
		}
	}
	return nil, false
}

func (s spelling) current(arg Arg) Arg {
	if s.rename == nil || strings.HasPrefix(arg.Name, "-") {
		return arg
	}
	arg.Name = normalized(arg.Name)
	return s.rename(arg)
}

// key is the name under which all spellings of an option meet.
func (s spelling) key(name string) string {
	name = normalized(strings.TrimLeft(name, "-"))
	if s.canonical != nil {
		return s.canonical(name)
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

// flag is the option's first argv element.
func (s spelling) flag(name string) string {
	if !s.underscores {
		name = normalized(name)
	}
	switch {
	case strings.HasPrefix(name, "-"):
		return name
	case s.short != nil && s.short(name):
		return "-" + name
	}
	return "--" + name
}

func (s spelling) option(arg Arg) ([]string, error) {
	flag := s.flag(arg.Name)
	switch value := arg.Value.(type) {
	case bool:
		return s.boolean(arg.Name, flag, value), nil
	case []any:
		return s.many(arg.Name, flag, value)
	default:
		text, err := scalar(value)
		if err != nil {
			return nil, err
		}
		return s.pair(flag, text), nil
	}
}

func (s spelling) boolean(name, flag string, on bool) []string {
	key := s.key(name)
	if s.boolValue != nil {
		if text := s.boolValue(key, on); text != "" {
			return s.pair(flag, text)
		}
	}
	if on {
		return []string{flag}
	}
	if s.falsehood != nil {
		if no := s.falsehood(key); no != "" {
			return []string{no}
		}
	}
	return nil
}

func (s spelling) many(name, flag string, values []any) ([]string, error) {
	texts := make([]string, 0, len(values))
	for _, value := range values {
		text, err := scalar(value)
		if err != nil {
			return nil, err
		}
		texts = append(texts, text)
	}
	form := spread
	if s.list != nil {
		form = s.list(s.key(name))
	}
	switch {
	case len(texts) == 0:
		return nil, nil
	case form == comma:
		return s.pair(flag, strings.Join(texts, ",")), nil
	case form == repeated || len(texts) == 1:
		var argv []string
		for _, text := range texts {
			argv = append(argv, s.pair(flag, text)...)
		}
		return argv, nil
	}
	for _, text := range texts {
		if strings.HasPrefix(text, "-") {
			return nil, fmt.Errorf("%q begins with a dash, and %s would take it for an option: it cannot stand in a list", text, s.engine)
		}
	}
	return append([]string{flag}, texts...), nil
}

func (s spelling) pair(flag, text string) []string {
	if s.joinDash && strings.HasPrefix(text, "-") {
		return []string{flag + "=" + text}
	}
	return []string{flag, text}
}

// scalar is the text of one value.
func scalar(value any) (string, error) {
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
		if text, err = compactJSON(v); err != nil {
			return "", err
		}
	case nil:
		return "", fmt.Errorf("null cannot stand in a list")
	default:
		return "", fmt.Errorf("a value of type %T cannot become text", value)
	}
	if strings.ContainsRune(text, 0) {
		return "", fmt.Errorf("%q holds a NUL byte", text)
	}
	return text, nil
}

func compactJSON(value any) (string, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return "", fmt.Errorf("spell as JSON: %w", err)
	}
	return strings.TrimSuffix(out.String(), "\n"), nil
}
