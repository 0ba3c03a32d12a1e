// Package ecr is what a cash register can ask a terminal and be told, whatever protocol it speaks. It holds Request and
// Outcome; the interfaces to the checkout (Desk, Till, Memory); and what a protocol is (Protocol, Dialogue, Transport).
//
// It guarantees that both sides mean the same by a word: results, codes, events and actions are closed lists, and the
// comments of Desk say what is durable when a method returns. It owns the table of ZVT card types, which is the
// register's name of a payment method. It must not import device, store, agent or schemes other than schemes/money.
//
// The protocols; only ZVT and HTTP (agent/port, which needs no session) exist today:
//
//	protocol    line              the request's id   lost answer asked by   told by
//	ZVT         serial, TCP       none, or 1F73      06 20                  80 00 or 84 00 to 04 0F
//	JSON lines  serial, TCP       id                 the same id again      ack
//	HTTP        local port        Idempotency-Key    GET by key             fetched, or its last byte acknowledged
//	nexo        HTTPS             SaleID, ServiceID  TransactionStatus      its last byte acknowledged by TCP
//	ECR17       TCP, serial       none               G, per register id     ACK
//	Caisse-AP   TCP               none               nobody asks            that, then FIN without RST
//
//	protocol          an unheard approval is undone                    keeping costs       undoing costs
//	ZVT, JSON lines   by the next financial command, or after 10 min   paid twice          its ack was lost: the goods are gone
//	nexo              by the next payment without a status, or after   paid twice          the till was down for 10 min
//	ECR17             by the next P, X, S, C of its id, or after       paid twice          it crashed before its ACK
//	Caisse-AP         by the next debit of its till, or after          nobody ever asks    RST after reading
//	HTTP              not: kept, with an alert                         charged, no goods   its server was away for 11 min
package ecr
