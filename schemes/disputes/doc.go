// Package disputes is the contract with the dispute service (S1 2.3, 4.2): an issuer disputes a card transaction, lists its
// cases, lists those of a queue, moves them along, and sends and fetches documents.
//
// Guarantees:
//   - A card number travels encrypted only (RSA-2048, OAEP); who holds this package and the public key cannot read it. Names,
//     expiry dates, passwords and access tokens print, log and marshal as nothing; EncodeCreate, EncodeList, EncodeQueue and
//     EncodeUpdate are the only ways they leave, onto the wire.
//   - A document is never in memory as a whole: Handler and Client keep it in a nameless file while the call lasts.
//   - Every code of S1 7 survives the wire both ways; a reply that is not exactly what S1 4.2 promises is an error; a write
//     whose effect is not known is UnknownOutcome (or Internal where the service itself says so).
//   - What another service calls a file is a plain name without a path.
//
// It imports schemes/money, schemes/wire and the standard library, and must not import another service, the store or
// the agent.
//
// Decisions:
//
// 2026-11-22. A refusal that S1 7 has a code for is an answer 200 with responseCode 99 and that code, on every route but the
// document's. All others are problem bodies as the other services of /api/v1 have them, 401, 403 and 404 among them. A
// broken reason-code rule is DIS0004E: what it misses is what a case is made from.
// 2026-11-22. What the service judges answers so too: a cardNumber, transactionAmount or transactionCurrency that cannot be read is
// DIS0004E (no transaction is found by it), a disputeCurrency that is none DIS0005E, and a move in the wrong queue DIS0101E, a code
// of ours. A body that is not JSON of the right types, and a field that no code is about, is 400 as a problem body.
//
// 2026-11-22. claimValidationRequired absent means Y. A transaction is looked for by providerTransactionID,
// cardSchemeTransactionID or acqReferenceData, or else by cardNumber, transactionDate and transactionAmount together;
// whatever else of these is given must agree. Less is DIS0004E.
//
// 2026-11-22. Amounts are minor units in both directions, as everywhere in S1 where nothing else is stated: 1250 is 12.50 EUR.
// 1250.0 is 1250, and a fraction is refused, not rounded. S1 2.3 calls the amounts signed: a sign is read, and since every
// purchase is positive here, a negative transactionAmount matches none (DIS0002E) and a negative disputeAmount is DIS0005E.
// disputeAmount is needed where the caller names a dispute reason, more than 0 and at most the transaction's; its currency is
// the transaction's.
//
// 2026-11-22. cardNumber is Base64 of 256 bytes. OAEP with SHA-256, with SHA-1, and with SHA-256 over SHA-1 masks are all
// read: libraries differ. GET /api/v1/disputes/key (ours) answers the public key as PEM.
//
// 2026-11-22. A list wants one criterion at least (DIS0004E); nextPageKey goes with the same criteria and means "after
// this". numberOfDisputeCases asks for a page of 1 to 500, default 50, and answers how many the page has. Flags are Y and N.
// history = Y gives every status of a case, otherwise the newest alone; isOpen = Y or N leaves closed or open cases out.
//
// 2026-11-22. A body is at most 16 MiB, a document at most 10 MiB. A document that the service does not take is a line of
// documentsErrorList and makes responseCode 01; one that is no Base64 makes the whole body unreadable (400).
//
// 2026-11-22. The bytes of a document are inputStream.content, Base64 whatever `encoding` asks for (inputStream.encoding
// says so); sizeLimit is a number of bytes, and a longer document is 413. Of file, uri and url only what does not tell
// about the server is filled in.
//
// 2026-11-22. The key of an operation travels as Idempotency-Key on create and update. Paths are matched without regard to
// case. accessToken, userID and password of a body are carried, and proven by nobody here: the header proves the caller.
//
// 2026-11-22. The operator's own spelling of the provider… fields (netsDisputeReasonCode) is read too, and written where the
// Client is given one.
package disputes
