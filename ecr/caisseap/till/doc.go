// Package till writes and reads what a register of Caisse-AP does: the request of a payment, and the
// fields of an answer. It was written from ecr/caisseap/README.md, for the tools and the campaigns.
//
// It guarantees that an answer whose echoes are not those of its request is none. It shares no code
// with the terminal, and imports the standard library.
package till
