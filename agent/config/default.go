package config

import "time"

// Default is the configuration of an empty file.
func Default() Config {
	return Config{
		Terminal: Terminal{Language: "en", Currency: "EUR"},
		Port:     Port{Listen: "127.0.0.1:8480", Rate: 1000, Parallel: 48},
		Upstream: Upstream{Timeout: 30 * time.Second},
		Operator: Operator{Name: "provider"},
		Methods:  Methods{Refresh: time.Hour, Caller: "posagent", TimeoutUnit: "m", Poll: 2 * time.Second},
		Paylinks: Paylinks{Label: "Payment link", Priority: 100, MeanDelay: 45 * time.Second},
		ECR: ECR{Protocol: "zvt", Baud: 9600, StopBits: 2, T1: 200 * time.Millisecond, Charset: "cp437", Profile: "standard", LRC: "std", ProtocolVersion: "3.0",
			Grace: 10 * time.Minute, Patience: 85 * time.Second, Unheard: "undo"},
		Checkout: Checkout{OnStale: "wait", Choose: "register"},
		Keypad:   Keypad{Bounce: 30 * time.Millisecond},
		Display:  Display{Console: true, FileSize: "480x800", FramebufferPixels: "rgb565"},
		Printer:  Printer{Baud: 9600, Profile: "58mm", SingleByte: true, Codes: "picture", Prints: []string{"customer", "merchant", "end_of_day"}},
		Store:    Store{KeepSales: 400 * 24 * time.Hour},
		Compare:  Compare{At: "03:00"},
		Offline: Offline{MaxAge: 7 * 24 * time.Hour, AnswerWithin: 3 * time.Second, IdempotencyTTL: 24 * time.Hour, Retention: 90 * 24 * time.Hour,
			Services: storable(), CardData: "seal", MaxCount: 500, MaxAmount: []string{"* 200"}, MaxTotal: []string{"* 5000"}},
		Backend: Backend{
			Listen: "127.0.0.1:8481", SessionLife: 5 * time.Minute, MerchantNumber: 100000001, MerchantUUID: "00000000-0000-4000-8000-000000000001",
			FleetToken: "posagent-demo-operator",
			Credentials: Auth{
				Bearer: "posagent-demo-bearer", ConsumerKey: "demo-consumer", ConsumerSecret: "demo-consumer-secret",
				ClientID: "demo-client", ClientSecret: "demo-client-secret", Instance: "demo", Secret: "demo-secret",
				APIKey: "demo-api-key",
			},
		},
	}
}

// demoTerminal stands in for what a sandbox terminal was not given.
var demoTerminal = Terminal{BaxID: "10000001", TerminalID: "20000001", MerchantID: "demomerchant", MerchantName: "Demo Shop"}

// demoTCP is a sandbox terminal's register line where none is named.
const demoTCP = "127.0.0.1:20007"

// complete fills in what depends on other values.
func (c *Config) complete() {
	c.waits()
	if !c.Sandbox() {
		return
	}
	if len(c.Registers()) == 0 {
		c.ECR.TCP = demoTCP
	}
	for _, f := range []struct {
		to   *string
		from string
	}{
		{&c.Terminal.BaxID, demoTerminal.BaxID},
		{&c.Terminal.TerminalID, demoTerminal.TerminalID},
		{&c.Terminal.MerchantID, demoTerminal.MerchantID},
		{&c.Terminal.MerchantName, demoTerminal.MerchantName},
	} {
		if *f.to == "" {
			*f.to = f.from
		}
	}
}
