package mutants

// ofWrites are the rules of writes whose outcome is not known, and of whose they are.
var ofWrites = []mutant{
	{"a client repeats a write below the outbox", "agent/upstream", "TestField2_M37AWriteLeavesOnceWhateverBreaks", []edit{
		{"agent/upstream/upstream.go", `return c.do(req, false) }`, `return c.do(req, true) }`},
	}},
	{"the transport repeats a write without a body", "agent/upstream", "TestField2_M37AWriteLeavesOnceWhateverBreaks", []edit{
		{"agent/upstream/transport.go", `[strings.ToLower(wire.KeyHeader)]`, `[wire.KeyHeader]`},
	}},
	{"the method of links is given a client that repeats", "cmd/posagent", "TestField2_M37EveryClientThatIsHandedOutIsListed", []edit{
		{"cmd/posagent/paylink.go", `Doer: client.Once()}`, `Doer: client.Unanswered()}`},
	}},
}
