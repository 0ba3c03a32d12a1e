// Package stack is a whole terminal for the campaigns: the agent on a real store, a careful
// register on a cable that can be damaged, and the embedded backend behind a network that can
// fail. It all runs in one process without a port, and is made for a synctest bubble: hours pass
// in milliseconds.
//
// It owns the cable, the network and the record of what the register was told. It guarantees that
// none of its goroutines runs after Close, and that each fault is drawn from the given seed.
//
// Only the campaigns below cross import it. It must not import testing and changes nothing of the
// product: a campaign's mutation goes through Options.
package stack
