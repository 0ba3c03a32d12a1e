// Package payments is the contract with the payment service (S0 1 to 4.1, 7): create, authorize, cancel, capture,
// refund and read a payment. What S0 does not show (the create answer, refund, read, webhooks of a payment) is as real
// clients of the service expect it.
//
// Guarantees:
//   - A Service behind Handler sees only bodies that keep every stateless rule, in one form (DecodeCreate).
//   - Every reply that is not exactly a success is an error; a write whose effect is not known is UnknownOutcome,
//     never a success and never a refusal. Unavailable on a write means that nothing was sent, or that the service
//     itself said that it refused before any effect.
//   - Card numbers, validation codes, tokens, IBANs and webhook authorizations are written by EncodeCreate and EncodePayment
//     and shown by nothing else: not by fmt, slog, encoding/json or any error here, not where a foreign reply repeats them.
//   - Sums of baskets are exact or refused; no float ever holds money or a percentage.
//
// It imports schemes/money, schemes/wire and the standard library, and must not import another
// service, the store or the agent.
//
// Decisions:
//
// 2026-11-21: of a create body, type, amount and currencyCode are wanted; amount may be absent or 0 where processing is
// Verify. In lists and objects that are sent: type of paymentMethodDetails and customer, pan and expiry of a card, token or
// iban of what pays with one, quantity and unitPrice of an item, eventName and url of a webhook. Every other field is
// optional and may be null. Processing absent is None, but Sale
// where a token pays without its owner (recurring, merchant-initiated): nobody would be there to continue it.
//
// 2026-11-21: a field of another variant is refused where it says something (a card in a hosted payment; redirectUrls,
// scaExemption and payPageConfiguration in Moto; companyName of an Individual). Moto takes a basket and a description.
// Moto needs cardDetails, or paymentMethodDetails that pay by themselves, not both; Sofort needs a customer at a page.
//
// 2026-11-21: ProviderHostedEcom and the operator's spelling of it are both accepted, and are ProviderHostedEcom inside. Where
// no operator is configured, or its name is "provider", that spelling is NetsHostedEcom.
//
// 2026-11-21: currencies: the payable ones, and the special ones that S0 2.4 names (XDR, UYI, CHW, CLF, COU, MXV, CHE)
// and the fund codes of ISO 4217 beside them (BOV, USN, UYW).
// A payment may be created in the latter, and no money ever moves in them: CurrencyNotPayable. Every other special or
// withdrawn code is Invalid.
//
// 2026-11-22: a basket's total must be the amount where both are sent and every item says its VAT (vatPercentage above 0). It is quantity × unitPrice, which real clients
// check before they send, or the same with discountPercentage applied, each line rounded either way. With a
// vatPercentage unitPrice includes it; without one S0 does not say what comes on top, and no total is compared. A unitPrice may be
// negative (a voucher is a line in shops), a quantity may not. Percentages are 0 to 100, rounded
// to 16 decimals: a double may have more.
//
// 2026-11-21: paymentNumber is ASCII letters and digits, at most 128. Texts have no control characters and no line
// separators; names at most 255 bytes, texts 4096, addresses 2048, lists 1000 entries, webhooks 100.
//
// 2026-11-21: a card number in description, checkoutText or an item's title is masked before anybody sees it.
//
// 2026-11-21: authorize without an amount reserves the payment's amount, capture without one collects what is left of the
// reservation, refund without one gives back what is left of the captures. An amount of a cancel is not read.
//
// 2026-11-22: an empty body of authorize, cancel, capture or refund is {}, and needs no Content-Type. What stays stricter than
// S0 2.1: currencyCode is needed, amount is needed unless processing is Verify, and a basket item needs quantity and unitPrice.
//
// 2026-11-21: authorize works on every created payment, whether its page was visited or not (S0 3); what a payment
// is then made with is the service's business.
//
// 2026-11-21: business refusals are 422 with a type of their own (errors.go); a broken rule is 400. 202 is a call that
// is stored and not yet answered by the backend (MONEY C.6).
//
// 2026-11-21: a foreign 422 is a Conflict even when the call carried a key, because S0 4.1 knows it as a refusal.
//
// 2026-11-21: a read payment also says its paymentId, its cancellations and the transactionRef of each entry; readers
// that do not know them ignore them. authorizedAmount stays after a capture and is 0 after a cancel.
package payments
