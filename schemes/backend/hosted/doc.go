// Package hosted is the hosted build service of the embedded backend (S2): orders, payment
// sessions with hosted fields, challenges and alternative methods, operations on payments, and
// notifications to the merchant.
//
// It owns the tables sessions_order, sessions_session, sessions_operation and sessions_contract.
// It guarantees:
//   - An order is paid at most once, with any number of sessions and of finalize calls. In any
//     order of calls its postings are those of books.
//   - No answer and no notification leaves before it is durable. Both are in the commit of their
//     cause.
//   - A card number and a validation code are read from a hosted field's own request, checked and
//     dropped. It stores only the name of the test card, its first six and last four digits and its
//     expiry. No page, reply or message has more.
//   - A hosted field may stand only in a frame of the merchant's origin and sends messages to that
//     origin alone. A message has the state of the field, never its content.
//   - A session ends after five minutes, or after Life of Options. After that nothing in it is
//     collected, paid or cancelled.
//
// Files, from the ground up: machine.go has the states, row.go the rows, methods.go what a
// customer may pay with, show.go and notice.go what a merchant sees, bank.go moves the money.
// build.go, field.go, pay.go, post.go and page.go are the services and pages, new.go the
// constructor.
//
// It accepts test cards only. It must not import another room of the backend besides the shared
// ones.
package hosted
