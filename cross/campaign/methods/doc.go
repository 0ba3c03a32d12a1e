// Package methods sells every payment method of the sandbox with the built binary, as a counter
// does: a register on a serial line (a pseudo terminal) and one on TCP, both speaking ZVT, and a
// customer at the terminal's page, who chooses a method and types what it asks for.
//
// Each method is paid twice on each line. One payment is refunded in part, the other is reversed.
// Beside them are a code that the register has scanned, two prompts of one sale, a refund that asks
// first, and a payment whose amount the customer types. An end of day closes the batch. Its totals
// of each method, and the books of the backend, must be those that are written here by hand.
//
// TestEveryMethod runs the program on this machine, TestEveryMethodOnARM its ARMv7 binary on an
// emulator. It drives the built binary only.
package methods
