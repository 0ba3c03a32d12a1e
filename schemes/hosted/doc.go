// Package hosted is the contract with the hosted build service (S2): an order and a payment session
// whose fields a web platform shows in its own page, the operations on the payment, and the
// notification to the merchant.
//
// It guarantees:
//   - A Sessions or Orders behind Handler gets only calls that keep each stateless rule. Amounts
//     are texts of whole numbers in the smallest unit, whatever form was sent.
//   - A reply that is not exactly a success is an error. A write whose effect is not known is
//     UnknownOutcome, never a success and never a refusal.
//   - The securityToken is written by wire.Encode only. It is masked in fmt, slog, encoding/json and
//     each error here.
//   - No type here has a field for a card number or a validation code. They go from a hosted field
//     to the service alone.
//
// It must not import another service, the store or the agent.
package hosted
