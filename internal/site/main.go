// Command site makes a static web site of the project's Markdown pages, with a
// search over all of them: `go run ./internal/site FOLDER`, in the project's root.
//
// What goes in: README.md, CHANGELOG.md, CONTRIBUTING.md, docs/ and the files that
// these link to. What comes out: a folder that any web server can serve and a
// browser can open without one. It loads nothing from a network, neither while it
// is made nor while it is read.
package main

import (
	"fmt"
	"os"
)

func main() {
	const arguments = 2
	if len(os.Args) != arguments {
		fmt.Fprintln(os.Stderr, "usage: site FOLDER")
		os.Exit(2)
	}
	pages, err := build(".", os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, "site:", err)
		os.Exit(1)
	}
	fmt.Printf("%d pages in %s: open %s/index.html\n", pages, os.Args[1], os.Args[1])
}
