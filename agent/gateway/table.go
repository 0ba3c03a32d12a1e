package gateway

import "slices"

// Table is the operation table: what is stored and what a lost reply means. The rows of a service stand in its file.
func Table() []Row {
	return slices.Concat(paymentRows(), tokenRows(), linkRows(), undoRows(), []Row{
		{Service: Schemes, Thing: "initialize", Offline: Refused},
		{Service: "disputes", Offline: Refused},
		{Service: "hosted", Offline: Refused},
	})
}
