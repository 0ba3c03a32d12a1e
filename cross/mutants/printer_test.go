package mutants

const (
	paper    = "device/printer"
	receipts = "agent/counter/printqueue"
)

// ofPrinter is every broken rule of what is on the paper, and of what is said of it.
var ofPrinter = []mutant{
	{"a control character of a text goes to the printer", paper, "TestTextIsNeverACommand", []edit{
		{"device/printer/letters.go", `case unicode.In(r, unicode.Cc, unicode.Cf):`, `case unicode.In(r, unicode.Cf):`},
		{"device/printer/letters.go", `if r > ' ' && r < 0x7f {`, `if r < 0x80 {`},
	}},
	{"a receipt that lost its middle has no amount", paper, "TestField2_P9_ADocumentThatLostItsMiddleSaysWhatMatters", []edit{
		{"device/printer/printer.go", `told, err := p.talk.settled(ctx, worked(first))`, `told, err := true, error(nil)`},
	}},
	{"a printer that starts with two bytes for a letter prints ours wrongly", paper, "TestField2_P6_NoSetUpHangsOnTheProfile", []edit{
		{"device/printer/profile.go", `Dots: 576, Pages: epson, Cut: PartialCut, Status: RealTime | InOrder, Kanji: true}`, `Dots: 576, Pages: epson, Cut: PartialCut, Status: RealTime | InOrder}`},
	}},
	{"a line breaks inside an amount", paper, "TestLayout", []edit{
		{"device/printer/layout.go", `case number(a) && currency(`, `case false && currency(`},
	}},
	{"an amount that is too large for double size is cut", paper, "TestLayout", []edit{
		{"device/printer/layout.go", `double = double && fits(cells, l.width(true))`, `double = double && (fits(cells, l.width(true)) || true)`},
	}},
	{"a code is one long picture", paper, "TestCodesAreSentInPieces", []edit{
		{"device/printer/encode.go", `height := (maxPiece - 8) / width`, `height := (8*maxPiece - 8) / width`},
	}},
	{"the paper ends within a document, unnoticed", paper, "TestPaperOutInTheMiddle", []edit{
		{"device/printer/printer.go", `err = p.talk.await(ctx, ahead, false)`, `err = p.talk.await(ctx, ahead+100, false)`},
	}},
	{"a document that was cut off is said to be unprinted", paper, "TestPaperOutInTheMiddle|TestTheCableIsPulled", []edit{
		{"device/printer/printer.go", `in part %d of %d: %w", ErrUnknownEnd,`, `in part %d of %d: %w", ErrOffline,`},
	}},
	{"a document counts before it is worked through", paper, "TestPaperOutInTheMiddle", []edit{
		{"device/printer/dialogue.go", `for until := time.Now().Add(d.wait); d.owed > owed; {`, `for until := time.Now().Add(d.wait); d.owed > owed+1; {`},
	}},
	{"an answer to an earlier document ends this one", paper, "TestAnAnswerToAnEarlierMarkEndsNothing", []edit{
		{"device/printer/dialogue.go", `d.mark(ctx, before+1); err != nil`, `d.mark(ctx, 1); err != nil`},
		{"device/printer/dialogue.go", `d.await(ctx, before, true)`, `d.await(ctx, 0, true)`},
		{"device/printer/printer.go", `p.owed = min(p.talk.owed, owedAtMost)`, `p.owed = 0`},
	}},
	{"a printer that hangs holds its caller", paper, "TestADeviceThatHangs", []edit{
		{"device/printer/printer.go", `const grace = 500 * time.Millisecond`, `const grace = time.Hour`},
	}},
	{"what hung prints on when its caller has gone", paper, "TestADeviceThatHangs", []edit{
		{"device/printer/printer.go", `if err == nil && !last {`, `if err == nil && !last && i < 0 {`},
	}},
	{"a printer that does not answer is waited for, for ever", paper, "TestMarksThatDoNotCome", []edit{
		{"device/printer/dialogue.go", `(!once || time.Now().Before(until)):`, `(!once || !time.Now().IsZero()):`},
	}},
	{"a printer is left within a picture", paper, "TestARestartWithinAPicture", []edit{
		{"device/printer/encode.go", `return make([]byte, maxPiece)`, `return nil`},
	}},
	{"a device that was lost stays lost", paper, "TestTheDeviceIsOpenedAgain", []edit{
		{"device/printer/printer.go", `if err == nil || !again || !errors.Is(err, errLost)`, `if err == nil || again || !errors.Is(err, errLost)`},
	}},
	{"a sale waits for paper", receipts, "TestASaleNeverWaitsForPaper", []edit{
		{"agent/counter/printqueue/paper.go", `_, err := p.add(tx, waiting{what: ofSale, name: string(now.Key), copy: which})`,
			`_, err := p.add(tx, waiting{what: ofSale, name: string(now.Key), copy: which}); _ = p.o.Printer.Print(context.Background(), printer.Document{Lines: make([]printer.Line, 4)})`},
	}},
	{"what waits for paper is lost on a restart", receipts, "TestARestart", []edit{
		{"agent/counter/printqueue/paper.go", `_ = p.o.Printer.Close() }()`, "_ = p.o.Printer.Close(); _ = p.write(context.Background(), `DELETE FROM paper_waiting`) }()"},
	}},
	{"a receipt that the printer refused is lost", receipts, "TestARestart|TestASaleNeverWaitsForPaper", []edit{
		{"agent/counter/printqueue/paper.go", `p.o.Printer.Check(ctx); err != nil {`, `p.o.Printer.Check(ctx); err != nil { _ = p.done(ctx, w)`},
	}},
	{"the merchant's copy is missing", receipts, "TestWhatIsPrintedByItself|TestWhatStandsOnThePaper", []edit{
		{"agent/counter/printqueue/paper.go", `p.o.Prints.Merchant && drive.MerchantCopy(now)`, `p.o.Prints.Merchant && !p.o.Prints.Customer && drive.MerchantCopy(now)`},
	}},
	{"a receipt is printed before the register has acknowledged", receipts, "TestWhatIsPrintedByItself", []edit{
		{"agent/checkout/drive/receipt.go", `r.State.Result != ecr.Approved || r.State.Phase == checkout.Confirmed`, `r.State.Phase == checkout.Approved || r.State.Result != ecr.Approved || r.State.Phase == checkout.Confirmed`},
	}},
	{"a receipt that may be on paper is printed again without a mark", receipts, "TestAPowerCutWhilePrinting|TestPaperEndsWithinAReceipt", []edit{
		{"agent/counter/printqueue/paper.go", `w.again = w.again || w.begun > 0`, `w.again = w.again || w.begun > 99`},
	}},
	{"a printer that cuts off each receipt uses up the roll", receipts, "TestAPrinterThatAlwaysCutsOff", []edit{
		{"agent/counter/printqueue/paper.go", `now.Before(a.after) || now.Before(p.paused)`, `now.IsZero()`},
	}},
	{"one document that is cut off holds the others", receipts, "TestOneDocumentDoesNotHoldTheOthers", []edit{
		{"agent/counter/printqueue/waiting.go", `ORDER BY MAX(begun, ?), id`, `ORDER BY id + 0 * ?`},
	}},
	{"each of many documents that are cut off uses paper", receipts, "TestManyDocumentsThatAreCutOff", []edit{
		{"agent/counter/printqueue/paper.go", `now.Before(a.after) || now.Before(p.paused)`, `now.Before(a.after)`},
	}},
	{"the code of a receipt names another payment", receipts, "TestReceipts", []edit{
		{"agent/counter/printqueue/compose.go", `fmt.Sprintf("R%d/%d", out.Batch, out.Receipt)`, `fmt.Sprintf("R%d/%d", out.Receipt, out.Batch)`},
	}},
	{"a receipt of a refund can be refunded", receipts, "TestReceipts", []edit{
		{"agent/counter/printqueue/compose.go", `out.Kind != ecr.Payment || out.Result`, `out.Result`},
	}},
	{"a slip that is printed again has no mark", receipts, "TestTheSlipOfAnEndOfDayAgain", []edit{
		{"agent/counter/printqueue/paper.go", `	w.again = true
	err = p.o.DB`, `	err = p.o.DB`},
	}},
	{"what waits for paper grows without end", receipts, "TestWhatWaitsIsBounded", []edit{
		{"agent/counter/printqueue/waiting.go", `err == nil && id > MaxWaiting`, `err == nil && id < 0`},
	}},
}
