//go:build !race

package chaos

// raceFlag builds the bench under test as these tests were built.
const raceFlag = "-race=false"
