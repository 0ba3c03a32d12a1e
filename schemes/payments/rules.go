package payments

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

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

// Validate applies every stateless rule to a create body. The error is wire.Invalid and names every field that is wrong,
// never its content; Reason is AmountDiffersFromOrderItems or ZeroCharge where that alone is wrong.
func Validate(req CreateRequest) error {
	var c checks
	moto := req.Type == Moto
	switch req.Type {
	case MerchantHosted, ProviderHosted, Moto:
	default:
		c.add("type", "want MerchantHostedEcom, ProviderHostedEcom or Moto")
		return c.err(opCreate)
	}
	c.only("scaExemption", !moto, req.ScaExemption != "")
	c.only("redirectUrls", !moto, req.RedirectURLs != nil)
	c.only("payPageConfiguration", !moto, req.PayPageConfiguration != nil)
	c.only("cardDetails", moto, req.CardDetails != nil)
	c.oneOf("scaExemption", req.ScaExemption, ScaDelegated+" "+ScaLowValue+" "+ScaForce3DS)
	c.oneOf("processing", req.Processing, ProcessNone+" "+ProcessVerify+" "+ProcessAuthorize+" "+ProcessSale)
	if u := req.RedirectURLs; u != nil {
		if s := u.ReturnURL; s != "" && !wire.ReturnURL(s) {
			c.add("redirectUrls.returnUrl", "want an https address, or http to this machine, of at most "+strconv.Itoa(wire.MaxURL)+" bytes")
		}
	}
	if len(req.PaymentNumber) > MaxID || strings.IndexFunc(req.PaymentNumber, special) >= 0 {
		c.add("paymentNumber", "want at most "+strconv.Itoa(MaxID)+" letters and digits")
	}
	c.text("checkoutText", req.CheckoutText, maxText)
	c.text("reconciliationReference", req.ReconciliationReference, MaxID)
	c.text("description", req.Description, maxText)
	switch {
	case req.Amount < 0:
		c.add("amount", "negative")
	case req.Amount == 0 && req.Processing != ProcessVerify:
		c.reason("amount", "zero, and processing is not Verify", ZeroCharge)
	}
	if !money.Nameable(req.CurrencyCode) {
		c.add("currencyCode", "want an ISO 4217 code in capitals")
	}
	c.method(req.PaymentMethodDetails)
	c.card(moto, req.CardDetails, req.PaymentMethodDetails)
	c.customer(req.Customer)
	c.basket(req.Basket, &req.Amount)
	c.page(req.PayPageConfiguration)
	c.hooks(req.Notifications)
	return c.err(opCreate)
}

// ValidateAuthorize checks an authorize: the id and every stateless rule.
func ValidateAuthorize(paymentID string, req AuthorizeRequest) error {
	return operation(opAuthorize, paymentID, req.Amount, req.Description, req.TerminalID, nil)
}

// ValidateCancel checks a cancel.
func ValidateCancel(paymentID string, req CancelRequest) error {
	return operation(opCancel, paymentID, nil, req.Description, req.TerminalID, nil)
}

// ValidateCapture checks a capture.
func ValidateCapture(paymentID string, req CaptureRequest) error {
	return operation(opCapture, paymentID, req.Amount, req.Description, req.TerminalID, req.Basket)
}

// ValidateRefund checks a refund.
func ValidateRefund(paymentID string, req RefundRequest) error {
	return operation(opRefund, paymentID, req.Amount, req.Description, "", req.Basket)
}

// CheckID checks a payment's id: 1 to MaxID bytes without control characters, not a dot name. The error is wire.Invalid.
func CheckID(paymentID string) error { return checkID(opRead, paymentID) }

func checkID(op, id string) error {
	if !wire.PathWord(id, MaxID) {
		return wire.Errorf(wire.Invalid, op, "paymentId: want 1 to %d characters", MaxID)
	}
	return nil
}

func operation(op, id string, amount *int32, description, terminal string, basket []BasketItem) error {
	if err := checkID(op, id); err != nil {
		return err
	}
	var c checks
	if amount != nil && *amount < 0 {
		c.add("amount", "negative")
	} else if amount != nil && *amount == 0 {
		c.reason("amount", "zero", ZeroCharge)
	}
	c.text("description", description, maxText)
	c.text("terminalId", terminal, MaxID)
	c.basket(basket, amount)
	return c.err(op)
}

// special says that a paymentNumber may not have r.
func special(r rune) bool {
	return !(r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z')
}

type checks struct{ errs []error }

func (c *checks) err(op string) error {
	if c.errs == nil {
		return nil
	}
	return invalid(op, errors.Join(c.errs...))
}

func (c *checks) add(path, why string) { c.reason(path, why, "") }

func (c *checks) reason(path, why, reason string) {
	c.errs = append(c.errs, &fieldReason{wire.FieldError{Path: path, Reason: why, Code: wire.Invalid}, reason})
}

// only refuses a field of another variant.
func (c *checks) only(path string, may, given bool) {
	if given && !may {
		c.add(path, "does not belong to this type")
	}
}

func (c *checks) oneOf(path, s, list string) {
	if s != "" && !word(list, s) {
		c.add(path, "want one of "+strings.Join(strings.Fields(list), ", "))
	}
}

// text checks a text that ends up on screens, slips and in logs: no control characters and no line breaks of any kind.
func (c *checks) text(path, s string, limit int) {
	if !wire.PlainText(s, limit) || strings.ContainsAny(s, "\u2028\u2029") {
		c.add(path, "longer than "+strconv.Itoa(limit)+" bytes, or control characters")
	}
}

func (c *checks) count(path string, n, limit int) bool {
	if n > limit {
		c.add(path, "more than "+strconv.Itoa(limit)+" entries")
	}
	return n <= limit
}

func (c *checks) url(path, s string) {
	if s != "" && !wire.WebURL(s) {
		c.add(path, "want an absolute http or https address of at most "+strconv.Itoa(wire.MaxURL)+" bytes")
	}
}

func (c *checks) email(path, s string) {
	c.text(path, s, maxName)
	name, host, ok := strings.Cut(s, "@")
	if s != "" && (!ok || name == "" || host == "" || strings.ContainsAny(s, " ,;<>\"")) {
		c.add(path, "want an e-mail address")
	}
}

func (c *checks) secret(path string, s wire.Secret, required bool) {
	if required && s == "" {
		c.add(path, "missing")
	}
	c.text(path, s.Reveal(), maxText)
}

// details are the types of paymentMethodDetails; a field's types are a set of their places here.
var details = [...]string{WithToken, InitialToken, MerchantInitiated, SepaA, SepaC, Sofort}

const (
	inToken, inInitial, inMerchant, inSepaA, inSepaC = 1 << 0, 1 << 1, 1 << 2, 1 << 3, 1 << 4
)

func (c *checks) method(d *PaymentMethodDetails) {
	if d == nil {
		return
	}
	const at = "paymentMethodDetails."
	kind := slices.Index(details[:], d.Type)
	if kind < 0 {
		c.add(at+"type", "want one of "+strings.Join(details[:], ", "))
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
		c.only(at+f.name, f.in&is != 0, f.given)
	}
	c.secret(at+"token", d.Token, is&(inToken|inMerchant) != 0)
	c.secret(at+"tokenSecret", d.TokenSecret, false)
	c.oneOf(at+"recurringType", d.RecurringType, Subscription+" "+CardOnFile)
	c.oneOf(at+"merchantInitiatedTransactionType", d.MerchantInitiatedTransactionType, "UnscheduledCardOnFile DelayedCharge NoShow")
	if _, err := time.Parse(time.DateOnly, d.ExpiryDate); d.ExpiryDate != "" && (err != nil || d.ExpiryDate < "1000") {
		c.add(at+"expiryDate", "want a date as 2026-11-21")
	}
	if d.IntervalDays < 0 {
		c.add(at+"intervalDays", "negative")
	}
	if is&(inSepaA|inSepaC) != 0 && !ValidIBAN(d.IBAN.Reveal()) {
		c.add(at+"iban", "want an IBAN without spaces")
	}
	c.email(at+"customerEmail", d.CustomerEmail)
	c.url(at+"mandateUrl", d.MandateURL)
}

// ValidIBAN checks an IBAN: country, check digits, 15 to 34 capitals and digits, remainder 1 (ISO 13616, ISO 7064 MOD 97-10).
func ValidIBAN(s string) bool {
	if len(s) < 15 || len(s) > 34 || !Country(s[:2]) && s[:2] != "XK" {
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

func (c *checks) card(moto bool, card *CardDetails, d *PaymentMethodDetails) {
	const at = "cardDetails"
	instead := d != nil && d.Type != InitialToken // another way of paying
	switch {
	case !moto:
		return
	case d != nil && d.Type == Sofort:
		c.add("paymentMethodDetails.type", "needs a customer at a page")
		return
	case card == nil && !instead:
		c.add(at, "missing")
		return
	case card == nil:
		return
	case instead:
		c.add(at, "given beside another way of paying")
	}
	if !card.PAN.Valid() {
		c.add(at+".pan", "want 13 to 19 digits with a good check digit")
	}
	if card.ExpiryYear < 2000 || card.ExpiryYear > 2099 {
		c.add(at+".expiryYear", "want four digits, 2000 to 2099")
	}
	if card.ExpiryMonth < 1 || card.ExpiryMonth > 12 {
		c.add(at+".expiryMonth", "want 1 to 12")
	}
	if s := card.ValidationCode.Reveal(); s != "" && (len(s) < 3 || len(s) > 4 || strings.Trim(s, "0123456789") != "") {
		c.add(at+".validationCode", "want 3 or 4 digits")
	}
}

func (c *checks) customer(p *Customer) {
	if p == nil {
		return
	}
	const at = "customer."
	if p.Type != Company && p.Type != Individual {
		c.add(at+"type", "want Company or Individual")
		return
	}
	for _, f := range [...]struct{ name, s, of string }{
		{"registrationNumber", p.RegistrationNumber, Company}, {"companyName", p.CompanyName, Company},
		{"contactFirstName", p.ContactFirstName, Company}, {"contactLastName", p.ContactLastName, Company},
		{"firstName", p.FirstName, Individual}, {"lastName", p.LastName, Individual},
		{"customerNumber", p.CustomerNumber, p.Type}, {"phone", p.Phone, p.Type},
	} {
		c.only(at+f.name, p.Type == f.of, f.s != "")
		c.text(at+f.name, f.s, maxName)
	}
	c.email(at+"email", p.Email)
	if a := p.Address; a != nil {
		for _, f := range [...]struct{ name, s string }{
			{"address1", a.Address1}, {"address2", a.Address2}, {"city", a.City}, {"postalCode", a.PostalCode},
		} {
			c.text(at+"address."+f.name, f.s, maxName)
		}
		if a.CountryCode != "" && !Country(a.CountryCode) {
			c.add(at+"address.countryCode", "want an ISO 3166-1 alpha-2 code in capitals")
		}
	}
}

func (c *checks) basket(items []BasketItem, amount *int32) {
	if !c.count("basket", len(items), maxEntries) {
		return
	}
	before := len(c.errs)
	for i, item := range items {
		at := "basket[" + strconv.Itoa(i) + "]."
		for _, f := range [...]struct{ name, s string }{{"itemNumber", item.ItemNumber}, {"title", item.Title}, {"unitCode", item.UnitCode}} {
			c.text(at+f.name, f.s, maxName)
		}
		if item.Quantity < 1 {
			c.add(at+"quantity", "below 1")
		}
		if _, err := readPercent(item.VatPercentage); err != nil {
			c.add(at+"vatPercentage", wantPercent)
		}
		if _, err := readPercent(item.DiscountPercentage); err != nil {
			c.add(at+"discountPercentage", wantPercent)
		}
	}
	if len(items) == 0 || len(c.errs) > before {
		return
	}
	total, err := BasketTotal(items)
	switch {
	case err != nil:
		c.add("basket", "the sum leaves the range of amounts")
	case amount != nil && vatKnown(items) && !total.Fits(money.Minor(*amount)):
		c.reason("basket", "its total is not the amount", AmountDiffersFromOrderItems)
	}
}

const wantPercent = "want 0 to 100"

func (c *checks) page(p *PayPageConfiguration) {
	if p == nil {
		return
	}
	const at = "payPageConfiguration."
	c.oneOf(at+"language", p.Language, strings.Join(check.PageLanguages(), " "))
	c.oneOf(at+"pageType", p.PageType, Multipage+" "+Singlepage+" "+CustomPage)
	c.text(at+"templateName", p.TemplateName, maxName)
	if !c.count(at+"paymentMethodActionInfoList", len(p.PaymentMethodActionInfoList), maxEntries) {
		return
	}
	for i, a := range p.PaymentMethodActionInfoList {
		at := at + "paymentMethodActionInfoList[" + strconv.Itoa(i) + "]."
		c.oneOf(at+"paymentMethod", a.PaymentMethod, methods)
		c.text(at+"name", a.Name, maxName)
		c.oneOf(at+"cardType", a.CardType, "All Debit Credit")
		c.oneOf(at+"cardOrigin", a.CardOrigin, "International Domestic EU NonEU")
		c.oneOf(at+"cardProductType", a.CardProductType, "All Private Corporate")
		c.oneOf(at+"action", a.Action, "Allow Reject")
		if a.Fee < 0 {
			c.add(at+"fee", "negative")
		}
		if a.Bin < 0 || a.Bin > 99_999_999 {
			c.add(at+"bin", "want at most eight digits")
		}
	}
}

// hooks checks what a webhook may say. Whether its address may be reached is the sender's business.
func (c *checks) hooks(n *Notifications) {
	if n == nil || !c.count("notifications.webHooks", len(n.WebHooks), maxHooks) {
		return
	}
	for i, h := range n.WebHooks {
		at := "notifications.webHooks[" + strconv.Itoa(i) + "]."
		if !wire.PathWord(h.EventName, MaxID) {
			c.add(at+"eventName", "want 1 to "+strconv.Itoa(MaxID)+" characters")
		}
		if !wire.WebURL(h.URL) {
			c.add(at+"url", "want an absolute http or https address")
		}
		if !check.HeaderValue(h.Authorization.Reveal()) {
			c.add(at+"authorization", "cannot be sent as a header")
		}
		c.count(at+"headers", len(h.Headers), maxHooks)
		for _, pairs := range h.Headers {
			for name, value := range pairs {
				if !check.HeaderName(name) || !check.HeaderValue(value) {
					c.add(at+"headers", "one cannot be sent")
				}
			}
		}
	}
}
