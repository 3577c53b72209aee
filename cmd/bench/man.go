package main

import (
	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

// newManCommand writes the manual pages of packages.
func newManCommand() *cobra.Command {
	return &cobra.Command{
		Use: "man DIR", Short: "Write manual pages to a folder", Hidden: true, Args: args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, given []string) error {
			root := cmd.Root()
			root.DisableAutoGenTag = true // the same commit makes the same pages
			header := doc.GenManHeader{Section: "1", Source: "bench " + version, Manual: "User Commands"}
			return doc.GenManTree(root, &header, given[0])
		},
	}
}
