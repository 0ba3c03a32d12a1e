// Package ecr is what a cash register can ask a terminal and be told, whatever protocol it speaks.
// It holds Request and Outcome; the interfaces to the checkout (Desk, Till, Memory); and what a
// protocol is (Protocol, Dialogue, Transport).
//
// It guarantees that both sides mean the same by a word: results, codes, events and actions are
// closed lists, and the comments of Desk say what is durable when a method returns. It owns the
// table of ZVT card types, which is the register's name of a payment method. It must not import
// device, store, agent or schemes other than schemes/money.
//
// The protocols, of which ZVT is built. HTTP belongs to the local port and needs no session.
//
//	protocol    line         the request's id   asks again by       told by
//	ZVT         serial, TCP  none, or 1F73      06 20               80 00 or 84 00 to 04 0F
//	JSON lines  serial, TCP  id                 the same id         ack
//	HTTP        local port   Idempotency-Key    GET by key          fetched, or TCP has it
//	nexo        HTTPS        SaleID, ServiceID  TransactionStatus   acknowledged by TCP
//	ECR17       TCP, serial  none               G, per register id  ACK
//	Caisse-AP   TCP          none               nothing             acknowledged by TCP, then FIN
//
//	unheard    is undone                                       keeping costs   undoing costs where
//	ZVT, JSON  by the next command for money, or after 10 min  paid twice      the ack was lost
//	nexo       by the next payment without a status, or after  paid twice      it was away 10 min
//	ECR17      by the next P, X, S, C of its id, or after      paid twice      it crashed unheard
//	Caisse-AP  by the next debit of its till, or after         paid twice      RST after reading
//	HTTP       not: kept, with an alert                        paid, no goods  it was away 11 min
package ecr
