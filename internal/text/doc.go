// Package text words numbers for people and shortens text.
//
// Numbers and strings go in, text comes out. It formats only: it decides
// nothing and knows no unit beyond bytes and percent.
package text
