// Package ecr is what a cash register can ask a terminal and be told, whatever protocol it speaks: Request and
// Outcome, and the interfaces between the register dialogues and the checkout (Desk, Till, Memory).
//
// It guarantees that both sides mean the same by a word: results and codes are closed lists, and the comments of Desk
// say what is durable when a method returns. It owns the table of ZVT card types, which is the register's name of a
// payment method.
//
// It must not import device, store, agent or schemes other than schemes/money; a dialogue knows nothing of how a sale
// is driven, and the checkout nothing of bytes on a line.
package ecr
