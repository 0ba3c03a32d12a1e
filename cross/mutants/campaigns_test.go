package mutants

// ofCampaigns is every broken rule that the campaigns over the registers' protocols have to notice.
var ofCampaigns = []mutant{
	{"a nexo answer that breaks off is told", "cross/campaign/line", "TestTillsPulledAtEveryByte", []edit{
		{"ecr/nexo/dialogue.go", "		if ev.OK {\n			how = ecr.Told", "		if ev.OK || how == ecr.Lost {\n			how = ecr.Told"},
	}},
	{"a sale is told before it is on the disk", "cross/campaign/line", "TestPowerCutOfSales", []edit{
		{"store/sqlite/conn.go", `b.WriteString("&_synchronous=" + s.synchronous + "&_busy_timeout=5000")`, `b.WriteString("&_synchronous=NORMAL&_busy_timeout=5000")`},
		{"store/sqlite/conn.go", `"FULL": "2"`, `"FULL": "1"`},
	}},
	{"what a till lets the terminal keep is undone, in a day of sales", "cross/campaign/sim", "TestDaysOfTills", []edit{
		{"agent/checkout/approved.go", `	case s.Left, s.Till.Keep && e.Sync != Again:`, `	case s.Left, s.Till.Keep && e.Sync == Again:`},
	}},
	// Every protocol of a register has a rule whose breach a campaign or the conformance suite notices.
	{"an id of JSON lines makes a new sale each time", jsonLines, "TestConformance", []edit{
		{"ecr/jsonl/message.go", `		req.Sequence, req.Progress = m.id, true`, `		req.Progress = true`},
	}},
	{"an abort of JSON lines is told as done after the approval", jsonl, "TestDialogues", []edit{
		{"ecr/jsonl/dialogue.go", `			d.sayAbort(d.aborts.id, ev.Done)`, `			d.sayAbort(d.aborts.id, true)`},
	}},
	{"nexo: a repeated ServiceID is a new sale", "ecr/nexo", "TestConformance", []edit{
		{"ecr/nexo/money.go", `Line: d.at(a.h.sale), Sequence: a.entry.sequence(), Currency`, `Line: d.at(a.h.sale), Currency`},
	}},
	{"ECR17: G across tills, in the conformance suite", ecr17Line, "TestConformance", []edit{
		{"ecr/ecr17/ask.go", `return d.line + "/" + till }`, `return d.line + "/" + till[:0] }`},
	}},
	{"an abort over HTTP is told as done after the approval", till, "TestAbort", []edit{
		{"agent/port/salesapi/ask.go", `		if err := t.o.Desk.Abort(written(ctx), string(row.Key)); err != nil {`,
			`		if err := t.o.Desk.Abort(written(ctx), string(row.Key)); err != nil && !errors.Is(err, ecr.ErrTooLate) {`},
	}},

	// A false no to a refund that runs (MONEY A.2).
	{"a refund that runs is told as aborted over ZVT", "cross/campaign/sim", "TestDays", []edit{
		{"ecr/zvt/messages.go", "	case ecr.StillRunning, ecr.OnHold:\n		return 0x9C", "	case ecr.StillRunning, ecr.OnHold:\n		return 0x6C"},
	}},
	{"a refund that timed out is told as refused, and commits", "cross/campaign/sim", "TestDaysOfTills", []edit{
		{"agent/gateway/undoread.go", `	return u.since(&u.m.Late) < u.p.Window`, `	return false && u.since(&u.m.Late) < u.p.Window`},
	}},
	{"a refund that is done is told as refused", "cross/campaign/sim", "TestDaysOfTills", []edit{
		{"agent/checkout/forward.go", `		s = decide(s, ecr.Approved, ecr.OK, u.Text)
		return s, []Effect{{Do: GiveReceipt}, {Do: Tell}}`, `		s = decide(s, ecr.Declined, ecr.OK, u.Text)
		return s, []Effect{{Do: GiveReceipt}, {Do: Tell}}`},
	}},
	{"the end of a refund is told under another id", drive, "TestMoneyF2_AnotherIDIsAnotherRefund", []edit{
		{"agent/checkout/drive/begin.go", `		case key != "" && a.req.Sequence != "": //`, `		case false: //`},
	}},
	{"a repeated refund is refused where a write fails", drive, "TestField_L5ARepetitionIsNotRefusedOnAFullDisk", []edit{
		{"agent/checkout/drive/begin.go", `errors.As(err, &no) && no.Code == ecr.NotStored {`, `errors.As(err, &no) && no.Code == ecr.NotStored && false {`},
	}},
	{"a repeated id of a refund is an error where a write fails", drive, "TestMoneyA2_ARepeatedIDOfARefundIsNoErrorWithoutTheDisk", []edit{
		{"agent/checkout/drive/forward.go", `if sale, ok := d.p.JoinUnwritten(ctx, key); ok {`, `if sale, ok := d.p.JoinUnwritten(ctx, key); ok && false {`},
	}},
}
