package aapay

import (
	"fmt"
	"strconv"
	"strings"

	"posagent/schemes/money"
	"posagent/schemes/wire"
	"posagent/schemes/wire/check"
)

// Limits of a request, in bytes and entries.
const (
	MaxID      = 255 // merchantId, method, consumerId, references, status ids
	maxText    = 4096
	maxEntries = 1000 // items of any list or map
)

// ParseType reads the {type} of a path: payment, purchase (the same), refund or reversal.
func ParseType(s string) (Type, bool) {
	switch Type(s) {
	case Payment, "purchase":
		return Payment, true
	case Refund, Reversal:
		return Type(s), true
	}
	return "", false
}

// Validate applies every stateless rule to a request. The error is wire.Invalid and names every
// field that is wrong, never its content.
func Validate(typ Type, req Request) error {
	return check.Request(plain.Op, starting{kind(typ), req})
}

// Check implements check.Checked.
func (s starting) Check(l *check.List) {
	c := checks{l}
	req, typ := s.Request, Type(s.Type)
	if _, ok := ParseType(string(typ)); !ok {
		l.Add("type", errNoType.Error())
	}
	l.Text("merchantId", req.MerchantID, MaxID)
	l.Text("method", req.Method, MaxID)
	l.Text("terminalReference", req.TerminalReference, MaxID)
	l.Text("originalReference", req.OriginalReference, MaxID)
	if (typ == Refund || typ == Reversal) && req.OriginalReference == "" {
		l.Add("originalReference", "missing")
	}
	c.amount(typ, req.PurchaseAmount)
	if req.Consumer == nil {
		l.Add("consumer", "missing")
	} else {
		l.Text("consumer.consumerId", req.Consumer.ConsumerID, MaxID)
		c.text("consumer.name", req.Consumer.Name)
	}
	switch req.Trigger {
	case "", TriggerManual, TriggerQR:
	default:
		l.Add("trigger", `want "0" or "2"`)
	}
	c.text("message", req.Message)
	c.pairs("params", req.Params)
	c.pairs("additionalProperties", req.AdditionalProperties)
	l.Count("parameterMap", len(req.ParameterMap), maxEntries)
	for k, v := range req.ParameterMap {
		c.text("parameterMap", k)
		c.text("parameterMap", v)
	}
	c.ecr(req.ECR2NAA)
}

// Check implements check.Checked. The id has the rule of its tag.
func (a about) Check(l *check.List) {
	if !wire.PlainText(a.Method, MaxID) {
		l.Add("method", "want one of at most "+strconv.Itoa(MaxID)+" characters")
	}
}

// EffectiveTrigger is the request's trigger, or the default "0" (S1 2.4).
func (r Request) EffectiveTrigger() string {
	if r.Trigger == "" {
		return TriggerManual
	}
	return r.Trigger
}

// checks are the rules of this service alone.
type checks struct{ *check.List }

// text is a text of several lines.
func (c checks) text(path, s string) {
	if len(s) > maxText || strings.ContainsRune(s, 0) {
		c.Add(path, fmt.Sprintf("longer than %d bytes, or a zero character", maxText))
	}
}

func (c checks) pairs(path string, list []KeyValue) {
	c.Count(path, len(list), maxEntries)
	for i, kv := range list {
		at := path + "[" + strconv.Itoa(i) + "]"
		c.text(at+".key", kv.Key)
		c.text(at+".value", kv.Value)
	}
}

func (c checks) amount(typ Type, a *Amount) {
	const at = "purchaseAmount"
	if a == nil {
		c.Add(at, "missing")
		return
	}
	cur, ok := c.Payable(at+".currencyCode", a.CurrencyCode)
	if !ok {
		return
	}
	for _, f := range []struct {
		name string
		n    int64
	}{{"vatAmount", a.VatAmount}, {"nominalAmount", a.NominalAmount}, {"totalAmount", a.TotalAmount}} {
		if f.n < 0 {
			c.Add(at+"."+f.name, "negative")
		} else if _, err := money.FromHundredths(f.n, cur); err != nil {
			c.Add(at+"."+f.name, "not a whole number of minor units of the currency")
		}
	}
	if a.TotalAmount == 0 && typ != Reversal {
		c.Add(at+".totalAmount", "zero")
	}
	if a.VatAmount > a.TotalAmount {
		c.Add(at+".vatAmount", "above totalAmount")
	}
}

func (c checks) ecr(e *ECR2NAA) {
	if e == nil {
		return
	}
	c.text("ecr2Naa.ver", e.Ver)
	c.text("ecr2Naa.reference", e.Reference)
	c.text("ecr2Naa.lang", e.Lang)
	if e.Order == nil {
		return
	}
	const at = "ecr2Naa.order"
	c.text(at+".reference", e.Order.Reference)
	c.text(at+".currency", e.Order.Currency)
	c.Count(at+".items", len(e.Order.Items), maxEntries)
	sum := money.Minor(0)
	for i, item := range e.Order.Items {
		place := at + ".items[" + strconv.Itoa(i) + "]"
		for _, s := range []string{item.ItemNo, item.Reference, item.Name, item.Unit} {
			c.text(place, s)
		}
		var err error
		if sum, err = money.Add(sum, money.Minor(item.GrossTotalAmount)); err != nil {
			c.Add(place+".grossTotalAmount", "the sum leaves the range of amounts")
			return
		}
	}
	if len(e.Order.Items) > 0 && int64(sum) != e.Order.Amount {
		c.Add(at+".amount", "not the sum of the items' grossTotalAmount")
	}
}

// CheckID checks a status id: 1 to 255 bytes without control characters, not a dot name. The error is wire.Invalid.
func CheckID(id string) error {
	var l check.List
	l.Word("id", id, MaxID)
	return l.Err(status.Op)
}

// Is says whether the status is of the transaction that id names: yes and known when transactionId, ppref or the receipt's
// reference is id; no and known when id is a number and the reply's transactionId another;
// otherwise the reply does not tell.
func (s Status) Is(id string) (same, known bool) {
	if s.TransactionID != 0 && strconv.FormatInt(s.TransactionID, 10) == id {
		return true, true
	}
	if s.NAA2ECR != nil && s.NAA2ECR.PPRef != "" && s.NAA2ECR.PPRef == id ||
		s.Receipt != nil && s.Receipt.Reference != "" && s.Receipt.Reference == id {
		return true, true
	}
	n, err := strconv.ParseInt(id, 10, 64)
	return false, err == nil && n > 0 && s.TransactionID != 0
}
