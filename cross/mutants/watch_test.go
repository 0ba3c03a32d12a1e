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
	{"log of requests: a card number in place of a method is written", "schemes/backend/meter", "TestLog", []edit{
		{"schemes/backend/meter/requests.go", `		method = other`, `		method = r.Method`},
	}},
}
