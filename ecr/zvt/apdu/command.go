package apdu

import "fmt"

// Command is CLASS and INSTR of an APDU as one number, e.g. 0x0601; a reply is 0x8000 or 0x84xx.
type Command uint16

// The commands and replies this terminal knows.
const (
	Registration   Command = 0x0600
	Authorisation  Command = 0x0601
	LogOff         Command = 0x0602
	Completion     Command = 0x060F
	BookTip        Command = 0x060C
	TurnoverTotals Command = 0x0610
	ReprintReceipt Command = 0x0612
	Reset          Command = 0x0618
	PrintConfig    Command = 0x061A
	SetTerminalID  Command = 0x061B
	AbortPT        Command = 0x061E // PT→ECR: the command ended without success
	RepeatReceipt  Command = 0x0620
	Reservation    Command = 0x0622
	BookPart       Command = 0x0623 // reverses a pre-authorisation in part, or books a reservation
	BookTotal      Command = 0x0624
	Release        Command = 0x0625 // reverses a pre-authorisation
	Reversal       Command = 0x0630
	RefundCmd      Command = 0x0631
	EndOfDay       Command = 0x0650
	Diagnosis      Command = 0x0670
	SetDate        Command = 0x0691
	Initialisation Command = 0x0693
	PartialClose   Command = 0x0652
	AbortECR       Command = 0x06B0
	PrintLine      Command = 0x06D1
	PrintBlock     Command = 0x06D3
	DisplayText    Command = 0x06E0
	DisplayKey     Command = 0x06E1
	DisplayNumber  Command = 0x06E2
	DisplayImage   Command = 0x06F0
	StatusEnquiry  Command = 0x0501
	StatusInfo     Command = 0x040F
	Intermediate   Command = 0x04FF
	SetTime        Command = 0x0401
	StartOPT       Command = 0x0820
	StartOPTInit   Command = 0x0822
	OutputOPT      Command = 0x0823
	ChangeBaud     Command = 0x0840
	ActivateReader Command = 0x0850
	Ack            Command = 0x8000
)

// IsReply reports whether c answers a command (80 00 or 84 xx) instead of being one.
func (c Command) IsReply() bool { return c == Ack || c>>8 == 0x84 }

// IsOK reports a positive reply: 80 00 or 84 00.
func (c Command) IsOK() bool { return c == Ack || c == 0x8400 }

// Code is the second byte: of a reply 84 xx the error code xx.
func (c Command) Code() byte { return byte(c) }

// String is the hexadecimal form, "06 01".
func (c Command) String() string { return fmt.Sprintf("%02X %02X", byte(c>>8), byte(c)) }

// passwordFirst are the commands whose positional bytes begin with the password.
func (c Command) passwordFirst() bool {
	switch c {
	case Registration, BookTip, TurnoverTotals, ReprintReceipt, Reset, PrintConfig, SetTerminalID, RepeatReceipt, Reservation,
		BookPart, BookTotal, Release, Reversal, RefundCmd, EndOfDay, PartialClose, SetDate, Initialisation, StatusEnquiry,
		Diagnosis, AbortECR, StartOPT, StartOPTInit, OutputOPT:
		return true
	}
	return false
}
