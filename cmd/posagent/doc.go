// Command posagent is the payment agent of a small ARM terminal, the embedded backend to try it
// with, and a cash register to ask it: one static binary.
//
// It owns flags, wiring and exit codes, with one small file per verb. It converts agent/config into
// each room's own configuration and decides nothing about money.
//
// It guarantees that the command table in commands.go is the only list of verbs: help, completion
// and manual are made from it. It is imported by no package.
package main
