package jsonl

import (
	"crypto/subtle"
	"slices"
	"strconv"
	"strings"

	"posagent/ecr"
	"posagent/schemes/money"
)

// op is a message of the register.
type op uint8

const (
	hello op = iota
	sale
	refund
	reverse
	status // of a sale
	health // status without an id: of the terminal
	last
	abort
	ack
	totals
	ops
)

var opNames = [ops]string{"hello", "sale", "refund", "reverse", "status", "status", "last", "abort", "ack", "totals"}

// Limits of what a message says.
const (
	maxID      = 64
	maxTill    = 32
	maxAmount  = 999_999_999_999
	maxText    = 256
	maxLines   = 1000
	protocolID = "posagent.jsonl/1"
)

// message is what a register asks for.
type message struct {
	op       op
	id       string
	language string
	request  ecr.Request // of sale, refund and reverse; its Line is the dialogue's
	till     string
	password *string
	width    int
	close    bool
}

// body is what makes two requests under one id the same (the order lines are not compared).
type body struct {
	kind                ecr.Kind
	amount              money.Minor
	currency            string
	receipt             int
	original, reference string
}

func (m message) body() body {
	r := m.request
	return body{r.Kind, r.Amount, r.Currency, r.Receipt, r.Original, r.Reference}
}

// money reports whether the message moves money.
func (o op) money() bool { return o == sale || o == refund || o == reverse }

// decode reads a message. With a fault, the message has the id if that could be read.
func decode(data []byte) (message, *fault) {
	o, f := parse(data)
	if f != nil {
		return message{}, f
	}
	r := &fields{object: o}
	m := message{id: r.name("id", false, maxID)}
	if r.fault != nil {
		m.id = ""
	}
	if v, ok := r.get("op", 's', true); ok {
		n := slices.Index(opNames[:], v.text)
		if n < 0 {
			return m, &fault{unknownOp, "want one of hello sale refund reverse status last abort ack totals", "op"}
		}
		m.op = op(n)
	}
	if m.op == status && m.id == "" && r.fault == nil {
		m.op = health
	}
	if m.id == "" && m.op != hello && m.op != health {
		r.fail("id", "missing")
	}
	if m.language = r.name("language", false, 16); r.fault == nil {
		r.rest(&m)
	}
	return m, r.fault
}

// rest reads the fields of one kind of message.
func (r *fields) rest(m *message) {
	req := &m.request
	switch m.op {
	case hello:
		m.till = r.name("till", false, maxTill)
		m.width = int(r.integer("width", false, 16, 80))
		if v, ok := r.get("password", 's', false); ok {
			m.password = &v.text
		}
	case sale:
		req.Kind, req.Amount = ecr.Payment, r.amount("amount", true, 1)
		req.Currency = r.currency()
		req.Method = r.name("method", false, maxID)
		req.ConsumerID = r.text("consumerId", false, maxText)
		req.Lines = r.lines()
	case refund:
		req.Kind, req.Amount = ecr.Refund, r.amount("amount", true, 1)
		req.Currency = r.currency()
		req.Original = r.original()
	case reverse:
		req.Kind, req.Receipt = ecr.Reversal, int(r.integer("receipt", true, 1, 9999))
		req.Amount, req.Currency = r.amount("amount", false, 1), r.currency() // the whole: another is refused, and not ignored
	case totals:
		m.close = r.flag("close")
	}
	if m.op.money() {
		req.Reference = r.text("reference", false, maxID)
		req.Sequence, req.Progress = m.id, true
	}
}

func (r *fields) amount(name string, required bool, low int64) money.Minor {
	return money.Minor(r.integer(name, required, low, maxAmount))
}

func (r *fields) currency() string {
	c := r.text("currency", false, 3)
	if _, known := money.Lookup(c); c != "" && !known {
		r.fail("currency", "want an ISO 4217 code such as EUR")
	}
	return c
}

// original names the payment that is given back.
func (r *fields) original() string {
	s := r.text("original", true, maxID)
	number := func(s string) bool {
		n, err := strconv.ParseInt(s, 10, 64)
		return err == nil && n > 0 && s[0] != '+'
	}
	receipt, isReceipt := strings.CutPrefix(s, "R")
	transaction, isTransaction := strings.CutPrefix(s, "T")
	batch, one, inBatch := strings.Cut(receipt, "/")
	switch {
	case isTransaction && number(transaction), isReceipt && !inBatch && number(receipt), isReceipt && inBatch && number(batch) && number(one):
	default:
		r.fail("original", "want R17 (receipt), R3/17 (batch and receipt) or T4711 (transaction)")
	}
	return s
}

func (r *fields) lines() []ecr.Item {
	v, ok := r.get("lines", 'a', false)
	if !ok {
		return nil
	}
	if len(v.list) > maxLines {
		r.fail("lines", "more than %d order lines", maxLines)
		return nil
	}
	var items []ecr.Item
	for n, one := range v.list {
		at := "lines[" + strconv.Itoa(n) + "]"
		if one.kind != 'o' {
			r.fail(at, "%s where an object is wanted", kindName(one.kind))
			return nil
		}
		l := &fields{object: one.object}
		items = append(items, ecr.Item{
			ItemNo: l.text("itemNo", false, maxID), Name: l.text("name", true, maxText), Unit: l.text("unit", false, maxID),
			Quantity: int32(l.integer("quantity", true, 1, 1_000_000)), UnitPrice: l.amount("unitPrice", false, -maxAmount),
			Gross: l.amount("amount", true, -maxAmount), Tax: l.amount("tax", false, -maxAmount), TaxRate: l.integer("taxRate", false, 0, 10000),
		})
		if r.fault == nil {
			r.fault = l.fault
		}
	}
	return items
}

// ClaimOf reads what a message says of its sender, where want is the line's password.
func ClaimOf(data []byte, want string) ecr.Claim {
	m, f := decode(data)
	if f != nil {
		return ecr.Claim{}
	}
	return ecr.Claim{Password: m.password != nil, Right: m.shows(want), Register: m.op == hello || m.op.money()}
}

// shows reports whether a message carries the line's password.
func (m message) shows(want string) bool {
	return m.password != nil && subtle.ConstantTimeCompare([]byte(*m.password), []byte(want)) == 1
}
