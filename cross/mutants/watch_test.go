package mutants

// ofWatch are the rules of what an operator of a backend sees.
var ofWatch = []mutant{
	{"figures: a page whose name means this machine reads them", "schemes/backend", "TestMonitorAnswersToItsName", []edit{
		{"schemes/backend/monitor.go", `if !named && net.ParseIP(host) == nil {`, `if !named && net.ParseIP(host) == nil && r.Method != http.MethodGet {`},
	}},
	{"figures: a monitor without a name answers to none", "schemes/backend", "TestMonitorAnswersToItsName", []edit{
		{"schemes/backend/monitor.go", `return s != "" && strings.EqualFold(s, host)`, `return strings.EqualFold(s, host)`},
	}},
	{"figures: a label ends its line", "schemes/backend/meter", "TestEscapes", []edit{
		{"schemes/backend/meter/text.go", `escaped(labels[i+1])`, `labels[i+1]`},
	}},
	{"figures: each path that is asked for has its own", "schemes/backend/meter", "TestRequests", []edit{
		{"schemes/backend/meter/requests.go", `		return route{other, other}`, `		return route{other, r.URL.Path}`},
	}},
	{"figures: probes are counted among requests", "schemes/backend/meter", "TestRequests", []edit{
		{"schemes/backend/meter/requests.go", `		return route{probe, r.Pattern}`, `		return route{"backend", r.Pattern}`},
	}},
	{"log of requests: a card number in a Key is written", "schemes/backend/meter", "TestLog", []edit{
		{"schemes/backend/meter/requests.go", `wire.MaskPANs(string(key))`, `string(key)`},
	}},
	{"traces: one that reads like a card number is stored", "schemes/wire", "TestTraceFrom", []edit{
		{"schemes/wire/trace.go", `isID(string(t), traceLength) && !likePAN(string(t))`, `isID(string(t), traceLength)`},
	}},
	{"traces: a header that came twice is taken", "schemes/wire", "TestTraceFrom", []edit{
		{"schemes/wire/trace.go", `	if len(values) != 1 {`, `	if len(values) == 0 {`},
	}},
	{"traces: version ff is taken", "schemes/wire", "TestTraceFrom", []edit{
		{"schemes/wire/trace.go", `s[:2] == "ff" || `, ``},
	}},
	{"traces: a stored operation loses that of its client", "agent/gateway", "TestTraceOfAStoredOperation", []edit{
		{"agent/outbox/row.go", `	if t := wire.Trace(r.trace); t.Valid() {`, `	if t := wire.Trace(r.trace); false {`},
	}},
	{"traces: a sale loses that of its till", "agent/port/salesapi", "TestTraceOverAPowerCut", []edit{
		{"agent/checkout/drive/journal/row.go", `	if t := wire.Trace(r.State.Till.Trace); t.Valid() {`, `	if t := wire.Trace(r.State.Till.Trace); false {`},
	}},
	{"traces: all tries are one span", "agent/upstream", "TestEachTryIsASpan", []edit{
		{"agent/upstream/transport.go", `trace != "" {
		out.Header`, `trace != "" && out.Header.Get(wire.TraceHeader) == "" {
		out.Header`},
	}},
	{"log of requests: a card number in place of a method is written", "schemes/backend/meter", "TestLog", []edit{
		{"schemes/backend/meter/requests.go", `		method = other`, `		method = r.Method`},
	}},
}
