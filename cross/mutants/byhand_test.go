package mutants

const counter = "agent/counter/prompts"

// ofHand is every broken rule of sales in which a person chooses and types.
var ofHand = []mutant{
	{"a sale that was aborted asks all the same", drive, "TestAbortBeforeTheQuestion", []edit{
		{"agent/checkout/drive/prompt.go", ` || !d.choosing(ctx, key) {`, ` {`},
	}},
	{"what was typed stays on the screen", drive, "TestTheDialogueHasTheScreen", []edit{
		{"agent/checkout/drive/perform/screen.go", `case there && now.kind == kind, !there`, `case there && now.kind <= kind, !there`},
	}},
	{"a dialogue that is over is shown", drive, "TestTheDialogueHasTheScreen", []edit{
		{"agent/checkout/drive/perform/screen.go", `if err != nil || row.State.Phase != checkout.Choosing {`, `if err != nil || row.State.Phase == checkout.Done {`},
	}},
	{"the end of the sale before takes the dialogue off", drive, "TestTheDialogueHasTheScreen", []edit{
		{"agent/checkout/drive/perform/screen.go", "	p.takeScreen(key, false)\n	p.show(v)\n	return true", "	p.show(v)\n	return true"},
	}},
	{"a choice takes all of the register's patience", drive, "TestManualTriggerAsks", []edit{
		{"agent/checkout/timers.go", `min(s.Limits.Deadline/2, longestChoice)`, `min(s.Limits.Deadline, longestChoice)`},
	}},
	{"what is typed is asked for without a pad", drive, "TestWithoutAPadNothingAsks", []edit{
		{"agent/checkout/drive/prompt.go", `return d.prompter != nil && d.prompter.Ready()`, `return d.prompter != nil`},
	}},
	{"a method is started in one way only", drive, "TestBothTriggersAreOffered", []edit{
		{"agent/checkout/drive/prompt.go", `p.Method.Name == ans.Method && (ans.Trigger == "" || p.Trigger == ans.Trigger)`, `p.Method.Name == ans.Method`},
	}},
	{"a payment without an amount asks unasked", drive, "TestNoAmountIsRefused", []edit{
		{"agent/checkout/drive/begin.go", `(!person || !a.d.cfg.OpenAmount && !a.req.AskAmount)`, `!person`},
	}},
	{"everybody is asked", checkout, "TestOffer", []edit{
		{"agent/checkout/choose.go", `return max(0, slices.IndexFunc(offers, func(p Pick) bool { return !p.Asks() }))`, `return 0`},
	}},
	{"an answer is asked for that no request has room for", checkout, "TestOffer", []edit{
		{"agent/checkout/choose.go", `q.Min > MaxAnswer || q.Max < q.Min`, `q.Max < q.Min`},
	}},
	{"cancel undoes what was paid", drive, "TestStopAtTheTerminal", []edit{
		{"agent/checkout/table.go", "Restarted: unacknowledgedAgain, ToldAborted: answeredAborted, Restored: hold},", "Restarted: unacknowledgedAgain, ToldAborted: answeredAborted, Restored: hold, AbortAsked: startUndo},"},
		{"agent/checkout/drive/prompt.go", `row.Kind == ecr.Payment && checkout.Open(row.State) &&`, `row.Kind == ecr.Payment &&`},
	}},
	{"the default begins although somebody chooses", counter, "TestTheDefaultBeginsByItself", []edit{
		{"agent/counter/prompts/dialogue.go", `if d.touched || d.ended()`, `if d.ended()`},
	}},
	{"the consumer's id may be empty", counter, "TestDialogue", []edit{
		{"agent/counter/prompts/dialogue.go", `least = max(1, least)`, `_ = own`},
	}},
	{"a log keeps what is typed", "device/display", "TestALogDoesNotKeepWhatIsTyped", []edit{
		{"device/display/console.go", `v.Entry.Typed = ""`, `v.Entry.Masked = false`},
	}},
	{"a keypad needs no screen", "agent/config", "TestKeypad", []edit{
		{"agent/config/keypad.go", `if c.Keypad.Device != "" && !screen {`, `if false && !screen {`},
	}},
}
