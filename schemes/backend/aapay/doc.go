// Package aapay simulates the providers behind the alternative-scheme service. It implements
// aapay.Service (S1 2.4, 3.2, 4.3) and methods.Service (S1 2.5, 4.4) over a store, and the page
// that a customer opens from the QR code.
//
// Files: seed.json has the methods and their providers (seed.go reads it), machine.go the states,
// row.go the rows, advance.go what happens when it is due, money included, prepare.go and undo.go
// how a payment and its undoing are judged, act.go what a customer does, page.go the page.
//
// It guarantees:
//   - A key and a terminalReference have one effect each, however many calls use them at once.
//   - What was answered is durable. Money moves only as the books decide, in the commit that
//     changes the state.
//   - A transaction has accountState COMMIT exactly if its postings moved money to or from the
//     merchant.
//   - A reversed payment takes no more money, even if the reversal came first.
//
// Time is evaluated at each access, in the order of the due times. Run does it for transactions
// without access, so a restart or a late reader sees the same history.
//
// It must not import another room of the backend besides books, pages, room and scenario.
package aapay
