// Command posagent is one static binary: the payment terminal on a small Linux box, an embedded
// backend to try it with, and a cash register that sends it requests.
//
// It owns flags, wiring and exit codes, with one small file per verb. It converts agent/config
// into each room's own configuration and decides nothing about money.
//
// It guarantees that the command table in commands.go is the only list of verbs: help, completion
// and manual are made from it, by cmd/usage. It is imported by no package.
//
// Files, from the bottom: a file uses files of its own line and of the lines before it.
//
//   - exit, output, build, memory: exit codes, streams, the binary's name, the process
//   - command, span, config, trusted_files, state: a call, its flags and settings, where its files lie
//   - remedies, engine, keys, journal, deeds: how a verb opens the journal, what an error means
//   - upstream, paylink, front, protocols, about, live, facts, port, terminal, start, embedded:
//     what the terminal and the embedded backend are made of
//   - find, operation, pending, replace_file, bundle_key, bundle, export: what several verbs do
//   - verbs, help: what is read and printed of a table of verbs
//   - the verbs, a file each; those below ops, sale, config, backend and register have their own
//   - commands, main: the table of all verbs, and what runs one
package main
