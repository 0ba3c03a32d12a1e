// Package reconcile compares a till's list of its sales with the terminal's journal and with the
// backend.
//
// Files: list.go is a row of the list; csv.go and json.go read it. match.go finds the journal's sale
// of each row. judge.go is the table of what three answers mean, in one place. ask.go asks the
// backend, run.go joins them, report.go is the result, words.go says a finding in words.
//
// It guarantees:
//   - It reads only. It asks the backend for the status of references, and for nothing else.
//   - Each row of the list and each sale of the journal in the compared time has exactly one class.
//   - A sale that looks different is read a second time, in the journal and at the backend, before
//     it is reported: a sale that ended meanwhile is no finding.
//   - A backend that does not answer is never taken for one that does not know the sale.
//   - A list with an error is refused as a whole, with the line of the error.
//
// It must not import the checkout's drive, the outbox or an HTTP package.
package reconcile
