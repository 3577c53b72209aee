// Package slurm hands the jobs of a run to a Slurm cluster, by Slurm's own
// programs.
//
// What goes in: what each job gets and what it is to run. What comes out: the
// script of a job array, its id, the jobs that are queued or running. It never
// starts a server, reads a results folder, or touches a job that is not of the
// run's name and among the ids given; nothing but the script, in which every
// word is quoted, is ever read by a shell.
package slurm
