// Package check has the rules of single fields that several services share: countries and languages.
//
// It guarantees that a rule gives one answer for one text, whatever service asks, and that it never repeats the text.
//
// It imports the standard library alone.
package check
