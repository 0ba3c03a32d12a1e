// Package line is the campaign on the register's cable. Bits flip; bytes vanish, double and change
// places; answers are lost or late. The cable is pulled at each byte of a dialogue. Registers die
// within a sale, and abort it at each millisecond around its approval.
//
// It guarantees:
//   - Frame against frame: no damaged message is delivered but those that the checksum cannot see.
//     A command is delivered at most once. A second after the noise ends, the line is in step.
//   - Sale against books: a register that asks until it has a definite answer was told approved
//     exactly if one net payment is in the books.
//   - Over each protocol of cross/tills: a connection that breaks at any byte of a sale leaves what the
//     protocol promises (MONEY F.5), whether the till asks again or goes on with its next sale.
//
// It drives the product through cross/stack. It must not be imported.
package line
