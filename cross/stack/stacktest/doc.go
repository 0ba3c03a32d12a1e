// Package stacktest runs one terminal in a campaign: its directory, its bubble of virtual time,
// the terminal with its register and its backend, and the judgement of the result.
//
// It guarantees that afterwards the directory is removed and no goroutine of the terminal runs.
// Only the campaigns below cross import it.
package stacktest
