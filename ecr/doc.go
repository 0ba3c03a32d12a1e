// Package ecr is what a cash register can ask a terminal and be told, whatever protocol it speaks.
// It holds Request and Outcome, the interfaces to the checkout (Desk, Till, Memory) and the devices
// (Panel), and what a protocol is (Protocol, Dialogue, Transport). ecrtest/toy is one to copy.
//
// Both sides share one closed list of results, codes, events and actions. The comments of Desk say
// what is durable when a method returns. It owns the table of ZVT card types, the register's name
// of a payment method. It must not import device, store, agent or schemes other than
// schemes/money.
//
// ZVT, JSON lines, nexo (European), ECR17 (Italian) and Caisse-AP (French) are built, HTTP belongs to
// the local port.
//
//	protocol    line         id of a request    asked again by      acknowledged by
//	ZVT         serial, TCP  none, or TLV 1F73  06 20               80 00 or 84 00 to 04 0F
//	JSON lines  serial, TCP  id                 the same id         ack
//	HTTP        local port   Idempotency-Key    GET by key          a GET of it, or TCP's own ack
//	nexo        HTTPS        SaleID, ServiceID  TransactionStatus   TCP's own ack
//	ECR17       TCP, serial  none               G, per register id  ACK
//	Caisse-AP   TCP          none               nothing             TCP's own ack, then FIN
//
// The terminal undoes an approval that the register did not acknowledge, at the event below or
// after 10 minutes. Keeping it could let the customer pay twice. HTTP keeps it, with an
// alert; so does one that TCP alone acknowledges, if the terminal stops as the approval leaves.
//
//	protocol   undone at the register's             undoing is wrong if
//	ZVT, JSON  next command for money               only the acknowledgement was lost
//	nexo       next payment without a status first  it was away for 10 minutes
//	ECR17      next P, X, S or C of its id          it crashed before its ACK
//	Caisse-AP  next debit of its till               it reset TCP after it had read
package ecr
