// Package doctor finds what is wrong with a terminal and says what to type.
//
// It owns the table of checks (table.go and the files it lists), their texts (english.txt,
// german.txt) and their order. Package exam below it runs them: one cause makes one failure. A check
// reads facts that its caller gives it, the kernel's files below /proc and /sys, and the state
// directory.
//
// It guarantees:
//   - Each check has an id that never changes its meaning, and a remedy that deletes nothing.
//   - It writes the probe file of a disk, and nothing else. It opens no serial device and listens on
//     no port.
//
// It imports agent/ready for causes and their words, device/file and exam, and no other package of
// this module.
package doctor
