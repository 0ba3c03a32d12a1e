// Command posagent is one static binary: the payment terminal on a small Linux box, an embedded
// backend to try it with, and a cash register that sends it requests.
//
// It owns flags, wiring and exit codes, with one small file per verb. It converts agent/config
// into each room's own configuration and decides nothing about money.
//
// It guarantees that the command table in commands.go is the only list of verbs: help, completion
// and manual are made from it. It is imported by no package.
package main
