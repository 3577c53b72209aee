package main

import (
	"os"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/benchrig/bench/internal/manual"
)

// newManCommand writes the manual pages of packages.
func newManCommand() *cobra.Command {
	return &cobra.Command{
		Use: "man DIR", Short: "Write manual pages to a folder", Hidden: true, Args: args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, given []string) error {
			from := manual.Source{Name: "bench " + version, Date: time.Now()}
			if s, err := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64); err == nil {
				from.Date = time.Unix(s, 0).UTC() // the same commit makes the same pages
			}
			return manual.Write(cmd.Root(), from, given[0])
		},
	}
}
