// Package referee watches the wire between a terminal and its backend in a campaign. It has its
// own copy of the rules of the wire, so that a shared error of terminal and backend is found.
//
// It owns the record of what left the terminal, and of what reached the backend with its answer. A
// campaign puts Terminal (or Left) before everything that can lose a request, and Backend after
// it.
//
// Verdict returns these violations:
//   - one terminalReference under two Idempotency-Keys (S1 2.4)
//   - one Idempotency-Key with two requests, or answered with the ids of two things
//   - a plain initialize that is sent again: that route is not idempotent
//   - a status read earlier than 2 s after the initialize was answered, or than 2 s after the last
//     read. A read without an answer may be tried again at once, and one early read may come before
//     an abort.
//   - a transaction or payment in the books that no request made, that is not in the books although
//     the backend answered so, that is there twice, or that has another amount
//
// A restart of the terminal resets the interval of the reads (Restarted). Amounts are compared in
// hundredths, so a campaign's currency has two decimals. What customers do on pages is not judged,
// nor are payment links, which customers pay.
//
// It uses the standard library only and must not import any room of the project.
package referee
