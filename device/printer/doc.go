// Package printer prints receipts on an ESC/POS printer.
//
// It owns the Document (what stands on the paper), the Profile (what a printer can do), the bytes
// made of both, and the Printer, which sends them over a serial line, a USB printer's device file or
// into a plain file. Callers compose the Document; a copy is marked as one in its text.
//
// It guarantees:
//   - Text is never a command: control characters are removed. A character that the printer's code
//     pages do not have is spelled with others, or printed as "?". None is dropped.
//   - A line never breaks inside an amount. A pair that does not fit takes two lines.
//   - Print ends within Config.Bound and half a second, whatever the device does. It opens a lost
//     device again.
//   - An error of Print is ErrUnknownEnd if any part of the document may be on the paper. After any
//     other error nothing of it was printed, so it can be printed again as it is.
//   - Print returns nil only after the device has taken all bytes. With InOrder the printer has
//     also worked through them. Without a status command a lack of paper is not noticed.
//   - A printer that does not tell when it has worked through a document may lose power for a moment
//     within it, unseen. It prints the document's Short once more, set up anew, when that has had its time.
//
// It imports device/qr, and no other room. A line.Port's Open is an Opener.
package printer
