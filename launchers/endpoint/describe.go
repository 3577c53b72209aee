package endpoint

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/benchrig/bench/internal/secrets"
	"github.com/benchrig/bench/launchers/engines"
	"github.com/benchrig/bench/launchers/serverlog"
	"github.com/benchrig/bench/results"
)

// Describe asks the server what it says about itself and adds it to what its log
// told.
func (e *Endpoint) Describe(ctx context.Context, fromLog serverlog.Facts) (startup *results.Startup, version string) {
	if e.isRouter() {
		_, _ = e.Models(ctx) // now that the model is loaded, its entry describes it; the rest does without
	}
	facts := fromLog.Clone()
	for _, d := range e.descriptions() {
		a := e.probe.get(ctx, e.ofModel(d.Path))
		var answer any
		if !a.OK() || json.Unmarshal(a.Body, &answer) != nil {
			continue
		}
		for _, place := range slices.Sorted(maps.Keys(d.Facts)) {
			if text, ok := scalarText(at(answer, place)); ok {
				facts.Note(d.Facts[place], text)
			}
		}
		if d.Arguments != "" {
			arguments := make(map[string]string)
			flatten(at(answer, strings.Trim(d.Arguments, ".")), "", arguments)
			facts.AddArguments(arguments)
		}
	}

	startup = facts.Startup()
	if startup != nil {
		startup.Arguments = e.presentable(startup.Arguments)
	}

	return startup, facts.Version
}

func (e *Endpoint) isRouter() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.routed
}

// descriptions are those of the server's kind; for one that runs already, of
// the engine that its model list reveals.
func (e *Endpoint) descriptions() []engines.Description {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.kind.External && !e.routed {
		return e.kind.API.Describe
	}
	all := e.kind.API.Describe
	if engine, known := engines.Lookup(e.engine); known {
		all = engine.API.Describe
	}
	return slices.DeleteFunc(slices.Clone(all), func(d engines.Description) bool {
		return d.Path == "/v1/models" && !e.listedFirst // its facts are about the first one
	})
}

// presentable hides secrets in arguments: those that are known, and whatever
// is named like one.
func (e *Endpoint) presentable(arguments map[string]string) map[string]string {
	clean := e.redact.Values(arguments)
	for name, value := range clean {
		if value != "" && value != "[]" && secrets.IsName(name) {
			clean[name] = "***"
		}
	}
	if clean == nil {
		clean = map[string]string{}
	}
	return clean
}

// at is the value at a place within decoded JSON, nil if there is none.
func at(value any, place string) any {
	for place != "" {
		var name string
		name, place, _ = strings.Cut(place, ".")
		switch v := value.(type) {
		case map[string]any:
			value = v[name]
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i < 0 || i >= len(v) {
				return nil
			}
			value = v[i]
		default:
			return nil
		}
	}

	return value
}

// scalarText is a scalar as text; false for null, objects and lists.
func scalarText(value any) (string, bool) {
	switch v := value.(type) {
	case string:
		return v, true
	case bool:
		return strconv.FormatBool(v), true
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64), true
	}
	return "", false
}

// flatten collects the scalars of an object and of the objects in it under
// their places. Long texts, such as templates, and lists of objects are left
// out.
func flatten(value any, place string, into map[string]string) {
	const deepest = 3
	switch v := value.(type) {
	case map[string]any:
		if strings.Count(place, ".") >= deepest {
			return
		}

		for _, name := range slices.Sorted(maps.Keys(v)) {
			flatten(v[name], strings.TrimPrefix(place+"."+name, "."), into)
		}
	case []any:
		var words []string
		for _, item := range v {
			word, ok := scalarText(item)
			if !ok {
				return
			}
			words = append(words, word)
		}

		keep(into, place, fmt.Sprint(words))
	default:
		if text, ok := scalarText(v); ok {
			keep(into, place, text)
		}
	}
}

func keep(into map[string]string, place, text string) {
	if place != "" && len(text) <= serverlog.MaxArgument && len(into) < serverlog.MaxArguments {
		into[place] = text
	}
}
