// Package paylinks is the contract with the payment-link service (S1 2.1, 2.2, 3.1, 4.1, 5, 6, 7): payment links, and the
// transactions their customers make.
//
// Guarantees:
//   - A request is served only when its ApiSignature is right for the parameters that it carries (signature.go), or its X-API-KEY
//     is; a missing signature is refused on every route. The comparison takes the same time wherever two signatures differ.
//   - A create, charge, capture, refund or delete whose effect is not known is UnknownOutcome, never a success and never a
//     refusal.
//   - No error text repeats what was sent; secret and signature are in no text at all.
//   - An attachment never stands in memory as a whole.
//
// It imports schemes/money, schemes/wire, schemes/wire/bracket and the standard library, and must not import another service,
// the store or the agent.
//
// Decisions:
//
// 2026-11-21: parameters are signed as they were sent, in the query and then in the body; where a request has both, both count. The signature
// of the empty text is good on GET where nothing but instance and id was sent; whatever writes has to sign one parameter at least,
// such as the id, which the Client does. A signature that writes a space as %20
// is wrong: S1 5 says +. Files of a multipart body are not signed, as clients do not sign them.
//
// 2026-11-22: a signature covers the parameters and nothing else: neither method, path, attachments nor time. It is good for ever,
// and for every route that takes the same parameters: that of a read with id=7 is good for a refund with id=7 as well. Only a
// transport that nobody else reads keeps it from being used again. Use X-API-KEY over TLS instead: the secret itself proves each
// call, and TLS binds it to method, path and moment.
//
// 2026-11-21: X-API-KEY carries the secret in place of a signature. Where both are given, the key decides. JSON bodies are read
// as the forms they stand for, and may be signed as such.
//
// 2026-11-21: instance must stand in the query, once (422 otherwise); an unknown account is answered like a wrong secret.
//
// 2026-11-21: v1 is v1.0, which the official client writes so.
//
// 2026-11-21: pm that is no indexed list (pm=x, pm[]=x) is passed over, as the real service does; psp may be one id or a list; a
// psp of 0 or "" is none. Any name that ends in OrderId is providerOrderId: the operator's word stands before it. A purpose given
// per language counts with its first text.
//
// 2026-11-21: reservation, preAuthorization and subscriptionState exclude each other. A subscription needs its interval; periods are
// years, months, weeks and days of ISO 8601.
//
// 2026-11-22: title, description, referenceId and purpose want a text, not blanks alone; providerOrderId wants at most one psp; a link whose
// expirationDate is over in UTC is refused by the service. S1 does not say how attachments travel: they come as files of a multipart
// body, and a text in their place is refused.
//
// 2026-11-21: unknown contact fields are ignored on the wire; a Go caller's are refused.
//
// 2026-11-21: an id that is no whole number of 31 bits has no route. An id parameter must be the path's.
//
// 2026-11-21: the reason of an error body carries our Code or reason; a body without one is judged by the texts the real service
// writes, because it answered errors with 200 for years.
//
// 2026-11-21: a reply from the backend that makes a link with an id from FirstLocalID up is UnknownOutcome (MONEY C.6).
package paylinks
