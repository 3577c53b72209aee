// Package manual writes manual pages in roff from the commands of a program,
// one page for each command that is not hidden.
//
// What goes in: a command with its help and flags. What comes out: the pages, as
// files in a folder. It adds nothing to what the help says and runs no command.
package manual

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Source says whose pages these are.
type Source struct {
	Name string // program and version
	Date time.Time
}

// Write writes the pages of a command and of those beneath it to a folder.
func Write(c *cobra.Command, from Source, folder string) error {
	c.InitDefaultHelpFlag()
	file := filepath.Join(folder, pageName(c)+".1")
	if err := os.WriteFile(file, []byte(pageOf(c, from)), 0o644); err != nil { //nolint:gosec // anybody may read it
		return err
	}

	for _, sub := range c.Commands() {
		if !sub.IsAvailableCommand() || sub.IsAdditionalHelpTopicCommand() {
			continue
		}
		if err := Write(sub, from, folder); err != nil {
			return err
		}
	}

	return nil
}

func pageName(c *cobra.Command) string { return strings.ReplaceAll(c.CommandPath(), " ", "-") }

// pageOf is the page of one command.
func pageOf(c *cobra.Command, from Source) string {
	var p page
	p.printf(".TH %q \"1\" %q %q \"User Commands\"\n", strings.ToUpper(pageName(c)), from.Date.Format("Jan 2006"),
		from.Name)
	p.section("NAME")
	p.text(pageName(c) + " - " + c.Short)
	p.section("SYNOPSIS")
	p.printf(".B %s\n", escape(c.UseLine()))
	p.section("DESCRIPTION")
	p.text(cmp.Or(c.Long, c.Short))

	p.options("OPTIONS", c.NonInheritedFlags())
	p.options("OPTIONS OF ALL COMMANDS", c.InheritedFlags())
	if c.Example != "" {
		p.section("EXAMPLE")
		p.verbatim(strings.Split(strings.Trim(c.Example, "\n"), "\n"))
	}
	p.seeAlso(c)

	return p.String()
}

type page struct{ strings.Builder }

func (p *page) printf(format string, a ...any) { fmt.Fprintf(p, format, a...) }

func (p *page) section(title string) { p.printf(".SH %s\n", title) }

// text writes paragraphs, which blank lines part; indented lines stay as they
// are.
func (p *page) text(s string) {
	for i, paragraph := range strings.Split(strings.Trim(s, "\n"), "\n\n") {
		if i > 0 {
			p.printf(".PP\n")
		}
		lines := strings.Split(paragraph, "\n")
		if strings.HasPrefix(strings.TrimLeft(paragraph, "\n"), " ") {
			p.verbatim(lines)
			continue
		}
		for _, line := range lines {
			p.printf("%s\n", escape(line))
		}
	}
}

func (p *page) verbatim(lines []string) {
	p.printf(".nf\n")
	for _, line := range lines {
		p.printf("%s\n", escape(line))
	}
	p.printf(".fi\n")
}

func (p *page) options(title string, flags *pflag.FlagSet) {
	if !flags.HasAvailableFlags() {
		return
	}
	p.section(title)
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Deprecated != "" {
			return
		}

		value, usage := pflag.UnquoteUsage(f)
		p.printf(".TP\n")
		if f.Shorthand != "" {
			p.printf("\\fB%s\\fP, ", escape("-"+f.Shorthand))
		}
		p.printf("\\fB%s\\fP", escape("--"+f.Name))
		if value != "" {
			p.printf(" \\fI%s\\fP", escape(value))
		}
		p.printf("\n%s", escape(usage))
		if f.DefValue != "" && f.DefValue != "[]" && f.DefValue != "false" && f.DefValue != "0" && f.DefValue != "0s" {
			p.printf(" (default %s)", escape(f.DefValue))
		}
		p.printf("\n")
	})
}

func (p *page) seeAlso(c *cobra.Command) {
	var names []string
	if c.HasParent() {
		names = append(names, pageName(c.Parent()))
	}
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() && !sub.IsAdditionalHelpTopicCommand() {
			names = append(names, pageName(sub))
		}
	}

	if len(names) > 0 {
		p.section("SEE ALSO")
		for i, name := range names {
			if names[i] = fmt.Sprintf("\\fB%s\\fP(1)", escape(name)); i < len(names)-1 {
				names[i] += ","
			}
		}
		p.printf("%s\n", strings.Join(names, "\n"))
	}
}

// escape keeps roff from taking text for commands.
func escape(s string) string {
	s = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(s)
	if strings.HasPrefix(s, ".") || strings.HasPrefix(s, "'") {
		s = `\&` + s
	}
	return s
}
