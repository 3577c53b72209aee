// Package secrets recognises names of secrets and hides their values.
//
// What goes in: names of variables, headers and arguments; values that must
// not be shown; text from anywhere. What comes out: whether a name says that
// its value is a secret, and the text with "***" where a value stood, in any
// form in which programs write it. It reads no variable and no file.
package secrets
