package config

import (
	"crypto/tls"
	"maps"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"posagent/schemes/wire"
)

// Config is the whole configuration. The toml tags are the names in the file; in a variable they are upper
// case and joined by underscores after POSAGENT_. The file tags say which values are paths of the box, and what is done there.
type Config struct {
	Terminal Terminal `toml:"terminal"`
	Port     Port     `toml:"port"`
	Upstream Upstream `toml:"upstream"`
	Operator Operator `toml:"operator"`
	Methods  Methods  `toml:"methods"`
	Paylinks Paylinks `toml:"paylinks"`
	ECR      ECR      `toml:"ecr"` // the first register line
	Checkout Checkout `toml:"checkout"`
	Display  Display  `toml:"display"`
	Printer  Printer  `toml:"printer"`
	Keypad   Keypad   `toml:"keypad"`
	Offline  Offline  `toml:"offline"`
	Hooks    Hooks    `toml:"hooks"`
	Store    Store    `toml:"store"`
	Compare  Compare  `toml:"reconcile"`
	Backend  Backend  `toml:"backend"`

	More []ECR // the other register lines, of a file with [[ecr]]

	origin  map[string]string
	ignored []string
	twice   []error // lines with two users
	reads   []string
}

// Terminal is who this box is.
type Terminal struct {
	BaxID        string `toml:"bax_id"`      // S1 4.4
	TerminalID   string `toml:"terminal_id"` // S1 4.4
	MerchantID   string `toml:"merchant_id"` // S1 2.4
	MerchantName string `toml:"merchant_name"`
	Language     string `toml:"language"`
	Currency     string `toml:"currency"` // ISO 4217 alpha
	Country      string `toml:"country"`  // ISO 3166-1 alpha-2, which initialize says; "" = the language's, where it names one
}

// CountryOf is the shop's country, "" where neither it nor the language's is set.
func (t Terminal) CountryOf() string {
	if _, region, ok := strings.Cut(t.Language, "-"); t.Country == "" && ok && countryPattern.MatchString(strings.ToUpper(region)) {
		return strings.ToUpper(region)
	}
	return t.Country
}

// Port is the local HTTP port.
type Port struct {
	Listen   string            `toml:"listen"`   // "" = no port
	Token    wire.Secret       `toml:"token"`    // what local clients show; "" = the one in the state directory
	Clients  map[string]Client `toml:"clients"`  // local programs with a token of their own, by name
	Rate     int               `toml:"rate"`     // requests per second of one client
	Parallel int               `toml:"parallel"` // requests in flight of one client
	// StrictLinks refuses a write to payment links whose ApiSignature signs no parameter.
	StrictLinks bool `toml:"strict_link_signatures"`
}

// Client is a local program with a token of its own.
type Client struct {
	Token wire.Secret `toml:"token"`
	ID    string      `toml:"id"`  // what it is known by in the journal; "" = its name
	May   []string    `toml:"may"` // what it may do; nil = the port's default
}

// Words are what a client may be allowed. "all" lets it see what other clients and the backend have;
// each other word permits a kind of operation.
func Words() []string {
	return []string{"read", "pay", "refund", "links", "tokens", "sales", "disputes", "hosted", "onboarding", "all"}
}

// Sellers are the local clients that may sell over HTTP, by name. Without a port there is none.
func (c Config) Sellers() []string {
	var list []string
	for name, client := range c.Port.Clients {
		if c.Port.Listen != "" && slices.Contains(client.May, wire.MaySales) {
			list = append(list, name)
		}
	}
	slices.Sort(list)
	return list
}

// Main is the word for the terminal's own token where a client is named. No client has it.
const Main = "main"

// Upstream is where the backend is; all URLs empty = the embedded sandbox.
type Upstream struct {
	Base       string        `toml:"base"` // for every service without its own
	Methods    string        `toml:"methods"`
	Schemes    string        `toml:"schemes"`
	Payments   string        `toml:"payments"`
	Tokens     string        `toml:"tokens"`
	Paylinks   string        `toml:"paylinks"`
	Disputes   string        `toml:"disputes"`
	Hosted     string        `toml:"hosted"`
	Timeout    time.Duration `toml:"timeout"`                 // of one request with its repeats
	Proxy      string        `toml:"proxy"`                   // URL; "" = none; "env" = HTTPS_PROXY and friends
	ProxyAuth  wire.Secret   `toml:"proxy_auth"`              // user:password for it
	RootsFile  string        `toml:"roots_file" file:"read"`  // PEM; "" = the system's
	Pins       []string      `toml:"pins"`                    // base64 SHA-256 of SPKI, at least two
	ClientCert string        `toml:"client_cert" file:"read"` // PEM file
	ClientKey  string        `toml:"client_key" file:"read"`  // PEM file
	Auth       Auth          `toml:"auth"`                    // of every service without its own; Proof says which one is asked with what
	Own        OwnAuth       `toml:"auth"`                    // [upstream.auth.SERVICE]

	// Device is the certificate of the terminal's enrolment, which is shown where client_cert names none; nil = there is none.
	// It is a function so that no print of a configuration shows its key.
	Device func() *tls.Certificate `json:"-"`
}

// Auth is one set of credentials; the services use different ones (S1 5).
type Auth struct {
	Bearer         wire.Secret `toml:"bearer"`
	ConsumerKey    wire.Secret `toml:"consumer_key"`
	ConsumerSecret wire.Secret `toml:"consumer_secret"`
	ClientID       wire.Secret `toml:"client_id"`
	ClientSecret   wire.Secret `toml:"client_secret"`
	Instance       string      `toml:"instance"`
	Secret         wire.Secret `toml:"secret"`
	APIKey         wire.Secret `toml:"api_key"`
}

// Operator is the word that replaces provider in wire names.
type Operator struct {
	Name string `toml:"name"`
}

// Methods is about the method list.
type Methods struct {
	Refresh     time.Duration `toml:"refresh"`
	Exclude     []int32       `toml:"exclude"`      // paymentProviderIds
	Caller      string        `toml:"caller"`       // who asks, which a service may have a list for
	TimeoutUnit string        `toml:"timeout_unit"` // of staleTimeOut and finalizeTimeOut: m, s, ms
	Poll        time.Duration `toml:"poll"`         // between two status questions
}

// Unit is the length of one TimeoutUnit.
func (m Methods) Unit() time.Duration {
	switch m.TimeoutUnit {
	case "s":
		return time.Second
	case "ms":
		return time.Millisecond
	}
	return time.Minute
}

// Paylinks is about payment links on the terminal.
type Paylinks struct {
	Method    bool          `toml:"method"` // offer a payment link as a method of the checkout
	Label     string        `toml:"label"`
	Priority  int           `toml:"priority"`   // among the methods; the lowest is taken first
	MeanDelay time.Duration `toml:"mean_delay"` // until a customer has paid; the code is shown three times as long
}

// Checkout is how a sale goes.
type Checkout struct {
	OnStale    string `toml:"on_stale"`    // a code that was not scanned in time: wait (for the customer's app), abort
	Choose     string `toml:"choose"`      // the method: register (its card type, else by priority), screen (the customer, at the keypad)
	OpenAmount bool   `toml:"open_amount"` // a payment may begin without an amount, which is typed at the keypad
	EndOfDay   string `toml:"end_of_day"`  // the open batch is closed: at a time of day, HH:MM, by the box's clock and zone; register: by a register alone; "": Config.EndOfDay
}

// ByRegister closes a day where a register asks for it, and nothing else does.
const ByRegister = "register"

// Display is the customer's screen.
type Display struct {
	Console           bool   `toml:"console"`
	Page              bool   `toml:"page"`                   // at the local port, /display: any program on the box may see it
	File              string `toml:"file" file:"own"`        // PNG or SVG, rewritten with every picture; "" = none
	FileSize          string `toml:"file_size"`              // its pixels, WIDTHxHEIGHT
	Framebuffer       string `toml:"framebuffer" file:"own"` // device, or a plain file; "" = none
	FramebufferSize   string `toml:"framebuffer_size"`       // of a plain file, WIDTHxHEIGHT; a device says it itself
	FramebufferPixels string `toml:"framebuffer_pixels"`     // of a plain file: rgb565, xrgb8888
	FramebufferStride int    `toml:"framebuffer_stride"`     // of a plain file, bytes from row to row; 0 = no gap
	Rotate            int    `toml:"rotate"`                 // degrees that the picture is turned clockwise on the framebuffer's panel
}

// Printer is the receipt printer.
type Printer struct {
	Device  string `toml:"device" file:"line"` // serial line, USB device file or plain file; "" = none
	Kind    string `toml:"kind"`               // of the device: serial, usb, file; "" = as its name says
	Baud    int    `toml:"baud"`               // of a serial line
	Profile string `toml:"profile"`            // the paper: 58mm, 80mm, 80mm-42
	Columns int    `toml:"columns"`            // characters of a line; 0 = the profile's
	Status  string `toml:"status"`             // the status commands that it answers; "" = the profile's
	// SingleByte tells the printer that each byte is a letter. Many makes start with two bytes for a Chinese or Japanese one.
	SingleByte bool     `toml:"single_byte"`
	Codes      string   `toml:"codes"`  // how it prints a QR code: picture, own, text
	Pages      []string `toml:"pages"`  // its code pages, "NAME NUMBER", the first is tried first; none = the profile's
	Prints     []string `toml:"prints"` // without being asked for: customer, merchant, end_of_day
}

// Keypad is the keypad.
type Keypad struct {
	Device string        `toml:"device" file:"own"` // "" = none
	Page   bool          `toml:"page"`              // the page of [display] page has keys
	Map    []string      `toml:"map"`               // keys besides the usual ones: CODE=KEY, "98=cancel"
	Bounce time.Duration `toml:"bounce"`            // a key that closes again within it is the same press
}

// Offline limits what is stored while the backend is away. agent/gateway applies the limits, agent/outbox the ages.
type Offline struct {
	MaxAge         time.Duration `toml:"max_age"`         // running time after which an unsent operation expires; 0 = never
	AnswerWithin   time.Duration `toml:"answer_within"`   // then a caller gets 202
	IdempotencyTTL time.Duration `toml:"idempotency_ttl"` // how long the backend remembers a key
	Retention      time.Duration `toml:"retention"`       // running time for which a final operation is kept
	Services       []string      `toml:"services"`        // whose writes are stored when the backend does not answer
	Keyless        []string      `toml:"keyless"`         // whose backend does not honour Idempotency-Key
	CardData       string        `toml:"card_data"`       // of stored operations: seal, refuse
	MaxCount       int           `toml:"max_count"`       // operations stored at a time
	MaxAmount      []string      `toml:"max_amount"`      // of one stored operation: "EUR 200.00", "* 200"
	MaxTotal       []string      `toml:"max_total"`       // of all stored operations of a currency
}

// Hooks is what arrives from the backend: webhooks and notifications.
type Hooks struct {
	Authorization wire.Secret `toml:"authorization"` // what senders must show; "" = nothing is accepted
}

// Store is the terminal's journal.
type Store struct {
	KeepSales time.Duration `toml:"keep_sales"` // running time for which a sale that has ended is kept; the sums of its batch stay

	Mark string `toml:"mark" file:"own"` // file on another medium that remembers where the journal ends; "" = only the one beside it
}

// Compare is the daily comparison of the till's list of its sales.
type Compare struct {
	File string `toml:"file" file:"read"` // that the till writes; "" = none is compared
	At   string `toml:"at"`               // time of day, HH:MM, by the box's clock and zone
}

// Backend is the embedded backend.
type Backend struct {
	Listen         string         `toml:"listen"`
	PublicURL      string         `toml:"public_url"`       // under which browsers and terminals reach it; "" = the address it listens on
	Hosts          []string       `toml:"hosts"`            // names it answers to beside its addresses and localhost
	Data           string         `toml:"data" file:"own"`  // directory; "" = below the state directory
	Seed           string         `toml:"seed" file:"read"` // file with merchants and methods; "" = built in
	WalletDelay    *time.Duration `toml:"wallet_delay"`     // nil = the method's mean delay
	SessionLife    time.Duration  `toml:"session_life"`     // of hosted build
	MerchantNumber int64          `toml:"merchant_number"`
	MerchantUUID   string         `toml:"merchant_uuid"`
	// WebhookAllow are the hosts that webhooks may reach without https and on private addresses: "127.0.0.1:9999".
	WebhookAllow []string `toml:"webhook_allow"`
	// TrustedProxies are the proxies whose X-Forwarded-For is believed: addresses and prefixes.
	TrustedProxies []string `toml:"trusted_proxies"`
	// WebhookSecret signs webhooks beside the specification (Standard Webhooks); the old one stays valid until it is removed.
	WebhookSecret    wire.Secret `toml:"webhook_secret"`
	WebhookSecretOld wire.Secret `toml:"webhook_secret_old"`
	StrictLinks      bool        `toml:"strict_link_signatures"` // as [port]'s
	StrictProofs     bool        `toml:"strict_credentials"`     // each service takes its own kind alone
	LinkWebhook      string      `toml:"link_webhook"`           // where webhooks of payment links go; "" = nowhere
	// FleetToken is what the operator of enrolment shows. It is in no terminal's configuration.
	FleetToken  wire.Secret `toml:"fleet_token"`
	Credentials Auth        `toml:"credentials"`
}

// urls are the services' URLs by the name of their key.
func (u Upstream) urls() map[string]string {
	return map[string]string{
		"base": u.Base, "methods": u.Methods, "schemes": u.Schemes, "payments": u.Payments, "tokens": u.Tokens,
		"paylinks": u.Paylinks, "disputes": u.Disputes, "hosted": u.Hosted,
	}
}

// URL is where a service is, by the name of its key; "" = nowhere.
func (u Upstream) URL(service string) string {
	own := u.urls()[service]
	if own == "" {
		own = u.Base
	}
	return strings.TrimRight(own, "/")
}

// Sandbox reports whether no backend is named, so that the embedded one is meant.
func (c Config) Sandbox() bool {
	for _, u := range c.Upstream.urls() {
		if u != "" {
			return false
		}
	}
	return true
}

// Origin tells for every key that is not at its default where its value came from: "FILE:LINE" or a variable's name.
func (c Config) Origin() map[string]string { return maps.Clone(c.origin) }

// Ignored are the POSAGENT_ variables that are no setting and like none.
func (c Config) Ignored() []string { return slices.Clone(c.ignored) }

// Proxies are where the requests of trusted proxies come from. It fails at the first entry that is neither an address nor a prefix.
func (b Backend) Proxies() ([]netip.Prefix, error) { return prefixes(b.TrustedProxies) }

// loopback reports whether an address or host name can only be this machine.
func loopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// local reports whether every backend URL is on this machine.
func (u Upstream) local() bool {
	for _, s := range u.urls() {
		if s == "" {
			continue
		}
		p, err := url.Parse(s)
		if err != nil || !loopback(p.Hostname()) {
			return false
		}
	}
	return true
}
