package offline

import "posagent/agent/outbox"

// The kinds of the services' writes. Those of undos stand in aapay.go.
const (
	KindPaymentCreate    = "payments.create"
	KindPaymentAuthorize = "payments.authorize"
	KindPaymentCapture   = "payments.capture"
	KindPaymentCancel    = "payments.cancel"
	KindPaymentRefund    = "payments.refund"
	KindTokenCreate      = "tokens.create"
	KindTokenRecurring   = "tokens.recurring"
	KindTokenVerify      = "tokens.verify"
	KindLinkCreate       = "paylinks.create"
	KindLinkDelete       = "paylinks.delete"
	KindTxnCharge        = "paylinks.charge"
	KindTxnCapture       = "paylinks.capture"
	KindTxnRefund        = "paylinks.refund"
	KindTxnCancel        = "paylinks.cancel"
)

// More names of services in the outbox's list.
const (
	Payments = "payments"
	Tokens   = "tokens"
	Paylinks = "paylinks"
)

// Policy says whether a write is stored when the backend does not answer.
type Policy string

// The policies.
const (
	Limited Policy = "within limits" // Limits decide; one with a validation code, or above them, is answered now or not at all
	Counted Policy = "by count"      // Limits.Count decides: it promises no money that a customer has not granted, or gives some back
	Always  Policy = "always"        // money that goes back is never refused
	Refused Policy = "no"            // needs an answer at once: 503 without a backend
)

// Row is one line of the operation table.
type Row struct {
	Kind    string // "" where nothing is stored
	Service string
	Thing   string // what it is about; "Thing/local id" is the aggregate, before and after the backend's id is known
	Makes   bool   // it makes the thing, whose local id is "L" and the Key
	Number  bool   // its local id is a number from 2,000,000,000 up instead
	Offline Policy
	Replay  outbox.Replay // if a reply was lost, where the backend honours Keys
	Keyless outbox.Replay // the same, where it does not
	Breaks  bool          // what is behind a failed one cannot succeed
	Pending string        // what the answer 202 says beside the operation
	Risk    string        // said with it: what may still become of it
}

// bounded is what an operation's amount counts against the limits.
func (r Row) bounded(amount int64) int64 {
	if r.Offline == Counted {
		return 0
	}
	return amount
}

const (
	cardRisk = "accepted offline: the payment may still be declined, and the merchant bears the risk"
	laterYes = "stored, not yet accepted: it may still be refused"
	linkRisk = "stored: nobody can pay the link before the backend has made it, its address is null until then"
)

// linkThing is the table's word for a payment link, whose local ids are numbers.
const linkThing = "link"

// Table is the operation table, the one place that says what is stored and what a lost reply means.
func Table() []Row {
	const payment, token, link, own = "payment", "token", linkThing, "terminalReference"
	const made, moved = `{"paymentId":"L<key>","payPageUrl":"http://127.0.0.1:8480/pay/L<key>"}`, `{"paymentId":"<as asked>","transactionRef":"L<key>"}`
	const stored = `{"tokenizationId":"L<key>"}`
	on := func(kind string) Row {
		return Row{Kind: kind, Service: Payments, Thing: payment, Offline: Limited, Replay: outbox.SameKey, Keyless: outbox.Compare, Pending: moved, Risk: laterYes}
	}
	const unmade, asked = `{"status":"success","data":[{"id":2000000001,"hash":null,"link":null}]}`, `{"status":"success","data":[{"id":"<as asked>"}]}`
	collect := func(kind string) Row { // whatever Keys are worth: the service this contract is taken from honours none
		return Row{Kind: kind, Service: Paylinks, Thing: "transaction", Offline: Counted, Replay: outbox.Compare, Keyless: outbox.Compare, Pending: asked, Risk: laterYes}
	}
	return []Row{
		// Without Keys a card payment that may have been made is in doubt; one that waits for its customer is made again.
		{Kind: KindPaymentCreate, Service: Payments, Thing: payment, Makes: true, Offline: Limited, Replay: outbox.SameKey, Keyless: outbox.Never, Breaks: true, Pending: made, Risk: cardRisk},
		on(KindPaymentAuthorize), on(KindPaymentCapture), on(KindPaymentCancel), on(KindPaymentRefund),
		// An orphan token moves no money.
		{Kind: KindTokenCreate, Service: Tokens, Thing: token, Makes: true, Offline: Limited, Replay: outbox.Safe, Keyless: outbox.Safe, Breaks: true, Pending: stored, Risk: laterYes},
		{Kind: KindTokenRecurring, Service: Tokens, Thing: token, Makes: true, Offline: Limited, Replay: outbox.Safe, Keyless: outbox.Safe, Breaks: true, Pending: stored, Risk: laterYes},
		{Kind: KindTokenVerify, Service: Tokens, Thing: token, Offline: Limited, Replay: outbox.Safe, Keyless: outbox.Safe, Pending: `{"tokenizationId":"<as asked>"}`, Risk: laterYes},
		// A link that nobody knows moves no money.
		{Kind: KindLinkCreate, Service: Paylinks, Thing: link, Makes: true, Number: true, Offline: Counted, Replay: outbox.Safe, Keyless: outbox.Safe, Breaks: true, Pending: unmade, Risk: linkRisk},
		{Kind: KindLinkDelete, Service: Paylinks, Thing: link, Offline: Counted, Replay: outbox.Safe, Keyless: outbox.Safe, Pending: asked, Risk: laterYes},
		collect(KindTxnCharge), collect(KindTxnCapture), collect(KindTxnRefund), collect(KindTxnCancel),

		{Kind: KindReversal, Service: Schemes, Thing: own, Offline: Always, Replay: outbox.SameKey, Keyless: outbox.Compare},
		{Kind: KindRefund, Service: Schemes, Thing: own, Offline: Always, Replay: outbox.SameKey, Keyless: outbox.Compare},
		{Kind: KindLinkReversal, Service: LinkUndos, Thing: own, Offline: Always, Replay: outbox.SameKey, Keyless: outbox.Compare},
		{Kind: KindLinkRefund, Service: LinkUndos, Thing: own, Offline: Always, Replay: outbox.SameKey, Keyless: outbox.Compare},
		{Service: Schemes, Thing: "initialize", Offline: Refused},
		{Service: "disputes", Offline: Refused},
		{Service: "hosted", Offline: Refused},
	}
}
