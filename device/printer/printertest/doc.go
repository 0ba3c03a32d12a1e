// Package printertest is an ESC/POS printer for tests: it turns bytes into text, a picture and cuts.
//
// It owns the meanings of the commands as the makers' manuals give them, and code pages of its own.
// It shares no code with the room that it tests.
//
// It guarantees:
//   - What is on the paper depends on the bytes alone, however they arrive.
//   - Status commands are answered as a printer answers them: real-time ones at once, GS r in order.
//     Paper-out, an open cover and silence happen when the test says so.
//   - A byte or command that it does not know is reported by Strange and prints nothing.
//
// It imports golang.org/x/image and no package of the module.
package printertest
