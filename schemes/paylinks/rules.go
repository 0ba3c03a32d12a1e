package paylinks

import (
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"posagent/schemes/money"
	"posagent/schemes/wire"
	"posagent/schemes/wire/bracket"
)

// Limits of a request.
const (
	maxWord     = 255  // bytes of titles, names, references
	maxText     = 4096 // bytes of description and default values
	maxList     = 100
	maxDuration = 10 // characters of an interval
)

// fieldNames in the order of S1 2.1.
var fieldNames = [...]string{
	"title", "forename", "surname", "company", "street", "postcode", "place", "country", "phone", "email", "date_of_birth",
	"terms", "custom_field_1", "custom_field_2", "custom_field_3", "privacy_policy",
}

// FieldNames lists the contact fields a request may configure (S1 2.1).
func FieldNames() []string { return slices.Clone(fieldNames[:]) }

// custom says whether a contact field has names.
func custom(name string) bool { return strings.HasPrefix(name, "custom_field_") }

// checks collects what is wrong with a request.
type checks struct{ errs []error }

func (c *checks) add(path, reason string) {
	c.errs = append(c.errs, &wire.FieldError{Path: path, Reason: reason, Code: wire.Invalid})
}

func (c *checks) err(op string) error {
	if len(c.errs) == 0 {
		return nil
	}
	return invalid(op, errors.Join(c.errs...))
}

// Validate applies every stateless rule to a create request. The error is wire.Invalid and names every field that is wrong,
// never its content.
func (req CreateRequest) Validate() error {
	var c checks
	for _, f := range []struct {
		name, text string
		limit      int
		lines      bool
	}{
		{"title", req.Title, maxWord, false}, {"description", req.Description, maxText, true}, {"referenceId", req.ReferenceID, maxWord, false},
		{"purpose", req.Purpose, maxWord, true}, {"sku", req.SKU, maxWord, false}, {"name", req.Name, maxWord, false},
		{"providerOrderId", req.ProviderOrderID, maxWord, false}, {"buttonText", req.ButtonText, maxWord, false},
		{"subscriptionInterval", req.SubscriptionInterval, maxDuration, false}, {"subscriptionPeriod", req.SubscriptionPeriod, maxDuration, false},
		{"subscriptionCancellationInterval", req.SubscriptionCancellationInterval, maxDuration, false},
	} {
		c.text(f.name, f.text, f.limit, f.lines)
	}
	for _, f := range [...][2]string{{"title", req.Title}, {"description", req.Description}, {"referenceId", req.ReferenceID}, {"purpose", req.Purpose}} {
		if strings.TrimSpace(f[1]) == "" {
			c.add(f[0], "want a text")
		}
	}
	if len(req.PSP) > 1 && req.ProviderOrderID != "" {
		c.add("providerOrderId", "want one psp beside it")
	}
	c.money(req.Amount, req.Currency)
	if req.VatRate != "" && !percent(string(req.VatRate)) {
		c.add("vatRate", "want 0 to 100, with at most 8 decimals")
	}
	if len(req.PSP) > maxList || slices.ContainsFunc(req.PSP, func(n int64) bool { return n < 1 || n > MaxID }) {
		c.add("psp", "want at most 100 ids from 1 to 2147483647")
	}
	if len(req.PM) > maxList {
		c.add("pm", "more than 100 entries")
	}
	for _, pm := range req.PM {
		c.text("pm", pm, maxWord, false)
	}
	for name, f := range req.Fields {
		if !slices.Contains(fieldNames[:], name) {
			c.add("fields", "an unknown field")
			continue
		}
		c.text("fields["+name+"][defaultValue]", f.DefaultValue, maxText, true)
		if f.Names != nil {
			if !custom(name) {
				c.add("fields["+name+"][names]", "only custom fields have names")
			}
			for i := range languages {
				c.text("fields["+name+"][names]", *f.Names.at(i), maxWord, false)
			}
		}
	}
	if _, err := time.Parse(time.DateOnly, req.ExpirationDate); req.ExpirationDate != "" && (err != nil || req.ExpirationDate < "2000") {
		c.add("expirationDate", "want YYYY-MM-DD")
	}
	if u := req.SuccessRedirectURL; u != "" && !wire.ReturnURL(u) {
		c.add("successRedirectUrl", "want an https address, or http to this machine")
	}
	if u := req.FailedRedirectURL; u != "" && !wire.ReturnURL(u) {
		c.add("failedRedirectUrl", "want an https address, or http to this machine")
	}
	c.terms(req)
	c.attachments(req.Attachments)
	return c.err(opCreate)
}

func (c *checks) text(path, s string, limit int, lines bool) {
	plain := s
	if lines {
		plain = strings.NewReplacer("\r", "", "\n", "", "\t", "").Replace(s)
	}
	if len(s) > limit || !wire.PlainText(plain, limit) {
		c.add(path, "longer than "+strconv.Itoa(limit)+" bytes, or control characters")
	}
}

func (c *checks) money(amount int64, currency string) {
	cur, ok := money.Lookup(currency)
	switch {
	case !ok || !cur.Payable():
		c.add("currency", "want an ISO 4217 code in capitals that can be paid with")
	case amount < 1 || amount > math.MaxInt32:
		c.add("amount", "want 1 to 2147483647 cents")
	default:
		if _, err := money.FromHundredths(amount, cur); err != nil {
			c.add("amount", "not a whole number of minor units of the currency")
		}
	}
}

// terms checks how the money is to come: at once, later, or again and again.
func (c *checks) terms(req CreateRequest) {
	switch {
	case req.PreAuthorization && req.Reservation:
		c.add("reservation", "not together with preAuthorization")
	case req.SubscriptionState && (req.PreAuthorization || req.Reservation):
		c.add("subscriptionState", "not together with preAuthorization or reservation")
	}
	if req.SubscriptionPeriodMinAmount < 0 || req.SubscriptionPeriodMinAmount > math.MaxInt32 {
		c.add("subscriptionPeriodMinAmount", "want 0 to 2147483647 cents")
	}
	if !req.SubscriptionState {
		return
	}
	for _, f := range []struct {
		name, text string
		required   bool
	}{
		{"subscriptionInterval", req.SubscriptionInterval, true}, {"subscriptionPeriod", req.SubscriptionPeriod, false},
		{"subscriptionCancellationInterval", req.SubscriptionCancellationInterval, false},
	} {
		if _, ok := ParsePeriod(f.text); !ok && (f.text != "" || f.required) {
			c.add(f.name, "want an ISO 8601 period of days, weeks, months or years, such as P1M")
		}
	}
}

func (c *checks) attachments(files []Attachment) {
	total := int64(0)
	for _, f := range files {
		c.text("attachments", f.Name, maxWord, false)
		if f.Open == nil || f.Size < 0 || total > bracket.MaxFiles-f.Size {
			c.add("attachments", "without content, or above 16 MiB together")
			return
		}
		total += f.Size
	}
	if len(files) > 10 {
		c.add("attachments", "more than 10")
	}
}

// Period is a stretch of the calendar.
type Period struct{ Years, Months, Days int }

// ParsePeriod reads P1Y2M3W4D: at least one part, in this order, each from 1 to 999.
func ParsePeriod(s string) (Period, bool) {
	rest, ok := strings.CutPrefix(s, "P")
	if !ok || rest == "" {
		return Period{}, false
	}
	var p Period
	at := 0
	for rest != "" {
		end := strings.IndexAny(rest, "YMWD")
		if end < 1 || end > 3 {
			return Period{}, false
		}
		n, ok := digits(rest[:end])
		unit := strings.IndexByte("YMWD"[at:], rest[end])
		if !ok || n == 0 || unit < 0 {
			return Period{}, false
		}
		switch rest[end] {
		case 'Y':
			p.Years = int(n)
		case 'M':
			p.Months = int(n)
		case 'W':
			p.Days += int(n) * 7
		case 'D':
			p.Days += int(n)
		}
		at, rest = at+unit+1, rest[end+1:]
	}
	return p, true
}

// Validate applies the stateless rules to a charge.
func (req ChargeRequest) Validate() error {
	var c checks
	c.part(req.Amount)
	c.text("purpose", req.Purpose, maxWord, true)
	c.text("referenceId", req.ReferenceID, maxWord, false)
	return c.err(opCharge)
}

// Validate applies the stateless rules to a refund.
func (req RefundRequest) Validate() error {
	var c checks
	c.part(req.Amount)
	return c.err(opRefund)
}

func (c *checks) part(amount *int64) {
	if amount != nil && (*amount < 1 || *amount > math.MaxInt32) {
		c.add("amount", "want 1 to 2147483647 cents")
	}
}

// CheckID checks the id of a link or transaction: 1 to MaxID. The error is wire.Invalid.
func CheckID(id int64) error {
	if id < 1 || id > MaxID {
		return wire.Errorf(wire.Invalid, "", "id: want 1 to 2147483647")
	}
	return nil
}

// Validate applies the stateless rules to a filter.
func (f Filter) Validate() error {
	var c checks
	if f.Offset < 0 || f.Offset > math.MaxInt32 {
		c.add("offset", "want 0 to 2147483647")
	}
	if f.Limit < 0 || f.Limit > math.MaxInt32 {
		c.add("limit", "want 0 to 2147483647")
	}
	return c.err(opList)
}
