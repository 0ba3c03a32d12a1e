package aapay

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"posagent/schemes/money"
	"posagent/schemes/wire"
)

// Limits of a request, in bytes and entries.
const (
	MaxID      = 255 // merchantId, method, consumerId, references, status ids
	maxText    = 4096
	maxEntries = 1000 // items of any list or map
)

// required are the fields that must be present and not null (S1 2.4).
var required = [...]string{
	"merchantId",
	"method",
	"purchaseAmount",
	"purchaseAmount.currencyCode",
	"purchaseAmount.vatAmount",
	"purchaseAmount.nominalAmount",
	"purchaseAmount.totalAmount",
	"consumer",
	"consumer.consumerId",
	"consumer.name",
	"params[].key",
	"params[].value",
	"additionalProperties[].key",
	"additionalProperties[].value",
}

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

// DecodeRequest reads a request body strictly and checks which fields are present; Validate checks what
// they say. The error is *wire.Error with code Invalid or TooLarge and names every field.
func DecodeRequest(data []byte) (Request, error) {
	var req Request
	if err := wire.Decode(data, &req); err != nil {
		return Request{}, wire.AsError(opInitialize, err)
	}
	if err := errors.Join(wire.Required(data, required[:]...), wire.NotNull(data, "originalReference")); err != nil {
		return Request{}, invalid(err)
	}
	return req, nil
}

// Validate applies every stateless rule to a request. The error is wire.Invalid and names every
// field that is wrong, never its content.
func Validate(typ Type, req Request) error {
	var c checks
	if _, ok := ParseType(string(typ)); !ok {
		c.add("type", "want payment, refund or reversal")
	}
	c.id("merchantId", req.MerchantID)
	c.id("method", req.Method)
	c.id("terminalReference", req.TerminalReference)
	c.id("originalReference", req.OriginalReference)
	if (typ == Refund || typ == Reversal) && req.OriginalReference == "" {
		c.add("originalReference", "missing")
	}
	c.amount(typ, req.PurchaseAmount)
	if req.Consumer == nil {
		c.add("consumer", "missing")
	} else {
		c.id("consumer.consumerId", req.Consumer.ConsumerID)
		c.text("consumer.name", req.Consumer.Name)
	}
	switch req.Trigger {
	case "", TriggerManual, TriggerQR:
	default:
		c.add("trigger", `want "0" or "2"`)
	}
	c.text("message", req.Message)
	c.pairs("params", req.Params)
	c.pairs("additionalProperties", req.AdditionalProperties)
	c.count("parameterMap", len(req.ParameterMap))
	for k, v := range req.ParameterMap {
		c.text("parameterMap", k)
		c.text("parameterMap", v)
	}
	c.ecr(req.ECR2NAA)
	if c.errs == nil {
		return nil
	}
	return invalid(errors.Join(c.errs...))
}

// EffectiveTrigger is the request's trigger, or the default "0" (S1 2.4).
func (r Request) EffectiveTrigger() string {
	if r.Trigger == "" {
		return TriggerManual
	}
	return r.Trigger
}

type checks struct{ errs []error }

func (c *checks) add(path, reason string) {
	c.errs = append(c.errs, &wire.FieldError{Path: path, Reason: reason, Code: wire.Invalid})
}

func (c *checks) id(path, s string) {
	if !wire.PlainText(s, MaxID) {
		c.add(path, fmt.Sprintf("longer than %d bytes, or control characters", MaxID))
	}
}

func (c *checks) text(path, s string) {
	if len(s) > maxText || strings.ContainsRune(s, 0) {
		c.add(path, fmt.Sprintf("longer than %d bytes, or a zero character", maxText))
	}
}

func (c *checks) count(path string, n int) {
	if n > maxEntries {
		c.add(path, fmt.Sprintf("more than %d entries", maxEntries))
	}
}

func (c *checks) pairs(path string, list []KeyValue) {
	c.count(path, len(list))
	for i, kv := range list {
		at := path + "[" + strconv.Itoa(i) + "]"
		c.text(at+".key", kv.Key)
		c.text(at+".value", kv.Value)
	}
}

func (c *checks) amount(typ Type, a *Amount) {
	const at = "purchaseAmount"
	if a == nil {
		c.add(at, "missing")
		return
	}
	cur, ok := money.Lookup(a.CurrencyCode)
	if !ok || !cur.Payable() {
		c.add(at+".currencyCode", "want an ISO 4217 code in capitals that can be paid with")
		return
	}
	for _, f := range []struct {
		name string
		n    int64
	}{{"vatAmount", a.VatAmount}, {"nominalAmount", a.NominalAmount}, {"totalAmount", a.TotalAmount}} {
		if f.n < 0 {
			c.add(at+"."+f.name, "negative")
		} else if _, err := money.FromHundredths(f.n, cur); err != nil {
			c.add(at+"."+f.name, "not a whole number of minor units of the currency")
		}
	}
	if a.TotalAmount == 0 && typ != Reversal {
		c.add(at+".totalAmount", "zero")
	}
	if a.VatAmount > a.TotalAmount {
		c.add(at+".vatAmount", "above totalAmount")
	}
}

func (c *checks) ecr(e *ECR2NAA) {
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
	c.count(at+".items", len(e.Order.Items))
	sum := money.Minor(0)
	for i, item := range e.Order.Items {
		place := at + ".items[" + strconv.Itoa(i) + "]"
		for _, s := range []string{item.ItemNo, item.Reference, item.Name, item.Unit} {
			c.text(place, s)
		}
		var err error
		if sum, err = money.Add(sum, money.Minor(item.GrossTotalAmount)); err != nil {
			c.add(place+".grossTotalAmount", "the sum leaves the range of amounts")
			return
		}
	}
	if len(e.Order.Items) > 0 && int64(sum) != e.Order.Amount {
		c.add(at+".amount", "not the sum of the items' grossTotalAmount")
	}
}

// CheckID checks a status id: 1 to 255 bytes without control characters, not a dot name. The error is wire.Invalid.
func CheckID(id string) error {
	if !wire.PathWord(id, MaxID) {
		return wire.Errorf(wire.Invalid, opStatus, "id: want 1 to %d characters", MaxID)
	}
	return nil
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
