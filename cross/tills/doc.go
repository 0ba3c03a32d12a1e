// Package tills has a cash register of each protocol, for the campaigns: it asks for a payment, and
// asks again what became of it in the protocol's own way.
//
// table.go is the table of the protocols. A protocol is one row there and one small file beside it,
// with what its tills send and read. The drivers of nexo, Caisse-AP and HTTP are written from the
// descriptions of the protocols and share no code with the terminal.
//
// It guarantees that an answer is one of the words of Word, and that nothing that was heard in part
// is taken for an answer. It judges nothing, and knows neither the terminal's journal nor the
// backend. Only the campaigns below cross import it.
package tills
