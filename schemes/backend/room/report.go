package room

import "posagent/schemes/money"

// Line is one transaction of a room in the report of the books.
type Line struct {
	ID, Reference string
	Original      string // id of the payment that a reversal, a refund or an operation is about
	Type          string // "payment", or what it does to one
	Currency      string
	State         string
	AccountState  string // COMMIT where money came to the merchant or left; not every room says it
	Amount        money.Minor
}
