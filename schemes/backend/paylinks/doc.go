// Package paylinks is the payment-link service of the embedded backend. It implements paylinks.Links
// and paylinks.Transactions (S1 2.1, 2.2, 3.1, 4.1, 6) over a store, and the page that a customer
// opens.
//
// It owns the tables links_*. It guarantees:
//   - A link has one payment, however many customers pay, delete and refund it at once.
//   - A deleted link is never paid. A link that was paid, or is being paid, is never deleted.
//   - Money moves only as the books decide, in the commit that changes the status and queues the
//     webhook.
//   - A customer's texts and a link's contents are sealed. Of a card only brand and masked number
//     are stored, and only test cards are accepted.
//   - The page sends a customer on only after that customer's own payment, and only to an address
//     of the link.
//
// Time is evaluated at each access, in the order of the due times and at their own moments. Run
// does it for links without access.
//
// Files, from the ground up: machine.go has the states, row.go the rows, contact.go and options.go
// what a link asks for, record.go and webhook.go what others see, pay.go and act.go how it is
// paid, transactions.go, service.go and page.go the doors, new.go puts it together.
//
// It must not import another room of the backend besides books, deliver, pages, room and scenario.
package paylinks
