package mutants

const (
	jsonl     = "ecr/jsonl"
	jsonLines = "ecr/jsonl/protocol"
)

// ofJSONLines is every broken rule of JSON lines.
var ofJSONLines = []mutant{
	{"a JSON id asked again is another sale", jsonl, "TestTheMatrix|TestDialogues", []edit{
		{"ecr/jsonl/begin.go", `		req.Line = d.at()`, `		req.Line = d.at()
		req.Sequence = string(rune('a'+d.gen)) + req.Sequence`},
	}},
	{"another body under a JSON id that runs is accepted", jsonl, "TestTheMatrix|TestDialogues", []edit{
		{"ecr/jsonl/begin.go", `case m.body() != d.ask.msg.body():`, `case m.body() != d.ask.msg.body() && m.op == hello:`},
	}},
	{"ack of another JSON id confirms", jsonl, "TestTheMatrix|TestDialogues", []edit{
		{"ecr/jsonl/table.go", `	ack:     {[phases]rule{unknown, unknown, unknown, unknown,`, `	ack:     {[phases]rule{unknown, unknown, unknown, confirm,`},
	}},
	{"a damaged JSON line is accepted", jsonLines, "TestNoSpoiltByteIsDelivered", []edit{
		{"ecr/jsonl/protocol/checksum.go", `if err != nil || uint16(want) != Checksum(object) {`, `if err != nil || uint16(want) != Checksum(object) && false {`},
	}},
	{"a cable takes JSON lines without a checksum", jsonLines, "TestACableRequiresTheChecksum", []edit{
		{"ecr/jsonl/protocol/lines.go", `case s == bare && l.checked:`, `case s == bare && l.checked && len(object) == 0:`},
	}},
	{"a JSON approval that no register acknowledged is told", jsonl, "TestDialogues", []edit{
		{"ecr/jsonl/outcome.go", "\tdefault:\n\t\td.record(ecr.Lost)", "\tdefault:\n\t\td.record(ecr.Told)"},
	}},
	{"a JSON sale is begun before the loss of the last one is recorded", jsonl, "TestTheMatrix", []edit{
		{"ecr/jsonl/begin.go", "\td.record(ecr.Lost)\n", "\td.record(ecr.Lost)\n\td.finish()\n"},
	}},
	{"not found is said after one look", jsonl, "TestDialogues", []edit{
		{"ecr/jsonl/dialogue.go", `	looksMost     = 2 `, `	looksMost     = 1 `},
	}},
	{"a JSON key that stands twice is read", jsonl, "TestWhatIsNotClearBeginsNothing", []edit{
		{"ecr/jsonl/parse.go", `if twin, ok := o.fold[folded(key)]; ok {`, `if twin, ok := o.fold[folded(key)]; ok && twin == "" {`},
	}},
	{"what begins no JSON message is passed over", jsonLines, "TestMoneyE3_WhatBeginsNoMessageEndsTheConnection", []edit{
		{"ecr/jsonl/protocol/lines.go", `if pending[0] != '{' && !l.t.cable {`, `if pending[0] == 0x16 && !l.t.cable {`},
	}},
	{"a JSON message is done without the password", jsonl, "TestDialogues", []edit{
		{"ecr/jsonl/begin.go", "\tcase !d.shown:\n", "\tcase !d.shown && m.op != sale:\n"},
	}},
}
