package paylinks

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"posagent/schemes/money"
	"posagent/schemes/wire"
	"posagent/schemes/wire/bracket"
	"posagent/schemes/wire/check"
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

// Validate applies every stateless rule to a create request. The error is wire.Invalid and names every field that is wrong,
// never its content.
func (req CreateRequest) Validate() error { return check.Request(opCreate, req) }

// Check implements check.Checked.
func (req CreateRequest) Check(c *check.List) {
	for _, f := range [...]struct {
		name, text string
		limit      int
		rule       func(path, s string, limit int)
	}{
		{"title", req.Title, maxWord, c.Text}, {"description", req.Description, maxText, lines(c)}, {"referenceId", req.ReferenceID, maxWord, c.Text},
		{"purpose", req.Purpose, maxWord, lines(c)}, {"sku", req.SKU, maxWord, c.Text}, {"name", req.Name, maxWord, c.Text},
		{"providerOrderId", req.ProviderOrderID, maxWord, c.Text}, {"buttonText", req.ButtonText, maxWord, c.Text},
		{"subscriptionInterval", req.SubscriptionInterval, maxDuration, c.Text}, {"subscriptionPeriod", req.SubscriptionPeriod, maxDuration, c.Text},
		{"subscriptionCancellationInterval", req.SubscriptionCancellationInterval, maxDuration, c.Text},
	} {
		f.rule(f.name, f.text, f.limit)
	}
	for _, f := range [...][2]string{{"title", req.Title}, {"description", req.Description}, {"referenceId", req.ReferenceID}, {"purpose", req.Purpose}} {
		if strings.TrimSpace(f[1]) == "" {
			c.Add(f[0], "want a text")
		}
	}
	if len(req.PSP) > 1 && req.ProviderOrderID != "" {
		c.Add("providerOrderId", "want one psp beside it")
	}
	amount(c, req.Amount, req.Currency)
	if req.VatRate != "" && !percent(string(req.VatRate)) {
		c.Add("vatRate", "want 0 to 100, with at most 8 decimals")
	}
	if len(req.PSP) > maxList || slices.ContainsFunc(req.PSP, func(n int64) bool { return n < 1 || n > MaxID }) {
		c.Add("psp", "want at most 100 ids from 1 to 2147483647")
	}
	if len(req.PM) > maxList {
		c.Add("pm", "more than 100 entries")
	}
	for _, pm := range req.PM {
		c.Text("pm", pm, maxWord)
	}
	for name, f := range req.Fields {
		if !slices.Contains(fieldNames[:], name) {
			c.Add("fields", "an unknown field")
			continue
		}
		lines(c)("fields["+name+"][defaultValue]", f.DefaultValue, maxText)
		if f.Names != nil {
			if !custom(name) {
				c.Add("fields["+name+"][names]", "only custom fields have names")
			}
			for i := range languages {
				c.Text("fields["+name+"][names]", *f.Names.at(i), maxWord)
			}
		}
	}
	if _, err := time.Parse(time.DateOnly, req.ExpirationDate); req.ExpirationDate != "" && (err != nil || req.ExpirationDate < "2000") {
		c.Add("expirationDate", "want YYYY-MM-DD")
	}
	c.ReturnURL("successRedirectUrl", req.SuccessRedirectURL)
	c.ReturnURL("failedRedirectUrl", req.FailedRedirectURL)
	terms(c, req)
	attachments(c, req.Attachments)
}

// lines is check.List.Text for a text of several lines.
func lines(c *check.List) func(path, s string, limit int) {
	return func(path, s string, limit int) {
		plain := strings.NewReplacer("\r", "", "\n", "", "\t", "").Replace(s)
		if len(s) > limit || !wire.PlainText(plain, limit) {
			c.Add(path, "longer than "+strconv.Itoa(limit)+" bytes, or control characters")
		}
	}
}

func amount(c *check.List, cents int64, currency string) {
	cur, ok := c.Payable("currency", currency)
	switch {
	case !ok:
	case cents < 1 || cents > math.MaxInt32:
		c.Add("amount", "want 1 to 2147483647 cents")
	default:
		if _, err := money.FromHundredths(cents, cur); err != nil {
			c.Add("amount", "not a whole number of minor units of the currency")
		}
	}
}

// terms checks how the money is to come: at once, later, or again and again.
func terms(c *check.List, req CreateRequest) {
	switch {
	case req.PreAuthorization && req.Reservation:
		c.Add("reservation", "not together with preAuthorization")
	case req.SubscriptionState && req.Reservation:
		c.Add("subscriptionState", "not together with reservation")
	}
	if req.SubscriptionPeriodMinAmount < 0 || req.SubscriptionPeriodMinAmount > math.MaxInt32 {
		c.Add("subscriptionPeriodMinAmount", "want 0 to 2147483647 cents")
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
			c.Add(f.name, "want an ISO 8601 period of days, weeks, months or years, such as P1M")
		}
	}
}

func attachments(c *check.List, files []Attachment) {
	total := int64(0)
	for _, f := range files {
		c.Text("attachments", f.Name, maxWord)
		if f.Open == nil || f.Size < 0 || total > bracket.MaxFiles-f.Size {
			c.Add("attachments", "without content, or above 16 MiB together")
			return
		}
		total += f.Size
	}
	if len(files) > 10 {
		c.Add("attachments", "more than 10")
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
func (req ChargeRequest) Validate() error { return check.Request(opCharge, req) }

// Check implements check.Checked.
func (req ChargeRequest) Check(c *check.List) {
	part(c, req.Amount)
	lines(c)("purpose", req.Purpose, maxWord)
	c.Text("referenceId", req.ReferenceID, maxWord)
}

// Validate applies the stateless rules to a refund.
func (req RefundRequest) Validate() error { return check.Request(opRefund, req) }

// Check implements check.Checked.
func (req RefundRequest) Check(c *check.List) { part(c, req.Amount) }

func part(c *check.List, amount *int64) {
	if amount != nil && (*amount < 1 || *amount > math.MaxInt32) {
		c.Add("amount", "want 1 to 2147483647 cents")
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
func (f Filter) Validate() error { return check.Request(opList, f) }

// Check implements check.Checked.
func (f Filter) Check(c *check.List) {
	if f.Offset < 0 || f.Offset > math.MaxInt32 {
		c.Add("offset", "want 0 to 2147483647")
	}
	if f.Limit < 0 || f.Limit > math.MaxInt32 {
		c.Add("limit", "want 0 to 2147483647")
	}
}

// about names a link or a transaction.
type about struct {
	ID int64 `path:"id" json:"-"`
}

func (in about) id() int64 { return in.ID }

// Check implements check.Checked.
func (in about) Check(l *check.List) {
	if CheckID(in.ID) != nil {
		l.Add("id", "want 1 to 2147483647")
	}
}

// charging is a charge of a transaction.
type charging struct {
	about
	ChargeRequest
}

// Check implements check.Checked.
func (in charging) Check(l *check.List) {
	in.about.Check(l)
	in.ChargeRequest.Check(l)
}

// refunding is a refund of a transaction.
type refunding struct {
	about
	RefundRequest
}

// Check implements check.Checked.
func (in refunding) Check(l *check.List) {
	in.about.Check(l)
	in.RefundRequest.Check(l)
}
