package backend

import (
	"log/slog"
	"net/netip"
	"time"

	"posagent/schemes/wire"
)

// Config says where the backend lives and how it behaves.
type Config struct {
	Dir         string         // holds backend.db and backend.key; made 0700 when missing
	Engine      Engine         // the zero value = backend.db
	Seed        string         // path of a seed file (or its JSON text); "" = the built-in one
	WalletDelay *time.Duration // until a wallet pays; nil = the method's mean delay, negative = never by itself
	SessionLife time.Duration  // of hosted build; 0 = five minutes
	TimeoutUnit string         // of the definitions' time-outs: "m" (default), "s", "ms"
	PublicURL   string         // where browsers reach it: "http://127.0.0.1:8490"
	Hosts       []string       // names it answers to beside its addresses and localhost: "pay.example"
	Credentials Credentials    // the zero value = DemoCredentials
	HookAllow   []string       // hosts that webhooks may reach by http and on private addresses: "127.0.0.1:9999"
	Proxies     []netip.Prefix // whose X-Forwarded-For is believed
	HookSecrets []wire.Secret  // sign webhooks too, the current one first
	// MerchantNumber is in every event, MerchantUUID in those of onboarding; 0 and "" = DemoMerchant, DemoMerchantUUID.
	MerchantNumber int64
	MerchantUUID   string
	Fleet          bool   // terminals may enrol; false = there are no such routes
	Operator       string // its spelling of ProviderHostedEcom is accepted too; "" = payments.DefaultOperator
	StrictLinks    bool   // a write to payment links must sign a parameter
	StrictProofs   bool   // a service takes credentials of its own kind alone, where they are set to a value of one's own
	LinkHook       string // where webhooks of payment links go, signed with the instance's secret; "" = nowhere
	// QR draws the codes of payment links; nil = there are none.
	QR  func(text string) (png []byte, err error)
	Now func() time.Time
	Log *slog.Logger
	// Requests gets one line for each request; nil = there are none.
	Requests *slog.Logger
	Version  string // of the program, for its figures
	// Synchronous is the store's; "" = FULL. Anything less loses acknowledged writes: tests only.
	Synchronous string
}

// The merchant of a backend that was given none.
const (
	DemoMerchant     = 100000001
	DemoMerchantUUID = "00000000-0000-4000-8000-000000000001"
)

// Credentials are what a caller must show. They are test credentials: the backend moves no real money.
type Credentials struct {
	Bearer         wire.Secret // static bearer token
	ConsumerKey    string
	ConsumerSecret wire.Secret
	ClientID       string
	ClientSecret   wire.Secret
	Instance       string // payment links
	Secret         wire.Secret
	APIKey         wire.Secret // hosted build
	Operator       wire.Secret // bearer token of who makes and revokes enrolment codes; no terminal has it, and none is accepted in its place
}

// DemoCredentials are the fixed ones.
func DemoCredentials() Credentials {
	return Credentials{
		Bearer:      "posagent-demo-bearer",
		ConsumerKey: "demo-consumer", ConsumerSecret: "demo-consumer-secret",
		ClientID: "demo-client", ClientSecret: "demo-client-secret",
		Instance: "demo", Secret: "demo-secret",
		APIKey: "demo-api-key", Operator: "posagent-demo-operator",
	}
}
