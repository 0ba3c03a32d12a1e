package mutants

// ofCommands is every broken rule of what a ZVT register can ask besides a sale.
var ofCommands = []mutant{
	{"a pre-authorisation is sold as a payment", "ecr/zvt", "TestNoCommandHangs|TestDialogues", []edit{
		{"ecr/zvt/step.go", "case apdu.Authorisation, apdu.Reversal, apdu.RefundCmd:\n\t\tm.beginSale()", "case apdu.Authorisation, apdu.Reversal, apdu.RefundCmd, apdu.Reservation:\n\t\tm.beginSale()"},
	}},
	{"a tip undoes the approval that is being told", "ecr/zvt", "TestField_U10Matrix", []edit{
		{"ecr/zvt/table.go", `apdu.BookTip:     {take, busy, busy, busy, busy,`, `apdu.BookTip:     {take, busy, busy, busy, unknownOutcome,`},
	}},
}
