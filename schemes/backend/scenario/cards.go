package scenario

import "slices"

// What a card's bank does. Approve, Slow, Cut, SpoilInternal and Garbage are shared with the wallets.
const (
	HardDecline  Do = "hard-decline"   // reservations are refused for good
	SoftDecline  Do = "soft-decline"   // the first reservation of a payment is refused, the next approved
	NoFunds      Do = "no-funds"       // reservations are refused for want of money
	ReserveFails Do = "reserve-fails"  // the bank cannot process reservations
	OldCard      Do = "old-card"       // the bank says that the card is expired
	Challenge    Do = "challenge"      // the cardholder is asked by 3-D Secure
	ChallengeBad Do = "challenge-bad"  // and fails, whatever is answered
	CaptureFails Do = "capture-fails"  // reserved, but no capture succeeds
	RefundNo     Do = "refund-refused" // refunds are refused at once
	RefundFails  Do = "refund-fails"   // refunds begin, and fail later
	CancelFails  Do = "cancel-fails"   // reservations cannot be given up
	Lapse        Do = "lapse"          // a reservation lasts 5 s only
)

// Card is one line of the table of test cards. No other card is taken.
type Card struct {
	Name   string `json:"name"`
	PAN    string `json:"pan"`
	Amount int32  `json:"amount"` // minor units: does the same with any card that approves, and without a card; 0 = none
	Brand  string `json:"brand"`  // as payments names its methods
	Debit  bool   `json:"debit"`
	Origin string `json:"origin"` // Domestic, EU, NonEU
	Do     Do     `json:"do"`
	What   string `json:"what"`
}

// Risk is the name of the card that a risk analysis denies where there is one.
const Risk = "risk"

// firstCard is the amount of the line before the first one that does not approve, in minor units.
const firstCard = 91000

// Cards returns the table in order. The caller may keep it.
func Cards() []Card {
	const visa, approved = "Visa", "everything is approved"
	list := []Card{
		{Name: "visa", PAN: "4111111111111111", Brand: visa, Origin: "EU", Do: Approve, What: approved},
		{Name: "visa-debit", PAN: "4000056655665556", Brand: visa, Debit: true, Origin: "NonEU", Do: Approve, What: approved},
		{Name: "mastercard", PAN: "5555555555554444", Brand: "MasterCard", Origin: "EU", Do: Approve, What: approved},
		{Name: "mastercard-debit", PAN: "5200828282828210", Brand: "MasterCard", Debit: true, Origin: "Domestic", Do: Approve, What: approved},
		{Name: "amex", PAN: "378282246310005", Brand: "AmericanExpress", Origin: "NonEU", Do: Approve, What: approved},
		{Name: "diners", PAN: "30569309025904", Brand: "DinersClubInternational", Origin: "NonEU", Do: Approve, What: approved},
		{Name: "jcb", PAN: "3530111333300000", Brand: "JCB", Origin: "NonEU", Do: Approve, What: approved},
		{Name: "maestro", PAN: "6759649826438453", Brand: "Maestro", Debit: true, Origin: "Domestic", Do: Approve, What: approved},
		{Name: "hard-decline", PAN: "4000000000000002", Do: HardDecline, What: "every reservation is refused for good (payment.reservation.failed)"},
		{Name: "soft-decline", PAN: "4000000000001018", Do: SoftDecline, What: "the first reservation of a payment is refused, the next one approved"},
		{Name: "no-funds", PAN: "4000000000009995", Do: NoFunds, What: "every reservation is refused for want of money"},
		{Name: "reserve-fails", PAN: "4000000000001026", Do: ReserveFails, What: "the bank cannot process a reservation (payment.reservation.failed)"},
		{Name: "old-card", PAN: "4000000000000069", Do: OldCard, What: "the bank says that the card is expired, whatever its date"},
		{Name: "challenge", PAN: "4000002760003184", Do: Challenge, What: "the page asks the cardholder (3-D Secure); without a page: approved"},
		{Name: "challenge-bad", PAN: "4000008400001629", Do: ChallengeBad, What: "the page asks the cardholder, who always fails; without a page: approved"},
		{Name: "capture-fails", PAN: "4000000000001034", Do: CaptureFails, What: "reserved, but every capture is refused (payment.charge.failed)"},
		{Name: "refund-refused", PAN: "4000000000001042", Do: RefundNo, What: "every refund is refused at once (payment.refund.failed)"},
		{Name: "refund-fails", PAN: "4000000000001059", Do: RefundFails, What: "every refund begins, and fails later (payment.refund.failed)"},
		{Name: "cancel-fails", PAN: "4000000000001067", Do: CancelFails, What: "every cancellation is refused (payment.cancel.failed)"},
		{Name: "lapse", PAN: "4000000000001075", Do: Lapse, What: "a reservation is over after 5 s"},
		{Name: "slow-reply", PAN: "4000000000001083", Do: Slow, What: "the reply to the first reservation, or verification, comes after 10 s"},
		{Name: "lost-reply", PAN: "4000000000001091", Do: Cut, What: "the first reservation, or verification, happens, the connection is cut without an answer"},
		{Name: "500-after", PAN: "4000000000001109", Do: SpoilInternal, What: "500 although the first reservation, or verification, happens"},
		{Name: "garbage", PAN: "4000000000001117", Do: Garbage, What: "200 with an HTML page although the first reservation, or verification, happens"},
		{Name: Risk, PAN: "4000000000001125", Do: HardDecline, What: "refused for good; at a hosted build by the risk analysis (DENIED_BY_RISK)"},
	}
	n := int32(0)
	for i := range list {
		if list[i].Brand == "" {
			list[i].Brand, list[i].Origin = visa, "EU"
		}
		if list[i].Do != Approve {
			n++
			if list[i].Do != Challenge && list[i].Do != ChallengeBad {
				list[i].Amount = firstCard + n
			}
		}
	}
	return list
}

// CardOf finds a test card by its digits.
func CardOf(pan string) (Card, bool) {
	list := Cards()
	i := slices.IndexFunc(list, func(c Card) bool { return c.PAN == pan })
	if i < 0 {
		return Card{}, false
	}
	return list[i], true
}

// CardDo is what the bank does for a payment with the card of this name ("" = none) over amount (minor units): the card's
// own line, then the amount's.
func CardDo(name string, amount int32) Do {
	do := Approve
	for _, c := range Cards() {
		if name != "" && c.Name == name && c.Do != Approve {
			return c.Do
		}
		if c.Amount == amount && amount != 0 {
			do = c.Do
		}
	}
	return do
}
