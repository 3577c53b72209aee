package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// newManCommand writes the manual pages of packages.
func newManCommand() *cobra.Command {
	return &cobra.Command{
		Use: "man DIR", Short: "Write manual pages to a folder", Hidden: true, Args: args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, given []string) error { return writeMan(cmd.Root(), given[0]) },
	}
}

// writeMan writes a page for a command and each command below it.
func writeMan(cmd *cobra.Command, dir string) error {
	cmd.InitDefaultHelpFlag()
	name := strings.ReplaceAll(cmd.CommandPath(), " ", "-")
	if err := os.WriteFile(filepath.Join(dir, name+".1"), []byte(manPage(cmd, name)), 0o644); err != nil {
		return err
	}
	for _, sub := range cmd.Commands() {
		if sub.Hidden || sub.Name() == "help" {
			continue
		}
		if err := writeMan(sub, dir); err != nil {
			return err
		}
	}
	return nil
}

// manPage is the page of one command in the language of man(7).
func manPage(cmd *cobra.Command, name string) string {
	var b strings.Builder
	fmt.Fprintf(&b, ".TH %s 1 \"\" \"bench %s\" \"User Commands\"\n", strings.ToUpper(name), roff(version))
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", roff(name), roff(cmd.Short))
	fmt.Fprintf(&b, ".SH SYNOPSIS\n.B %s\n", roff(cmd.UseLine()))
	fmt.Fprintf(&b, ".SH DESCRIPTION\n.nf\n%s\n.fi\n", roff(cmd.Long))

	if cmd.LocalFlags().HasAvailableFlags() {
		b.WriteString(".SH OPTIONS\n")
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if f.Hidden {
				return
			}
			value, usage := pflag.UnquoteUsage(f)
			fmt.Fprintf(&b, ".TP\n.B \\-\\-%s %s\n%s\n", roff(f.Name), roff(value), roff(usage))
		})
	}

	if cmd.Example != "" {
		fmt.Fprintf(&b, ".SH EXAMPLES\n.nf\n%s\n.fi\n", roff(cmd.Example))
	}

	b.WriteString(".SH SEE ALSO\n")
	var others []string
	for _, sub := range cmd.Commands() {
		if !sub.Hidden && sub.Name() != "help" {
			others = append(others, fmt.Sprintf(".BR %s (1)", roff(name+"-"+sub.Name())))
		}
	}

	if cmd.HasParent() {
		parent := strings.ReplaceAll(cmd.Parent().CommandPath(), " ", "-")
		others = append(others, fmt.Sprintf(".BR %s (1)", roff(parent)))
	}

	b.WriteString(strings.Join(others, " ,\n") + "\n")
	return b.String()
}

// roff escapes text for man(7): backslashes, hyphens, and dots and quotes at the
// beginning of a line, which would be commands.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}
