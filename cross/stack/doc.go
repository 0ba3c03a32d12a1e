// Package stack is a whole terminal for the campaigns: the agent on a real store, a careful register on a cable that can
// be damaged, and the embedded backend behind a network that can be bad. All of it runs in one process, without a port,
// and is made for a synctest bubble: hours pass in milliseconds.
//
// It owns the cable, the network and the register's conscience (what it was told); it guarantees that nothing of it
// is left running after Close, and that every fault is drawn from the seed it is given.
//
// It is imported by the campaigns below cross only. It must not import testing, and changes nothing of the product: a
// campaign's mutation goes through Options.
package stack
