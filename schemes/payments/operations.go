package payments

import (
	"posagent/schemes/wire"
	"posagent/schemes/wire/check"
)

// AuthorizeRequest reserves money (S0 2.2). A nil Amount is the payment's.
type AuthorizeRequest struct {
	Amount      *int32 `json:"amount,omitempty" wire:"notnull"`
	Description string `json:"description,omitempty" wire:"masked"`
	TerminalID  string `json:"terminalId,omitempty"`
}

// Check implements check.Checked.
func (r AuthorizeRequest) Check(l *check.List) {
	checkOperation(l, r.Amount, r.Description, r.TerminalID, nil)
}

// CancelRequest annuls the reservation (S0 2.2). An amount is not read.
type CancelRequest struct {
	Description string `json:"description,omitempty" wire:"masked"`
	TerminalID  string `json:"terminalId,omitempty"`
}

// Check implements check.Checked.
func (r CancelRequest) Check(l *check.List) {
	checkOperation(l, nil, r.Description, r.TerminalID, nil)
}

// CaptureRequest collects reserved money (S0 2.2). A nil Amount is all that is still reserved.
type CaptureRequest struct {
	Amount      *int32       `json:"amount,omitempty" wire:"notnull"`
	Description string       `json:"description,omitempty" wire:"masked"`
	Basket      []BasketItem `json:"basket,omitempty"`
	TerminalID  string       `json:"terminalId,omitempty"`
}

// Check implements check.Checked.
func (r CaptureRequest) Check(l *check.List) {
	checkOperation(l, r.Amount, r.Description, r.TerminalID, r.Basket)
}

// RefundRequest gives captured money back. A nil Amount is all that was captured and not given back yet.
type RefundRequest struct {
	Amount      *int32       `json:"amount,omitempty" wire:"notnull"`
	Description string       `json:"description,omitempty" wire:"masked"`
	Basket      []BasketItem `json:"basket,omitempty"`
}

// Check implements check.Checked.
func (r RefundRequest) Check(l *check.List) {
	checkOperation(l, r.Amount, r.Description, "", r.Basket)
}

// Done answers each operation on a payment.
type Done struct {
	PaymentID      string        `json:"paymentId" wire:"required"`
	TransactionRef string        `json:"transactionRef" wire:"required"`
	Operation      *wire.Pending `json:"operation,omitempty"`
}

// Flaw says what a reply must not be: one that names no transaction.
func (d Done) Flaw() string {
	if d.TransactionRef == "" {
		return "reply names no transaction"
	}
	return ""
}

// Validate checks a call on a payment: its id (CheckID), and the rules of its body. The error is wire.Invalid.
func Validate(op, paymentID string, req check.Checked) error {
	if err := checkID(op, paymentID); err != nil {
		return err
	}
	return check.Request(op, req)
}

// checkOperation checks what the operations have in common.
func checkOperation(l *check.List, amount *int32, description, terminal string, basket []BasketItem) {
	if amount != nil && *amount < 0 {
		l.Add("amount", "negative")
	} else if amount != nil && *amount == 0 {
		l.Reason("amount", "zero", ZeroCharge)
	}
	l.Text("description", description, maxText)
	l.Text("terminalId", terminal, MaxID)
	checkBasket(l, basket, amount)
}
