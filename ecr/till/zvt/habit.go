package zvt

import (
	"time"

	"posagent/ecr/zvt/apdu"
	"posagent/ecr/zvt/frame"
)

// UnknownPolicy is what a register does with a terminal's command it does not know.
type UnknownPolicy uint8

// The policies.
const (
	AnswerUnknown UnknownPolicy = iota // 80 00 00
	FailUnknown                        // gives the running command up with an error, without an answer
)

// Habit is how a kind of register behaves.
type Habit struct {
	Name string

	// Registration.
	Config          byte
	NoRegCurrency   bool // 06 00 without a currency code
	ServiceByte     int  // BMP 03 in 06 00; -1 = none
	RegistrationTLV []apdu.TLV
	Password        string // six digits
	UndoPassword    string // of 06 30 and 06 50, if it is another one; "" = Password

	// Payment.
	SaleCurrency  bool // 49 in 06 01 although the currency is the usual one
	SaleContainer bool // empty container in 06 01
	StatusService int  // BMP 03 in 05 01; -1 = none

	// Line.
	NewConnection bool // TCP: one connection per command
	Lazy          bool // connects with the first command, not before
	Repeats       int  // as frame.Config.Repeats
	AckWait       time.Duration
	SilentOnBad   bool // no NAK for a damaged block

	// Answers.
	Unknown      UnknownPolicy
	NoSetTime    bool // never answers 04 01
	RefusesTag41 bool // gives up, without an answer, at TLV 41 in 04 0F
	Charset      apdu.Charset
}

// Plain registers without a currency, keeps its connection, sends every block once, and stays silent when a block
// is damaged.
func Plain() Habit {
	return Habit{
		Name: "plain", Config: 0xBA, NoRegCurrency: true, ServiceByte: -1, Password: "123456",
		SaleCurrency: true, SaleContainer: true, StatusService: -1,
		Repeats: frame.NoRepeat, AckWait: time.Second, SilentOnBad: true,
	}
}

// Reconnecting opens a TCP connection for every command, has another password for reversal and end of day, repeats
// blocks, and never answers the terminal's wish for the time.
func Reconnecting() Habit {
	return Habit{
		Name: "reconnecting", Config: 0x9E, ServiceByte: -1, Password: "123456", UndoPassword: "000000",
		SaleCurrency: true, StatusService: -1, NewConnection: true, Lazy: true,
		AckWait: 5 * time.Second, NoSetTime: true, Charset: apdu.DIN66003,
	}
}

// Steady keeps its connection, registers with a currency and answers everything.
func Steady() Habit {
	return Habit{
		Name: "steady", Config: 0x8E, ServiceByte: -1, Password: "000000",
		SaleCurrency: true, StatusService: -1,
	}
}

// BlockPrint wants its receipts as 06 D3, connects late, sends nothing but the amount, fails on what it does not
// know and on a card type above 255.
func BlockPrint() Habit {
	return Habit{
		Name: "blockprint", Config: 0x3E, ServiceByte: 0x03, Password: "123456",
		RegistrationTLV: []apdu.TLV{apdu.Constructed(0x26, apdu.Primitive(0x0A, 0x06, 0xD3))},
		StatusService:   0x07, Lazy: true, Unknown: FailUnknown, RefusesTag41: true,
	}
}

// Habits are all of them.
func Habits() []Habit { return []Habit{Plain(), Reconnecting(), Steady(), BlockPrint()} }

// HabitNamed finds a habit.
func HabitNamed(name string) (Habit, bool) {
	for _, h := range Habits() {
		if h.Name == name {
			return h, true
		}
	}
	return Habit{}, false
}
