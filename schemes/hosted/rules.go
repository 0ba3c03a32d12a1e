package hosted

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"posagent/schemes/money"
	"posagent/schemes/wire"
	"posagent/schemes/wire/check"
)

// Limits of a request, in bytes.
const (
	MaxID       = 64 // of sessions and operations
	maxOrderID  = 27
	maxText     = 255
	maxList     = 1000
	maxContract = 255
	maxAmount   = 1<<31 - 1
)

// checks collects what is wrong with a request. The first reason is the error's.
type checks struct {
	errs   []error
	reason string
}

func (c *checks) add(reason, path, text string) {
	if c.reason == "" {
		c.reason = reason
	}
	c.errs = append(c.errs, &wire.FieldError{Path: path, Reason: text, Code: wire.Invalid})
}

func (c *checks) err(op string) error {
	if c.errs == nil {
		return nil
	}
	e := wire.AsError(op, errors.Join(c.errs...))
	e.Code, e.Reason = wire.Invalid, c.reason
	return e
}

func (c *checks) text(path, s string, limit int) {
	switch low := strings.ToLower(s); {
	case !wire.PlainText(s, limit) || strings.ContainsAny(s, "\u2028\u2029"):
		c.add(BadParameter, path, "longer than "+strconv.Itoa(limit)+" bytes, control characters or line separators")
	case strings.Contains(low, "<script") || strings.Contains(low, "javascript:"):
		c.add(Javascript, path, "embedded javascript")
	}
}

func (c *checks) oneOf(path, s string, words ...string) {
	for _, w := range words {
		if s == w {
			return
		}
	}
	c.add(BadParameter, path, "want one of "+strings.Trim(strings.Join(words, ", "), ", "))
}

func (c *checks) language(path, s string) {
	if s != "" && !check.Language(s) {
		c.add(BadParameter, path, "want an ISO 639-2 code, three letters")
	}
}

func (c *checks) country(path, s string) {
	if s != "" && !check.Country3(s) {
		c.add(BadParameter, path, "want an ISO 3166-1 alpha-3 code in capitals")
	}
}

func (c *checks) url(path, s string) {
	if s != "" && !wire.WebURL(s) {
		c.add(BadParameter, path, "want an http or https address")
	}
}

// Minor reads an amount: digits alone, without a leading 0, at most 2147483647.
func (t Text) Minor() (money.Minor, bool) {
	if t == "" || len(t) > 10 || strings.Trim(string(t), "0123456789") != "" || len(t) > 1 && t[0] == '0' {
		return 0, false
	}
	n, err := strconv.ParseInt(string(t), 10, 64)
	return money.Minor(n), err == nil && n <= maxAmount
}

// TextOf writes an amount.
func TextOf(n money.Minor) Text { return Text(strconv.FormatInt(int64(n), 10)) }

func (c *checks) amount(path string, t Text) money.Minor {
	n, ok := t.Minor()
	if !ok {
		c.add(AmountNotNumeric, path, "want a whole number of smallest units, 0 to 2147483647")
	}
	return n
}

// date accepts an ISO 8601 date, and one with a time behind it.
func (c *checks) date(path, s string) {
	if _, ok := Date(s); s != "" && !ok {
		c.add(BadDate, path, "want an ISO 8601 date")
	}
}

// Date reads the day of an ISO 8601 date or time; it is UTC's.
func Date(s string) (time.Time, bool) {
	if len(s) < 10 || len(s) > 40 || len(s) > 10 && s[10] != 'T' && s[10] != ' ' {
		return time.Time{}, false
	}
	at, err := time.Parse(time.DateOnly, s[:10])
	return at, err == nil && wire.PlainText(s, 40)
}

func orderID(s string) bool {
	if s == "" || len(s) > maxOrderID {
		return false
	}
	for _, b := range []byte(s) {
		if (b < '0' || b > '9') && (b|0x20 < 'a' || b|0x20 > 'z') && strings.IndexByte("#*+-.:;=?[]_{|}", b) < 0 {
			return false
		}
	}
	return true
}

// Validate applies every stateless rule to a build request. The error is wire.Invalid; it names every field that is wrong,
// never its content.
func (req BuildRequest) Validate() error {
	var c checks
	if !wire.WebURL(req.MerchantURL) {
		c.add(BadMerchantURL, "merchantUrl", "want protocol and host of the platform's pages")
	}
	c.text("version", string(req.Version), 8)
	o, s := &req.Order, &req.PaymentSession
	if !orderID(o.OrderID) {
		c.add(BadParameter, "order.orderId", "want 1 to 27 letters, digits or # * + - . : ; = ? [ ] _ { | }")
	}
	cur, ok := money.Lookup(o.Currency)
	if !ok || !cur.Payable() {
		c.add(BadCurrency, "order.currency", "want an ISO 4217 code in capitals that can be paid with")
	}
	total, first := c.amount("order.amount", o.Amount), c.amount("paymentSession.amount", s.Amount)
	c.oneOf("paymentSession.actionType", s.ActionType, Pay, Verify, Preauth)
	switch {
	case first > total:
		c.add(AmountAboveOrder, "paymentSession.amount", "above the order's amount")
	case first == 0 && s.ActionType != Verify:
		c.add(BadParameter, "paymentSession.amount", "0 is for VERIFY only")
	}
	for _, f := range []struct {
		path, text string
		limit      int
	}{
		{"order.customerId", string(o.CustomerID), 27}, {"order.invoiceId", o.InvoiceID, maxText}, {"order.description", o.Description, maxText},
		{"order.customField", o.CustomField, maxText}, {"paymentSession.paymentService", s.PaymentService, 64},
	} {
		c.text(f.path, f.text, f.limit)
	}
	c.language("paymentSession.language", s.Language)
	c.oneOf("paymentSession.captureType", s.CaptureType, "", Implicit, Explicit)
	c.oneOf("paymentSession.exemptions", s.Exemptions, "", NoPreference, ChallengeRequested)
	for _, f := range [...][2]string{{"paymentSession.resultUrl", s.ResultURL}, {"paymentSession.cancelUrl", s.CancelURL}} {
		if f[1] != "" && !wire.ReturnURL(f[1]) {
			c.add(BadParameter, f[0], "want an https address, or http to this machine")
		}
	}
	c.url("paymentSession.notificationUrl", s.NotificationURL)
	if s.Recurrence != nil {
		c.recurrence("paymentSession.recurrence.", *s.Recurrence)
	}
	c.lists(*o, total)
	return c.err(opBuild)
}

func (c *checks) lists(o Order, total money.Minor) {
	if len(o.TransactionSummary) > maxList || len(o.Installments) > maxList || len(o.TermsAndConditionsIDs) > maxList {
		c.add(BadParameter, "order", "a list with more than 1000 entries")
		return
	}
	for _, s := range o.TransactionSummary {
		c.language("order.transactionSummary[].language", s.Language)
		if len(s.SummaryList) > maxList {
			c.add(BadParameter, "order.transactionSummary[].summaryList", "more than 1000 entries")
			return
		}
		for _, l := range s.SummaryList {
			c.text("order.transactionSummary[].summaryList[].label", l.Label, maxText)
			c.text("order.transactionSummary[].summaryList[].value", l.Value, maxText)
		}
	}
	sum := money.Minor(0)
	for _, i := range o.Installments {
		n, ok := i.Amount.Minor()
		sum += n
		if _, good := Date(i.Date); !ok || !good {
			c.add(BadInstallments, "order.installments[]", "want a date and an amount")
		}
	}
	if sum > total {
		c.add(BadInstallments, "order.installments", "together above the order's amount")
	}
	for _, id := range o.TermsAndConditionsIDs {
		c.text("order.termsAndConditionsIds[]", id, maxText)
	}
}

func (c *checks) recurrence(at string, r Recurrence) {
	c.oneOf(at+"action", r.Action, "", NoRecurring, SubsequentPayment, ContractCreation, CardSubstitution)
	c.oneOf(at+"contractType", r.ContractType, "", Unscheduled, Scheduled, CIT)
	c.text(at+"contractId", r.ContractID, maxContract)
	c.date(at+"contractExpiryDate", r.ContractExpiryDate)
	if n, ok := r.ContractFrequency.Minor(); r.ContractFrequency != "" && (!ok || n < 1 || n > 9999) {
		c.add(BadParameter, at+"contractFrequency", "want 1 to 9999 days")
	}
	if r.Action == "" || r.Action == NoRecurring {
		return
	}
	if r.ContractID == "" {
		c.add(BadParameter, at+"contractId", "missing")
	}
	if r.Action == ContractCreation && r.ContractType == Scheduled && r.ContractFrequency == "" {
		c.add(BadParameter, at+"contractFrequency", "missing")
	}
}

// Validate applies the stateless rules to a capture, refund or cancel.
func (req PostRequest) Validate(op string) error {
	var c checks
	if n, ok := req.Amount.Minor(); req.Amount != "" && (!ok || n == 0) {
		c.add(AmountNotNumeric, "amount", "want a whole number of smallest units, 1 to 2147483647")
	}
	if _, ok := money.Lookup(req.Currency); req.Currency != "" && !ok {
		c.add(BadCurrency, "currency", "want an ISO 4217 code in capitals")
	}
	c.text("description", req.Description, maxText)
	return c.err(op)
}

// checkID checks the id of a session or operation, or of an order.
func checkID(op, path, id string) error {
	if !wire.PathWord(id, MaxID) {
		return &wire.Error{Code: wire.Invalid, Reason: BadParameter, Op: op, Msg: path + ": want 1 to 64 characters"}
	}
	return nil
}

// needKey says that a key is wanted.
func needKey(op string, key wire.Key) error {
	if key == "" {
		return &wire.Error{Code: wire.Invalid, Reason: BadKey, Op: op, Msg: "Idempotency-Key missing"}
	}
	return nil
}

// CorrelationHeader is wanted on every call.
const CorrelationHeader = "Correlation-Id"

// correlated checks it: 8-4-4-4-12 hexadecimal digits.
func correlated(values []string) bool {
	if len(values) != 1 || len(values[0]) != 36 {
		return false
	}
	for i, b := range []byte(values[0]) {
		if dash := i == 8 || i == 13 || i == 18 || i == 23; dash != (b == '-') || !dash && strings.IndexByte("0123456789abcdefABCDEF", b) < 0 {
			return false
		}
	}
	return true
}
