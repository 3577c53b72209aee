// Package leftovers removes what killed runs left behind on this machine:
// servers, their processes, containers and shared memory; and it undoes what
// their hooks changed.
//
// The register of runs and its notes go in; what was found and what
// became of it comes out. It never signals a process that cannot be shown to be
// a run's: by pid and start time, session, control group, or the run's cookie.
package leftovers
