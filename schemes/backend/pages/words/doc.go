// Package words has the texts of the payment pages in the sixteen languages of S0 2.4.3, which rooms share that must not import
// each other.
//
// It guarantees that every language has every word. It imports the standard library alone.
package words
