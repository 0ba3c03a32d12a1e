// Package payments is the bank behind the payment and tokenization services. It implements
// payments.Service and, by Tokens, tokens.Service (S0 1 to 4) over a store, and the page at which
// a customer pays.
//
// It owns the tables cards_payment, cards_op, cards_card (the vault) and cards_token. It
// guarantees:
//   - What was answered is durable. Money moves only as the books decide, in the commit that
//     changes the state. That commit also queues the events of S0 6.4.
//   - An Idempotency-Key has one effect, however many calls use it at once.
//   - Only the test cards of scenario.Cards are accepted. A card number is stored once, as a keyed
//     hash, masked, and sealed. A token is sealed and found by its keyed hash. A tokenSecret is
//     stored as a keyed hash only. A validationCode is never stored, not even in the hash that
//     guards a Key.
//
// Time (reservations, pages, refunds under way) is evaluated at each access to a payment, in the
// order of the due times. Run does it for payments without access.
//
// The page calls look, pay, answer and leave (pay.go). The last three take a function that
// invalidates the form's token in the same transaction, and return the next step. A repeated
// payment of a paid one changes nothing and returns nextDone.
//
// Files, from the ground up: machine.go has the states, payment.go what a payment takes from its
// request and shows in a reading, row.go the rows, means.go the vault, token.go the tokens,
// events.go what the merchant is told, bank.go what time does. operations.go moves the money.
// offer.go, pay.go and page.go are the page; read.go, create.go and tokens.go are the services.
//
// It must not import another room of the backend besides books, deliver, pages, room and scenario.
package payments
