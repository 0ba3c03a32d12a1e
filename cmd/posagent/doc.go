// Command posagent is the payment agent of a small ARM terminal, the embedded backend it is tried out against,
// and a cash register to try it with: one static binary, one small file per verb.
//
// It owns flags, wiring and exit codes. It converts agent/config into each room's own configuration and decides
// nothing about money. The command table in commands.go is the only list of verbs; help is generated from it.
package main
