// Command standalone is the fake engine as a program of its own, for images of
// real container engines.
//
// What goes in: the configuration of a fake engine in a variable. What comes out:
// a server that behaves as the tests ask. It never ships.
package main

import (
	"fmt"
	"os"

	"github.com/benchrig/bench/internal/fakeengine"
)

func main() {
	fakeengine.Main()
	fmt.Fprintln(os.Stderr, "fake engine: "+fakeengine.Variable+" is not set")
	os.Exit(1)
}
