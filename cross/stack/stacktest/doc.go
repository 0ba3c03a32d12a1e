// Package stacktest is the life of one terminal in a campaign: a directory, a bubble of virtual time,
// a terminal with what is around it, and the judgement of what it did.
//
// It guarantees that the directory is removed and that nothing runs after a life. Only the campaigns
// below cross import it.
package stacktest
