// Package sessions is the hosted build service of the embedded backend (S2): orders, payment sessions with their hosted fields,
// challenges and alternative methods, what is done with payments afterwards, and the notifications to the merchant.
//
// It owns the tables sessions_order, sessions_session, sessions_operation and sessions_contract. It guarantees:
//   - An order is paid once at most, however many sessions it has and however often one is finalized; whatever the order of
//     calls, its postings are those of books.
//   - Nothing is told and no notification queued before it is durable, and both are in the commit of what they tell about.
//   - A card number and a validation code are read from a hosted field's own request, judged, and forgotten: only the table's
//     name of the card, its first six and last four digits and its expiry stay. They are in no page, reply or message.
//   - A hosted field may stand in a frame of the merchant's origin only, and tells that origin alone; it says what became of
//     the field, never what stands in it.
//   - A session is over after five minutes, or the Life that Options say: nothing is collected, paid or cancelled in it then.
//
// It takes test cards only. It must not import another room of the backend beside the shared ones.
package sessions
