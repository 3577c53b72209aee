// Package container runs a server in a container of docker or podman.
//
// What goes in: a Job, which is a command line with what it needs of this
// machine. What comes out: the argv of the container engine's client (Recipe),
// or a running Container, which stops with a results.Proof; and the containers
// that an earlier run left (Leftovers). It knows no kind of server, runs no
// shell, and touches no container without the label that it has given.
package container
