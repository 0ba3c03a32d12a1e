// Package zvt is the terminal's side of the ZVT register dialogue: a pure state machine.
//
// A Machine is fed with events (an APDU came, the desk answered, a timer ran out) and answers with actions (send this
// APDU, begin that sale, start a timer). It reads no clock and does no I/O; package session performs its actions. It
// imports package ecr, the codec ecr/zvt/apdu, schemes/money and the standard library; never os, net, database/sql.
// What it does with a command in each phase of a dialogue is one table (table.go).
//
// It guarantees
//   - every command is answered once: 80 00, or 84 xx where nothing was begun; only a command that the register itself
//     gave up by starting again stays unanswered;
//   - 80 00 to a sale is sent only after the desk has made it durable, or where the desk has yet to take its journal up, or takes
//     long over a refund or reversal: a refusal then could be taken for a no to what is being carried out;
//   - an approved outcome is sent only as the desk journalled it, and the desk is told exactly once what became of
//     it: told, refused or lost. Told comes before printing; a failed print undoes nothing (MONEY A.3);
//   - what is sent is conservative: fields in table order, containers only to a register that sent one, never 84 1E.
//
// # Decisions
//
// 2026-11-21: a refused sale is answered 80 00, 04 0F 27=xx, 06 1E xx, because registers act on 04 0F; only "busy" is
// 84 A0 00 and "impossible" 84 83 00. A sale in another currency is refused that way with 6F (MONEY A.6).
//
// 2026-11-21: 06 20 without a service byte, or with bit 0 set in it, sends 04 0F; otherwise nothing is confirmed. A
// repeated outcome that is not an approval ends with 06 1E like the first telling did, so that a register that looks
// at the completion alone does not take it for money. A line that never had a sale answers 84 83 00.
//
// 2026-11-21: a sale whose 04 0F stays unanswered ends the dialogue without a completion: the register is gone, and
// what it may believe is settled by 06 20, 1F1F, its next sale or the grace timer.
//
// 2026-11-21: a register that registers or logs off in the middle of a sale has restarted. The dialogue is dropped,
// the sale runs on and its outcome counts as lost unless 06 20 asks for it in time. If it restarted before the sale
// was answered 80 00, the sale is aborted.
//
// 2026-11-21: a status enquiry while 04 0F waits for its answer is acknowledged at once, but its 06 0F waits until the
// 04 0F is settled, at most 5 s: replies carry no name, and the reply to the one must not confirm the other.
//
// 2026-11-21: a reply to 04 FF that comes later than 5 s may be taken for the reply to 04 0F. So the first reply to a
// 04 0F that follows an unanswered message waits 2 s for a second one, which is the real one. If none comes, the 04 0F is sent once
// more, as after 84 9C: the next reply is to one of the two. A register that has answered no 04 FF at all is believed at once after
// the 2 s, because it would be asked twice every time. If the link lost the 04 0F, such a reply stands for nothing. With message
// sequence ids the question does not arise.
//
// 2026-11-21: message sequence ids (1F73) count per registration; the request id handed to the desk has the number of
// the registration in front, so that a new registration never meets an old sale. The same id with the same bytes is
// the same message, with other bytes it is refused with 84 83 00. An id below the last one starts a new count.
//
// 2026-11-21: TLV 41 (card type above 255) goes to a register that enabled containers, except one whose registration
// container held nothing but its command list (26): such a register uses containers for printing and is known to fail
// on a tag it did not ask for. It gets 8A=FF and the name.
//
// 2026-11-21: declined and aborted sales print nothing unless 1F04 asks for it. A merchant receipt is printed when the
// method requires it or 1F04 asks for it.
//
// 2026-11-21: amounts whose nibbles are not decimal digits, and a field that stands twice in a financial command, are
// refused with 84 83 00 before anything is begun. A reversal without a receipt likewise; a refund is told what to send (MONEY D.12).
//
// 2026-11-21: 06 50 answers 80 00 first and then works; 06 70 and 06 93 end with 06 1E A3 when the backend did not
// answer. A negative total is sent as zero in 04 and 60, which have no sign; the printed lines carry the sign.
package zvt
