// Package doctor finds what is wrong with a terminal and says what to type.
//
// It owns the table of checks (table.go and the files it lists), their texts (english.txt,
// german.txt), their order, and the rule that one cause makes one failure. A check reads facts that
// its caller gives it, the kernel's files below /proc and /sys, and the state directory.
//
// It guarantees:
//   - Each check has an id that never changes its meaning, and a remedy that deletes nothing.
//   - A check runs only after all that it depends on. If one of these fails, it is skipped and names
//     the check that it waits for.
//   - Each check has a time limit, and so has the whole examination. A check that panics fails by
//     itself. Results stand in the order of the table.
//   - It writes one file of its own (Hold) and the probe file of a disk, nothing else. It opens no
//     serial device and listens on no port.
//
// It imports agent/ready for causes and their words, and no other package of this module.
package doctor
