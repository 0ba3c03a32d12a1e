package receipt_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/ecr"
	"posagent/ecr/receipt"
	"posagent/schemes/money"
)

// What the backend says to the customer stands on the receipt, below the transaction; nothing stands there where it says nothing.
func TestWhatTheBackendSaysIsPrinted(t *testing.T) {
	euro, _ := money.Lookup("EUR")
	out := ecr.Outcome{
		Kind: ecr.Payment, Result: ecr.Approved, Amount: 1250, Currency: "EUR", Receipt: 7, Trace: 9, TerminalID: "T1", TransactionID: "4711",
		Label: "Bluecode", Time: time.Date(2026, 11, 21, 12, 3, 13, 0, time.UTC),
	}
	below := func(language string, which receipt.Copy, out ecr.Outcome) (list []receipt.Line) {
		lines := receipt.Sale(receipt.Head{Language: language}, euro, out, which, false)
		for i, l := range lines {
			if l.Right == "4711" {
				list = lines[i+1 : len(lines)-1]
			}
		}
		return list
	}
	require.Empty(t, below("en", receipt.Customer, out))
	out.Payer, out.Info, out.Loyalty = "********0605", "12 points for you", []string{"BC-1", "BC-2"}
	said := func(payer, loyalty string) []receipt.Line {
		return []receipt.Line{
			{Kind: receipt.Pair, Text: payer, Right: "********0605"}, {Kind: receipt.Pair, Text: loyalty, Right: "BC-1"},
			{Kind: receipt.Pair, Text: loyalty, Right: "BC-2"}, {Text: "12 points for you"},
		}
	}
	require.Equal(t, said("Paid by", "Loyalty card"), below("en", receipt.Customer, out))
	require.Equal(t, said("Paid by", "Loyalty card"), below("en", receipt.Merchant, out))
	require.Equal(t, said("Bezahlt von", "Kundenkarte"), below("de-CH", receipt.Customer, out))
	require.Equal(t, said("Płacący", "Karta klienta"), below("pl", receipt.Customer, out))
}
