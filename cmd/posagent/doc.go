// Command posagent is one static binary: the payment terminal on a small Linux box, an embedded
// backend to try it with, and a cash register that sends it requests.
//
// It owns flags, wiring and exit codes, with one small file per verb. It converts agent/config
// into each room's own configuration and decides nothing about money.
//
// It guarantees that the command table in commands.go is the only list of verbs: help, completion
// and manual are made from it. It is imported by no package.
//
// Files, from the bottom; each uses only those above it in this list:
//
//   - exit, output, build, memory: exit codes, streams, the binary's name, the process
//   - command, config, state, trusted_files: a call, its flags, its settings, where its files lie
//   - remedies, engine, keys, journal, deeds: how a verb opens the journal, and what an error means
//   - upstream, paylink, front, protocols, about, live, port, terminal, start, embedded: what the
//     terminal and the embedded backend are made of
//   - find, operation, pending, replace_file, bundle_key, bundle, export: what several verbs do
//   - the verbs: one file each, named after the verb; the sub-verbs of ops, config, journal, sale
//     and backend have files of their own
//   - verbs, help, complete, man: what is printed of the table; commands: the table; main
package main
