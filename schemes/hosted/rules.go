package hosted

import (
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

// What the requests are about.
type (
	ofSession struct {
		ID string `query:"sessionId" json:"-" max:"64"`
	}
	ofOrder struct {
		ID string `path:"orderId" json:"-" max:"64"`
	}
	// sessionCall is the body of finalize, confirm and cancel.
	sessionCall struct {
		SessionID string `json:"sessionId" wire:"required"`
		Amount    Text   `json:"amount,omitempty" wire:"given"` // of confirm
	}
	ofOperation struct {
		ID string `path:"operationId" json:"-" max:"64"`
		PostRequest
	}
)

// text refuses what check.Text does, and what would run in a page.
func text(l *check.List, path, s string, limit int) {
	n, low := l.Len(), strings.ToLower(s)
	l.Text(path, s, limit)
	if l.Len() == n && (strings.Contains(low, "<script") || strings.Contains(low, "javascript:")) {
		l.Reason(path, "embedded javascript", Javascript)
	}
}

// email refuses what is no e-mail address, and what text refuses; "" is absent.
func email(l *check.List, path, s string) {
	n := l.Len()
	if text(l, path, s, check.MaxEmail); l.Len() == n {
		l.Email(path, s)
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

func amount(l *check.List, path string, t Text) money.Minor {
	n, ok := t.Minor()
	if !ok {
		l.Reason(path, "want a whole number of smallest units, 0 to 2147483647", AmountNotNumeric)
	}
	return n
}

// part refuses an amount of nothing; "" is absent.
func part(l *check.List, t Text) {
	if n, ok := t.Minor(); t != "" && (!ok || n == 0) {
		l.Reason("amount", "want a whole number of smallest units, 1 to 2147483647", AmountNotNumeric)
	}
}

// date accepts an ISO 8601 date, and one with a time behind it.
func date(l *check.List, path, s string) {
	if _, ok := Date(s); s != "" && !ok {
		l.Reason(path, "want an ISO 8601 date", BadDate)
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

// Check implements check.Checked.
func (req BuildRequest) Check(l *check.List) {
	l.First = true
	if !wire.WebURL(req.MerchantURL) {
		l.Reason("merchantUrl", "want protocol and host of the platform's pages", BadMerchantURL)
	}
	text(l, "version", string(req.Version), 8)
	o, s := &req.Order, &req.PaymentSession
	if !orderID(o.OrderID) {
		l.Add("order.orderId", "want 1 to 27 letters, digits or # * + - . : ; = ? [ ] _ { | }")
	}
	cur, ok := money.Lookup(o.Currency)
	if !ok || !cur.Payable() {
		l.Reason("order.currency", "want an ISO 4217 code in capitals that can be paid with", BadCurrency)
	}
	total, first := amount(l, "order.amount", o.Amount), amount(l, "paymentSession.amount", s.Amount)
	if s.ActionType == "" {
		l.Add("paymentSession.actionType", "missing")
	}
	l.OneOf("paymentSession.actionType", s.ActionType, Pay, Verify, Preauth)
	switch {
	case first > total:
		l.Reason("paymentSession.amount", "above the order's amount", AmountAboveOrder)
	case first == 0 && s.ActionType != Verify:
		l.Add("paymentSession.amount", "0 is for VERIFY only")
	}
	for _, f := range []struct {
		path, text string
		limit      int
	}{
		{"order.customerId", string(o.CustomerID), 27}, {"order.invoiceId", o.InvoiceID, maxText}, {"order.description", o.Description, maxText},
		{"order.customField", o.CustomField, maxText}, {"paymentSession.paymentService", s.PaymentService, 64},
	} {
		text(l, f.path, f.text, f.limit)
	}
	l.Language("paymentSession.language", s.Language)
	l.OneOf("paymentSession.captureType", s.CaptureType, Implicit, Explicit)
	l.OneOf("paymentSession.exemptions", s.Exemptions, NoPreference, ChallengeRequested)
	l.ReturnURL("paymentSession.resultUrl", s.ResultURL)
	l.ReturnURL("paymentSession.cancelUrl", s.CancelURL)
	if s.NotificationURL != "" {
		l.WebURL("paymentSession.notificationUrl", s.NotificationURL)
	}
	if s.Recurrence != nil {
		s.Recurrence.check(l, "paymentSession.recurrence.")
	}
	o.checkLists(l, total)
}

func (o *Order) checkLists(l *check.List, total money.Minor) {
	if len(o.TransactionSummary) > maxList || len(o.Installments) > maxList || len(o.TermsAndConditionsIDs) > maxList {
		l.Add("order", "a list with more than 1000 entries")
		return
	}
	for _, s := range o.TransactionSummary {
		l.Language("order.transactionSummary[].language", s.Language)
		if len(s.SummaryList) > maxList {
			l.Add("order.transactionSummary[].summaryList", "more than 1000 entries")
			return
		}
		for _, line := range s.SummaryList {
			text(l, "order.transactionSummary[].summaryList[].label", line.Label, maxText)
			text(l, "order.transactionSummary[].summaryList[].value", line.Value, maxText)
		}
	}
	sum := money.Minor(0)
	for _, i := range o.Installments {
		n, ok := i.Amount.Minor()
		sum += n
		if _, good := Date(i.Date); !ok || !good {
			l.Reason("order.installments[]", "want a date and an amount", BadInstallments)
		}
	}
	if sum > total {
		l.Reason("order.installments", "together above the order's amount", BadInstallments)
	}
	for _, id := range o.TermsAndConditionsIDs {
		text(l, "order.termsAndConditionsIds[]", id, maxText)
	}
}

func (r Recurrence) check(l *check.List, at string) {
	l.OneOf(at+"action", r.Action, NoRecurring, SubsequentPayment, ContractCreation, CardSubstitution)
	l.OneOf(at+"contractType", r.ContractType, Unscheduled, Scheduled, CIT)
	text(l, at+"contractId", r.ContractID, maxContract)
	date(l, at+"contractExpiryDate", r.ContractExpiryDate)
	if n, ok := r.ContractFrequency.Minor(); r.ContractFrequency != "" && (!ok || n < 1 || n > 9999) {
		l.Add(at+"contractFrequency", "want 1 to 9999 days")
	}
	if r.Action == "" || r.Action == NoRecurring {
		return
	}
	if r.ContractID == "" {
		l.Add(at+"contractId", "missing")
	}
	if r.Action == ContractCreation && r.ContractType == Scheduled && r.ContractFrequency == "" {
		l.Add(at+"contractFrequency", "missing")
	}
}

// Validate applies the stateless rules to a capture, refund or cancel.
func (req PostRequest) Validate(op string) error { return refused(op, check.Request(op, req)) }

// Check implements check.Checked.
func (req PostRequest) Check(l *check.List) {
	l.First = true
	part(l, req.Amount)
	if req.Currency != "" && !money.Nameable(req.Currency) {
		l.Reason("currency", "want an ISO 4217 code in capitals", BadCurrency)
	}
	text(l, "description", req.Description, maxText)
}

// Check implements check.Checked.
func (s sessionCall) Check(l *check.List) {
	l.First = true
	l.Word("sessionId", s.SessionID, MaxID)
	part(l, s.Amount)
}

// Check implements check.Checked.
func (s ofSession) Check(l *check.List) { l.Word("sessionId", s.ID, MaxID) }

// Flaw says what a reply must not be: one without a session and its token, or with an address for no browser.
func (b Built) Flaw() string {
	switch {
	case !wire.PathWord(b.SessionID, MaxID):
		return "reply names no session"
	case b.SecurityToken == "":
		return "reply has no token"
	case !usable(b.URL, b.Fields):
		return "reply names no usable address"
	}
	return ""
}

// Flaw says what a reply must not be: one without a state, or with an address for no browser.
func (s SessionState) Flaw() string {
	switch {
	case s.State == "":
		return "reply names no state"
	case !usable(s.URL, nil) || s.FieldSet != nil && !usable(s.FieldSet.URL, s.FieldSet.Fields):
		return "reply names no usable address"
	}
	return ""
}

// Flaw says what a reply must not be: one without an operation.
func (p Posted) Flaw() string {
	if p.OperationID == "" {
		return "reply names no operation"
	}
	return ""
}

// usable says whether the addresses of a reply are such that a browser may be sent there.
func usable(page string, fields []Field) bool {
	for _, f := range fields {
		if !wire.WebURL(f.Src) {
			return false
		}
	}
	return page == "" || wire.WebURL(page)
}
