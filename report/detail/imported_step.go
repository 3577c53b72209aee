package detail

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/metrics/versus"
	"github.com/benchrig/bench/report/table"
	"github.com/benchrig/bench/results"
)

// printImported prints where the figures of an imported step come from, what is
// known of load and server, and what the file says beyond that.
func printImported(p *table.Printer, r *results.Result) {
	o := r.Imported
	p.Section("Imported")
	where := fmt.Sprintf("%s, line %d", text.Clean(o.File), o.Line)
	if len(o.Also) > 0 {
		where += fmt.Sprintf(", the same again at lines %s", strings.Trim(fmt.Sprint(o.Also), "[]"))
	}

	p.Wrapped("  ", where+" ("+text.Clean(o.Format)+")")
	if o.Reading != "" {
		p.Wrapped("  ", fmt.Sprintf("by the definitions of vLLM's client (%s); an n of 0 in summary.csv is a number "+
			"of samples that the file does not give", o.Reading))
	}

	var known []string
	for _, setting := range versus.LoadSettings(r.Asked) {
		if r.IsStated(setting.Key) && len(r.LlamaBench) == 0 {
			known = append(known, setting.Name+" "+text.Clean(setting.Value))
		}
	}

	if known == nil && len(r.LlamaBench) == 0 {
		known = []string{"not stated"}
	}

	if known != nil {
		p.Wrapped("  ", "load: "+strings.Join(known, ", "))
	}

	for _, s := range r.Servers {
		printImportedServer(p, s)
	}

	var rest []string
	for _, name := range slices.Sorted(maps.Keys(r.Params)) {
		rest = append(rest, text.Clean(name)+" "+text.Clean(r.Params[name]))
	}

	for _, v := range o.Stated {
		if v.As == "" && v.Text != "null" {
			rest = append(rest, text.Clean(v.Label)+" "+text.Clean(v.Text))
		}
	}

	if rest != nil {
		p.Wrapped("  ", "also stated: "+strings.Join(rest, "; "))
	}
}

func printImportedServer(p *table.Printer, s results.Server) {
	for _, fact := range []struct{ name, value string }{
		{"launcher", s.Launcher},
		{"model", s.Model},
		{"version", s.Version},
	} {
		if fact.value != "" {
			p.Wrapped("  ", fact.name+": "+text.Clean(fact.value))
		}
	}
	if len(s.Argv) > 0 {
		words := []string{}
		for _, name := range slices.Sorted(maps.Keys(s.Env)) {
			words = append(words, name+"="+s.Env[name])
		}
		p.Wrapped("  ", "command: "+text.Clean(strings.Join(append(words, s.Argv...), " ")))
	}
}
