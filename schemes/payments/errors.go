package payments

import "posagent/schemes/wire"

// The codes of this service: every code and reason survives its wire, because the problem's type names it
// (wire.WriteProblem lists the types of the codes). The reasons, with the number and name that the operator's sister
// service uses for the same refusal where there is one:
//
//	Reason                        status  sister  when
//	AmountDiffersFromOrderItems   400     1005    a basket was sent and its total is not the amount
//	ZeroCharge                    400     1002    an amount of zero where money is meant to move
//	OverCharge                    422     1001    more than is still reserved, or reserving more than the payment's amount
//	NotReserved                   422     1003    capture or cancel without a reservation
//	AlreadyReserved               422     1004    authorize of a payment that is, or was, reserved
//	AlreadyCharged                422     1008    cancel after money was captured; capture when nothing is left
//	InvalidRefundAmount           422     1009    refund above what was captured and not given back yet
//	ReservationExpired            422     1010    capture or cancel of a reservation that is too old
//	ChargeNotFound                422     1011    refund when nothing was captured
//	RefundFailed                  422     1014    the card's bank refused a refund
//	OrderItemsMissing             422     1015    capture of an invoice payment without a basket
//	AlreadyCancelled              422     1019    anything on a cancelled payment
//	PaymentMethodChargeFailed     422     1020    the bank refused a capture
//	PaymentReserveMethodFailed    422     1022    the bank refused a reservation; another try may succeed
//	PaymentAlreadyRefunded        422     1023    refund of a payment that was given back in full
//	HardDecline                   422     1029    the bank refused for good
//	ExpiredSubscription           422     1030    the recurring arrangement of a token is over, or it is too early for its next payment
//	InvalidSubscription           422     1031    a recurring payment with a token that was not made for one
//	InvalidToken                  422     -       unknown token, or wrong tokenSecret: the same answer for both
//	PaymentDetailsMissing         422     -       money was to move and no payment details were given
//	PaymentExpired                422     -       the customer's time on the page is over
//	CardExpired                   422     -       the card's expiry date is past
//	CardNotAccepted               422     -       a card, or kind of card, this service or this payment does not take
//	AuthenticationFailed          422     -       the cardholder did not pass 3-D Secure
//	CurrencyNotPayable            422     -       a currency that can be named but not paid with (XDR, CLF, …)
//
// From a foreign service, by status: 400 Invalid, 401 Unauthorized, 403 Forbidden, 404 NotFound, 409 KeyReused
// with a key and Conflict without, 413 TooLarge, 422 Conflict, 429 TooMany, 500 Internal on a read. 401, 403 and 429 count
// without, the others only with the service's own body. Everything else, and every body that is not what the
// status promises, is UnknownOutcome on a write and Unavailable on a read.
const (
	AmountDiffersFromOrderItems = "AmountDiffersFromOrderItems"
	ZeroCharge                  = "ZeroCharge"
	OverCharge                  = "OverCharge"
	NotReserved                 = "NotReserved"
	AlreadyReserved             = "AlreadyReserved"
	AlreadyCharged              = "AlreadyCharged"
	InvalidRefundAmount         = "InvalidRefundAmount"
	ReservationExpired          = "ReservationExpired"
	ChargeNotFound              = "ChargeNotFound"
	RefundFailed                = "RefundFailed"
	OrderItemsMissing           = "OrderItemsMissing"
	AlreadyCancelled            = "AlreadyCancelled"
	PaymentMethodChargeFailed   = "PaymentMethodChargeFailed"
	PaymentReserveMethodFailed  = "PaymentReserveMethodFailed"
	PaymentAlreadyRefunded      = "PaymentAlreadyRefunded"
	HardDecline                 = "HardDecline"
	ExpiredSubscription         = "ExpiredSubscription"
	InvalidSubscription         = "InvalidSubscription"
	InvalidToken                = "InvalidToken"
	PaymentDetailsMissing       = "PaymentDetailsMissing"
	PaymentExpired              = "PaymentExpired"
	CardExpired                 = "CardExpired"
	CardNotAccepted             = "CardNotAccepted"
	AuthenticationFailed        = "AuthenticationFailed"
	CurrencyNotPayable          = "CurrencyNotPayable"
)

// Problems is the service's catalogue, a fresh copy.
func Problems() wire.Catalogue {
	return wire.Catalogue{
		{Code: wire.Invalid, Reason: AmountDiffersFromOrderItems, Title: "Basket total is not the amount"},
		{Code: wire.Invalid, Reason: ZeroCharge, Title: "Amount is zero"},
		{Code: wire.Conflict, Reason: OverCharge, Title: "More than is reserved"},
		{Code: wire.Conflict, Reason: NotReserved, Title: "Nothing is reserved"},
		{Code: wire.Conflict, Reason: AlreadyReserved, Title: "Already reserved"},
		{Code: wire.Conflict, Reason: AlreadyCharged, Title: "Already captured"},
		{Code: wire.Conflict, Reason: InvalidRefundAmount, Title: "More than can be refunded"},
		{Code: wire.Conflict, Reason: ReservationExpired, Title: "Reservation expired"},
		{Code: wire.Conflict, Reason: ChargeNotFound, Title: "Nothing was captured"},
		{Code: wire.Conflict, Reason: RefundFailed, Title: "Refund refused by the bank"},
		{Code: wire.Conflict, Reason: OrderItemsMissing, Title: "An invoice payment needs its basket"},
		{Code: wire.Conflict, Reason: AlreadyCancelled, Title: "Payment is cancelled"},
		{Code: wire.Conflict, Reason: PaymentMethodChargeFailed, Title: "Capture refused by the bank"},
		{Code: wire.Conflict, Reason: PaymentReserveMethodFailed, Title: "Reservation refused by the bank"},
		{Code: wire.Conflict, Reason: PaymentAlreadyRefunded, Title: "Already refunded"},
		{Code: wire.Conflict, Reason: HardDecline, Title: "Refused by the bank for good"},
		{Code: wire.Conflict, Reason: ExpiredSubscription, Title: "Recurring arrangement is not due or over"},
		{Code: wire.Conflict, Reason: InvalidSubscription, Title: "Token was not made for this use"},
		{Code: wire.Conflict, Reason: InvalidToken, Title: "Token is not usable"},
		{Code: wire.Conflict, Reason: PaymentDetailsMissing, Title: "Nothing to pay with is known yet"},
		{Code: wire.Conflict, Reason: PaymentExpired, Title: "Payment expired"},
		{Code: wire.Conflict, Reason: CardExpired, Title: "Card expired"},
		{Code: wire.Conflict, Reason: CardNotAccepted, Title: "Card not accepted"},
		{Code: wire.Conflict, Reason: AuthenticationFailed, Title: "Cardholder not authenticated"},
		{Code: wire.Conflict, Reason: CurrencyNotPayable, Title: "Currency cannot be paid with"},
	}
}

// Refused makes a Conflict with one of the reasons above.
func Refused(op, reason, msg string) *wire.Error {
	return &wire.Error{Code: wire.Conflict, Reason: reason, Op: op, Msg: msg}
}
