package payments

import (
	"slices"
	"strconv"
	"strings"

	"posagent/schemes/money"
	"posagent/schemes/wire"
	"posagent/schemes/wire/check"
)

// Limits of a request, in bytes and entries. S0 8 shows none.
const (
	MaxID      = 128  // paymentId, paymentNumber, references, terminalId
	maxName    = 255  // names, addresses, titles
	maxText    = 4096 // descriptions, secrets
	maxEntries = 1000 // items of any list
	maxHooks   = 100
)

// DefaultOperator is the operator whose spelling is understood when none is configured.
const DefaultOperator = "Nets"

// spelling is the operator's own word for ProviderHosted: "nets" gives NetsHostedEcom.
func spelling(operator string) string {
	if operator == "" || strings.EqualFold(operator, "provider") {
		operator = DefaultOperator
	}
	return strings.ToUpper(operator[:1]) + operator[1:] + "HostedEcom"
}

// Normal implements rest.Normalizer: the operator's spelling becomes ProviderHosted, pageType gets its capitals, and the older
// secret becomes tokenSecret. The error is Invalid where both are given and differ.
func (r *CreateRequest) Normal(operator string, _ []byte) error {
	if r.Type == spelling(operator) {
		r.Type = ProviderHosted
	}
	if p := r.PayPageConfiguration; p != nil {
		for _, t := range []string{Multipage, Singlepage, CustomPage} {
			if strings.EqualFold(p.PageType, t) {
				p.PageType = t
			}
		}
	}
	if d := r.PaymentMethodDetails; d != nil && d.Secret != "" {
		if d.TokenSecret != "" && d.TokenSecret != d.Secret {
			return wire.Errorf(wire.Invalid, create.Op, "paymentMethodDetails.secret: differs from tokenSecret")
		}
		d.TokenSecret, d.Secret = d.Secret, ""
	}
	return nil
}

// Types are the types of a create.
func Types() []string { return []string{Moto, ProviderHosted, MerchantHosted} }

// Processings are what a create may ask for.
func Processings() []string {
	return []string{ProcessNone, ProcessVerify, ProcessAuthorize, ProcessSale}
}

// Check implements check.Checked. A single broken rule has a Reason where it is AmountDiffersFromOrderItems or ZeroCharge.
func (r CreateRequest) Check(l *check.List) {
	moto := r.Type == Moto
	if !slices.Contains(Types(), r.Type) {
		l.Add("type", "want MerchantHostedEcom, ProviderHostedEcom or Moto")
		return
	}
	only(l, "scaExemption", !moto, r.ScaExemption != "")
	only(l, "redirectUrls", !moto, r.RedirectURLs != nil)
	only(l, "payPageConfiguration", !moto, r.PayPageConfiguration != nil)
	only(l, "cardDetails", moto, r.CardDetails != nil)
	l.OneOf("scaExemption", r.ScaExemption, ScaDelegated, ScaLowValue, ScaForce3DS)
	l.OneOf("processing", r.Processing, Processings()...)
	if u := r.RedirectURLs; u != nil {
		l.ReturnURL("redirectUrls.returnUrl", u.ReturnURL)
	}
	if len(r.PaymentNumber) > MaxID || strings.IndexFunc(r.PaymentNumber, special) >= 0 {
		l.Add("paymentNumber", "want at most "+strconv.Itoa(MaxID)+" letters and digits")
	}
	l.Text("checkoutText", r.CheckoutText, maxText)
	l.Text("reconciliationReference", r.ReconciliationReference, MaxID)
	l.Text("description", r.Description, maxText)
	switch {
	case r.Amount < 0:
		l.Add("amount", "negative")
	case r.Amount == 0 && r.Processing != ProcessVerify:
		l.Reason("amount", "zero, and processing is not Verify", ZeroCharge)
	}
	l.Currency("currencyCode", r.CurrencyCode)
	if d := r.PaymentMethodDetails; d != nil {
		d.check(l)
	}
	if moto {
		r.checkCard(l)
	}
	if r.Customer != nil {
		r.Customer.check(l)
	}
	checkBasket(l, r.Basket, &r.Amount)
	if r.PayPageConfiguration != nil {
		r.PayPageConfiguration.check(l)
	}
	if n := r.Notifications; n != nil && l.Count("notifications.webHooks", len(n.WebHooks), maxHooks) {
		for i, h := range n.WebHooks {
			l.Hook("notifications.webHooks["+strconv.Itoa(i)+"]", h.EventName, h.URL, h.Authorization, h.Headers)
		}
	}
}

// CheckID checks a payment's id: 1 to MaxID bytes without control characters, not a dot name. The error is wire.Invalid.
func CheckID(paymentID string) error { return checkID(read.Op, paymentID) }

func checkID(op, id string) error {
	var l check.List
	l.Word("paymentId", id, MaxID)
	return l.Err(op)
}

// special says that a paymentNumber may not have r.
func special(r rune) bool {
	return !(r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z')
}

// only refuses a field of another variant.
func only(l *check.List, path string, may, given bool) {
	if given && !may {
		l.Add(path, "does not belong to this type")
	}
}

// details are the types of paymentMethodDetails; a field's types are a set of their places here.
var details = [...]string{WithToken, InitialToken, MerchantInitiated, SepaA, SepaC, Sofort}

const (
	inToken, inInitial, inMerchant, inSepaA, inSepaC = 1 << 0, 1 << 1, 1 << 2, 1 << 3, 1 << 4
)

func (d PaymentMethodDetails) check(l *check.List) {
	const at = "paymentMethodDetails."
	kind := slices.Index(details[:], d.Type)
	if kind < 0 {
		l.Add(at+"type", "want one of "+strings.Join(details[:], ", "))
		return
	}
	is := 1 << kind
	for _, f := range [...]struct {
		name  string
		given bool
		in    int
	}{
		{"token", d.Token != "", inToken | inMerchant},
		{"tokenSecret", d.TokenSecret != "", inToken | inMerchant},
		{"isRecurring", d.IsRecurring, inToken},
		{"recurringType", d.RecurringType != "", inToken},
		{"expiryDate", d.ExpiryDate != "", inInitial},
		{"intervalDays", d.IntervalDays != 0, inInitial},
		{"merchantInitiatedTransactionType", d.MerchantInitiatedTransactionType != "", inMerchant},
		{"iban", d.IBAN != "", inSepaA | inSepaC},
		{"customerEmail", d.CustomerEmail != "", inSepaA | inSepaC},
		{"mandateUrl", d.MandateURL != "", inSepaC},
	} {
		only(l, at+f.name, f.in&is != 0, f.given)
	}
	if is&(inToken|inMerchant) != 0 && d.Token == "" {
		l.Add(at+"token", "missing")
	}
	l.Text(at+"token", d.Token.Reveal(), maxText)
	l.Text(at+"tokenSecret", d.TokenSecret.Reveal(), maxText)
	l.OneOf(at+"recurringType", d.RecurringType, Subscription, CardOnFile)
	l.OneOf(at+"merchantInitiatedTransactionType", d.MerchantInitiatedTransactionType, "UnscheduledCardOnFile", "DelayedCharge", "NoShow")
	l.Date(at+"expiryDate", d.ExpiryDate)
	if d.IntervalDays < 0 {
		l.Add(at+"intervalDays", "negative")
	}
	if is&(inSepaA|inSepaC) != 0 && !ValidIBAN(d.IBAN.Reveal()) {
		l.Add(at+"iban", "want an IBAN without spaces")
	}
	l.Email(at+"customerEmail", d.CustomerEmail)
	if d.MandateURL != "" {
		l.WebURL(at+"mandateUrl", d.MandateURL)
	}
}

// ValidIBAN checks an IBAN: country, check digits, 15 to 34 capitals and digits, remainder 1 (ISO 13616, ISO 7064 MOD 97-10).
func ValidIBAN(s string) bool {
	if len(s) < 15 || len(s) > 34 || !check.Country2(s[:2]) && s[:2] != "XK" {
		return false
	}
	rem := 0
	for i := range len(s) {
		switch ch := s[(i+4)%len(s)]; {
		case ch >= '0' && ch <= '9':
			rem = (rem*10 + int(ch-'0')) % 97
		case ch >= 'A' && ch <= 'Z':
			rem = (rem*100 + int(ch-'A') + 10) % 97
		default:
			return false
		}
	}
	return rem == 1 && !isLetter(s[2]) && !isLetter(s[3])
}

func isLetter(b byte) bool { return b >= 'A' && b <= 'Z' }

// checkCard checks what a Moto payment is paid with: a card, or details that pay by themselves.
func (r CreateRequest) checkCard(l *check.List) {
	const at = "cardDetails"
	card, d := r.CardDetails, r.PaymentMethodDetails
	instead := d != nil && d.Type != InitialToken // another way of paying
	switch {
	case d != nil && d.Type == Sofort:
		l.Add("paymentMethodDetails.type", "needs a customer at a page")
		return
	case card == nil && !instead:
		l.Add(at, "missing")
		return
	case card == nil:
		return
	case instead:
		l.Add(at, "given beside another way of paying")
	}
	l.Card(at, card.PAN, card.ExpiryYear, card.ExpiryMonth, card.ValidationCode)
}

func (p Customer) check(l *check.List) {
	const at = "customer."
	if p.Type != Company && p.Type != Individual {
		l.Add(at+"type", "want Company or Individual")
		return
	}
	for _, f := range [...]struct{ name, s, of string }{
		{"registrationNumber", p.RegistrationNumber, Company}, {"companyName", p.CompanyName, Company},
		{"contactFirstName", p.ContactFirstName, Company}, {"contactLastName", p.ContactLastName, Company},
		{"firstName", p.FirstName, Individual}, {"lastName", p.LastName, Individual},
		{"customerNumber", p.CustomerNumber, p.Type}, {"phone", p.Phone, p.Type},
	} {
		only(l, at+f.name, p.Type == f.of, f.s != "")
		l.Text(at+f.name, f.s, maxName)
	}
	l.Email(at+"email", p.Email)
	if a := p.Address; a != nil {
		l.Text(at+"address.address1", a.Address1, maxName)
		l.Text(at+"address.address2", a.Address2, maxName)
		l.Text(at+"address.city", a.City, maxName)
		l.Text(at+"address.postalCode", a.PostalCode, maxName)
		l.Country(at+"address.countryCode", a.CountryCode)
	}
}

// checkBasket checks a basket, and its total against the amount where there is one.
func checkBasket(l *check.List, items []BasketItem, amount *int32) {
	if !l.Count("basket", len(items), maxEntries) {
		return
	}
	before := l.Len()
	for i, item := range items {
		at := "basket[" + strconv.Itoa(i) + "]."
		l.Text(at+"itemNumber", item.ItemNumber, maxName)
		l.Text(at+"title", item.Title, maxName)
		l.Text(at+"unitCode", item.UnitCode, maxName)
		if item.Quantity < 1 {
			l.Add(at+"quantity", "below 1")
		}
		if _, err := readPercent(item.VatPercentage); err != nil {
			l.Add(at+"vatPercentage", wantPercent)
		}
		if _, err := readPercent(item.DiscountPercentage); err != nil {
			l.Add(at+"discountPercentage", wantPercent)
		}
	}
	if len(items) == 0 || l.Len() > before {
		return
	}
	total, err := BasketTotal(items)
	switch {
	case err != nil:
		l.Add("basket", "the sum leaves the range of amounts")
	case amount != nil && !total.Fits(money.Minor(*amount)):
		l.Reason("basket", total.Differs(money.Minor(*amount), "the amount"), AmountDiffersFromOrderItems)
	}
}

const wantPercent = "want 0 to 100"

// Methods of a hosted page's action list: S0 2.4.3 leaves the names out, facts have them.
func Methods() []string {
	return strings.Fields("AmericanExpress DinersClubInternational JCB Maestro MasterCard Visa PproSepaDirectDebit Sofortbanking PayPal")
}

func (p PayPageConfiguration) check(l *check.List) {
	const at = "payPageConfiguration."
	l.PageLanguage(at+"language", p.Language)
	l.OneOf(at+"pageType", p.PageType, Multipage, Singlepage, CustomPage)
	l.Text(at+"templateName", p.TemplateName, maxName)
	if !l.Count(at+"paymentMethodActionInfoList", len(p.PaymentMethodActionInfoList), maxEntries) {
		return
	}
	for i, a := range p.PaymentMethodActionInfoList {
		at := at + "paymentMethodActionInfoList[" + strconv.Itoa(i) + "]."
		l.OneOf(at+"paymentMethod", a.PaymentMethod, Methods()...)
		l.Text(at+"name", a.Name, maxName)
		l.OneOf(at+"cardType", a.CardType, "All", "Debit", "Credit")
		l.OneOf(at+"cardOrigin", a.CardOrigin, "International", "Domestic", "EU", "NonEU")
		l.OneOf(at+"cardProductType", a.CardProductType, "All", "Private", "Corporate")
		l.OneOf(at+"action", a.Action, "Allow", "Reject")
		if a.Fee < 0 {
			l.Add(at+"fee", "negative")
		}
		if a.Bin < 0 || a.Bin > 99_999_999 {
			l.Add(at+"bin", "want at most eight digits")
		}
	}
}

// Flaw says what a reply must not be: one that names no payment, or a page that is none.
func (c Created) Flaw() string {
	switch {
	case !wire.PathWord(c.PaymentID, MaxID):
		return "reply names no payment"
	case c.PayPageURL != "" && !wire.WebURL(c.PayPageURL):
		return "reply names no usable page"
	}
	return ""
}
