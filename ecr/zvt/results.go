package zvt

// Result is a code that a register gets from this terminal, in 04 0F (27), 06 1E or 84 xx, and what
// comes after it. README.md has the same table; a test compares them.
type Result struct {
	Code byte
	Next string // for the cashier and the register
}

// Results lists every code that this terminal sends, besides 00.
func Results() []Result {
	return []Result{
		{0x05, "not paid; pay another way, or begin a new sale"},
		{0x37, "nothing was done; show the six digits of [ecr] password in 06 00; after twenty wrong ones each waits 20 s and ends its connection"},
		{0x66, "nothing was begun, or not paid: the text says which; correct the request"},
		{0x6C, "not paid, or the money goes back: the text says which; begin a new sale if the customer still wants to pay"},
		{0x6F, "nothing was begun; send the terminal's currency in BMP 49, or none"},
		{0x77, "the day is not closed: a sale is open or not settled; wait a minute and send 06 50 again"},
		{resultNoModule, "nothing was changed: 08 40 names another rate than [ecr] baud, or the line is TCP"},
		{0x83, "nothing was begun: not possible now, or not in this way; the README of ecr/zvt lists the cases"},
		{0x9C, "no failure and no end: the refund or reversal goes on; send the same again or 06 20, and give no cash instead"},
		{resultBusy, "nothing new was begun: the terminal is busy or starts; ask again in 2 s, after a broken line with 06 20"},
		{resultNoReply, "no connection to the backend: not paid, or not done; try again later, or pay another way"},
		{0xB1, "nothing was begun: the journal cannot be written, or is full; read the text, then posagent doctor on the terminal"},
		{0xB4, "nothing was begun: the money went back before; do not give it back twice"},
		{0xB5, "nothing was begun: the receipt is not known, is refunded in part, the method gives back the whole amount only, or its approval was not acknowledged; check the number"},
		{0xB7, "nothing was begun: the amount is more than the original's or than is left of it, or out of range; send the right one"},
		{resultTooLarge, "nothing was begun: more than is left of the original; send less"},
		{0xC5, "nothing was begun: no payment method fits the request; leave the card type out, or pay another way"},
		{resultTooSmall, "nothing was begun: the sale has no amount; send BMP 04"},
		{resultNoPrinter, "nothing is printed: 06 12 wants a register with 02 and 80 in config, 06 D1 a printer in [printer] device that prints"},
		{0xFF, "the terminal cannot say: read the text and ask with 06 20 before anybody pays again"},
	}
}

// Next is what comes after a code, "" for one that this terminal does not send.
func Next(code byte) string {
	for _, r := range Results() {
		if r.Code == code {
			return r.Next
		}
	}
	return ""
}
