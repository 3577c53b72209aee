package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// choice is a flag that takes one of some values.
type choice struct {
	given    *string
	values   []string
	optional bool // it may be empty, as it is by default
}

// addChoice adds a flag whose help, completion and error list the same values. The
// text in *given is its default; about precedes the values in the help.
func addChoice(cmd *cobra.Command, given *string, name, about string, values ...string) {
	cmd.Flags().Var(choice{given, values, *given == ""}, name, about+strings.Join(values, ", "))
	completeValues(cmd, name, values...)
}

func (c choice) Set(given string) error {
	if slices.Contains(c.values, given) || given == "" && c.optional {
		*c.given = given
		return nil
	}
	return fmt.Errorf("want one of %s", strings.Join(c.values, ", "))
}

func (c choice) String() string {
	if c.given == nil { // pflag's own zero value
		return ""
	}
	return *c.given
}

func (c choice) Type() string { return "string" }

// flagError is an error of a flag with the command whose help explains it.
func flagError(cmd *cobra.Command, err error) error {
	if invalid, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		err = fmt.Errorf("--%s %q: %w", invalid.GetFlag().Name, invalid.GetValue(), invalid.Unwrap())
	}
	return usageError(fmt.Errorf("%w (see '%s --help')", err, cmd.CommandPath()))
}
