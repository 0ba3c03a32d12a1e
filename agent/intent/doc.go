// Package intent judges whether an answer of a service is the answer to what was asked, and how a
// name that a caller chose is kept.
//
// It guarantees:
//   - What a service tells of a reference, an amount or a currency is compared with ours, and one
//     that differs is another's.
//   - A transaction that began before the request, by the service's own clock, is another's.
//   - An answer that names our own reference is ours. One that names nothing says nothing: who asks
//     has to know by another way, such as the reference that the question went by.
//   - A name that a status has shown is not replaced. One that came with an answer alone is, once the
//     service tells our own reference twice beside another name.
//   - A name is kept without a card number in it, and stays one name (KeptName).
//
// It is pure: it must not import the store, the checkout or a client, and calls no clock.
package intent
