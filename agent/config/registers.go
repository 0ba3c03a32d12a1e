package config

import (
	"cmp"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"time"

	"posagent/device/node"
	"posagent/schemes/wire"
)

// ECR is the line of one register, or of the registers of one address.
type ECR struct {
	Name       string        `toml:"name"`               // of the line in the journal; "" = by its protocol and kind
	Protocol   string        `toml:"protocol"`           // one of Protocols
	Serial     string        `toml:"serial" file:"line"` // path, or usb:VID:PID[:SERIAL]; "" = no serial line
	Baud       int           `toml:"baud"`
	StopBits   int           `toml:"stop_bits"` // 1, 2
	TCP        string        `toml:"tcp"`       // host:port to listen on; "" = none
	T1         time.Duration `toml:"t1"`        // between two bytes of a block
	Charset    string        `toml:"charset"`
	Profile    string        `toml:"profile"`     // zvt: how the register differs from what it registers as, one of profiles
	Grace      time.Duration `toml:"grace"`       // until an unconfirmed sale is undone
	Patience   time.Duration `toml:"patience"`    // the register waits so long for an answer without intermediate status
	Unheard    string        `toml:"unheard"`     // an approval that the register does not acknowledge: undo, keep
	RefundLast bool          `toml:"refund_last"` // a refund that names no sale means the till's last one
	Password   string        `toml:"password"`    // six digits a register must show; "" = any
	Allow      []string      `toml:"allow"`       // addresses and prefixes that may connect to tcp; none = all
	Open       bool          `toml:"open"`        // tcp is for every network without a password or a list

	POIID           string      `toml:"poi_id"`           // nexo: the terminal's name in messages
	KeyID           string      `toml:"key_id"`           // nexo: of the key that encrypts
	KeyVersion      int         `toml:"key_version"`      // nexo: of that key
	Passphrase      wire.Secret `toml:"passphrase"`       // nexo: of that key; "" = messages in clear
	CertificateName string      `toml:"certificate_name"` // nexo: the name in the terminal's certificate; "" = made of poi_id
	ProtocolVersion string      `toml:"protocol_version"` // nexo: 3.0, 3.1, 5.1
	KeepAlive       bool        `toml:"keep_alive"`       // nexo: blanks while a payment runs, for tills that follow them
	Brand           bool        `toml:"brand"`            // nexo: the wallet's name stands as the card's brand, too

	TerminalID string `toml:"terminal_id"` // ecr17: the terminal's name in messages, eight digits; "" = as the register has it
	Identified bool   `toml:"identified"`  // caisse-ap: CF (else CH) is an id of the purchase
	LRC        string `toml:"lrc"`         // ecr17: what the check byte is made of: std, stx, noext, stx_noext
}

// Protocol is what a register protocol has.
type Protocol struct {
	Patience time.Duration // its registers wait so long for an answer
	Serial   bool          // it runs on a serial line, too
	Password bool          // its messages can carry one
}

// Protocols are the register protocols by their names.
func Protocols() map[string]Protocol {
	return map[string]Protocol{
		"zvt":       {85 * time.Second, true, true},
		"jsonl":     {85 * time.Second, true, true}, // of refunds and reversals: a payment has its method's own time
		"nexo":      {55 * time.Second, false, false},
		"ecr17":     {50 * time.Second, true, false},
		"caisse-ap": {80 * time.Second, false, false},
	}
}

// letters are those of a terminal's name, which stands in its certificate.
const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-"

// Registers are the lines that are configured, in the order of the file. A section without serial and
// tcp is none.
func (c Config) Registers() []ECR {
	var list []ECR
	for _, e := range append([]ECR{c.ECR}, c.More...) {
		if e.Serial != "" || e.TCP != "" {
			list = append(list, e)
		}
	}
	return list
}

// NoRegisters takes every register line out. What closes a day stays as it was.
func (c *Config) NoRegisters() {
	c.Checkout.EndOfDay = c.EndOfDay()
	c.ECR.Serial, c.ECR.TCP, c.More = "", "", nil
}

// EndOfDay is what closes a day: ByRegister, or a time of day.
func (c Config) EndOfDay() string {
	switch {
	case c.Checkout.EndOfDay != "":
		return c.Checkout.EndOfDay
	case len(c.Registers()) == 0: // nothing else ever would
		return "00:00"
	}
	return ByRegister
}

// LineName is the name of its serial or TCP line in the journal. ZVT has the bare kinds: journals of
// programs that spoke nothing else know them.
func (e ECR) LineName(kind string) string {
	switch {
	case e.Name != "":
		return e.Name + "-" + kind
	case e.Protocol == "zvt":
		return kind
	}
	return e.Protocol + "-" + kind
}

// Keeps reports whether an approval that a register of the line does not acknowledge is kept.
func (e ECR) Keeps() bool { return e.Unheard == "keep" }

// LineKey is the prefix of the keys of the nth register line: "ecr", "ecr[2]".
func LineKey(n int) string {
	if n == 0 {
		return "ecr"
	}
	return fmt.Sprintf("ecr[%d]", n+1)
}

// registers takes a list of register lines, which takes the place of one beneath.
func (l *loader) registers(list []map[string]any) {
	defaults := Default().ECR
	l.c.ECR, l.c.More = defaults, slices.Repeat([]ECR{defaults}, len(list)-1)
	for key := range l.seen {
		if strings.HasPrefix(key, "ecr.") || strings.HasPrefix(key, "ecr[") {
			delete(l.seen, key)
		}
	}
	l.known = slices.DeleteFunc(l.known, func(key string) bool { return strings.HasPrefix(key, "ecr[") })
	for _, f := range fields(l.c) {
		if strings.HasPrefix(f.path, "ecr[") {
			l.fields[f.path] = f
			l.known = append(l.known, f.path)
		}
	}
	for i, raw := range list {
		l.table(LineKey(i)+".", raw)
	}
}

// waits fills in how long the registers of each line wait, where that is not set.
func (c *Config) waits() {
	if c.origin["ecr.patience"] == "" {
		c.ECR.Patience = patienceOf(c.ECR)
	}
	for i := range c.More {
		if c.origin[LineKey(i+1)+".patience"] == "" {
			c.More[i].Patience = patienceOf(c.More[i])
		}
	}
}

func patienceOf(e ECR) time.Duration {
	if e.Protocol == "nexo" && e.KeepAlive {
		return 110 * time.Second
	}
	return cmp.Or(Protocols()[e.Protocol].Patience, e.Patience)
}

func (c Config) ecr(k *check) {
	names := map[string]string{}
	for i, e := range append([]ECR{c.ECR}, c.More...) {
		e.check(k, LineKey(i))
		if i > 0 && e.Serial == "" && e.TCP == "" {
			k.fail(LineKey(i), "neither serial nor tcp: say where this register is")
		}
		for kind, set := range map[string]string{"serial": e.Serial, "tcp": e.TCP} {
			name := e.LineName(kind)
			switch {
			case set == "":
			case names[name] != "":
				k.fail(LineKey(i)+".name", "the line is called %q, as that of %s is: give one of them a name", name, names[name])
			default:
				names[name] = LineKey(i)
			}
		}
	}
	k.oneOf("checkout.on_stale", c.Checkout.OnStale, "wait", "abort")
	c.keypad(k)
}

// check holds one register line to its rules.
func (e ECR) check(k *check, at string) {
	known := make([]string, 0, len(Protocols()))
	for name := range Protocols() {
		known = append(known, name)
	}
	slices.Sort(known)
	k.oneOf(at+".protocol", e.Protocol, known...)
	if p, ok := Protocols()[e.Protocol]; ok {
		if e.Serial != "" && !p.Serial {
			k.fail(at+".serial", "%s does not run on a serial line: set tcp", e.Protocol)
		}
		if e.Password != "" && !p.Password {
			k.fail(at+".password", "%s has no password: set allow = [\"ADDRESS\"] of the register", e.Protocol)
		}
	}
	if e.Name != "" && !isID(e.Name) {
		k.fail(at+".name", "%q is not one word", e.Name)
	}
	if e.Serial != "" && !isPath(e.Serial) && !node.IsUSB(e.Serial) {
		k.fail(at+".serial", "%q is neither an absolute path nor usb:VID:PID[:SERIAL] (lsusb shows VID:PID)", e.Serial)
	}
	k.allow = e.Allow
	if e.TCP != "" {
		k.listen(at+".tcp", e.TCP, false)
		if host, _, err := net.SplitHostPort(e.TCP); err == nil && host != "" && !loopback(host) &&
			!e.secret() && (len(e.Allow) == 0 || e.everywhere()) && !e.Open {
			word := "password"
			if e.Protocol == "nexo" {
				word = "passphrase_file"
			}
			k.fail(at+".tcp", "%q is open to the network: set [ecr] "+word+", or allow = [\"ADDRESS\"] of the register, or open = true", e.TCP)
		}
	}
	if e.Protocol == "nexo" {
		e.nexo(k, at)
	}
	if e.Identified && e.Protocol != "caisse-ap" {
		k.fail(at+".identified", "it is a setting of caisse-ap registers: leave it out")
	}
	if e.TerminalID != "" && (len(e.TerminalID) != 8 || strings.Trim(e.TerminalID, "0123456789") != "") {
		k.fail(at+".terminal_id", "%q is not eight digits", e.TerminalID)
	}
	k.oneOf(at+".lrc", e.LRC, "std", "stx", "noext", "stx_noext")
	if _, err := e.Allowed(); err != nil {
		k.fail(at+".allow", "%v", err)
	}
	if !slices.Contains(bauds, e.Baud) {
		k.fail(at+".baud", "%d is none of %v", e.Baud, bauds)
	}
	if e.StopBits != 1 && e.StopBits != 2 {
		k.fail(at+".stop_bits", "%d is neither 1 nor 2", e.StopBits)
	}
	k.between(at+".t1", e.T1, 10*time.Millisecond, 5*time.Second)
	k.oneOf(at+".charset", e.Charset, charsets...)
	k.oneOf(at+".profile", e.Profile, profiles...)
	if e.Profile != "standard" && e.Protocol != "zvt" {
		k.fail(at+".profile", "%q is a profile of zvt registers: leave it out", e.Profile)
	}
	if e.Password != "" && (len(e.Password) != 6 || strings.Trim(e.Password, "0123456789") != "") {
		k.fail(at+".password", "not six digits")
	}
	k.between(at+".grace", e.Grace, time.Second, 24*time.Hour)
	k.between(at+".patience", e.Patience, 20*time.Second, 10*time.Minute)
	k.oneOf(at+".unheard", e.Unheard, "undo", "keep")
	if n := len(e.Passphrase.Reveal()); n != 0 && n < 8 {
		k.fail(at+".passphrase", "fewer than eight characters")
	}
	if e.KeyVersion < 0 || e.KeyVersion > 999 {
		k.fail(at+".key_version", "%d is not between 0 and 999", e.KeyVersion)
	}
}

// secret reports whether a register has to show that it knows one.
func (e ECR) secret() bool {
	if e.Protocol == "nexo" {
		return e.Passphrase != ""
	}
	return e.Password != ""
}

// nexo holds a line of that protocol to its rules. Messages in clear are for this machine, or for a network that is meant.
func (e ECR) nexo(k *check, at string) {
	if e.TCP == "" {
		k.fail(at+".tcp", "nexo needs it, like \"127.0.0.1:8443\"")
	}
	if e.POIID == "" || strings.Trim(e.POIID, letters) != "" {
		k.fail(at+".poi_id", "%q is no name of a terminal: write MODEL-SERIAL, like POSAGENT-000020000001", e.POIID)
	}
	if (e.KeyID == "") != (e.Passphrase == "") {
		k.fail(at+".key_id", "key_id and passphrase_file go together")
	}
	k.oneOf(at+".protocol_version", e.ProtocolVersion, "3.0", "3.1", "5.1")
}

// Allowed is where registers may connect from, nil = from anywhere. It fails at the first entry that is neither an
// address nor a prefix.
func (e ECR) Allowed() ([]netip.Prefix, error) { return prefixes(e.Allow) }

// prefixes reads addresses and prefixes. It fails at the first entry that is neither.
func prefixes(texts []string) ([]netip.Prefix, error) {
	var list []netip.Prefix
	for _, s := range texts {
		if at, err := netip.ParseAddr(s); err == nil && at.Zone() == "" {
			list = append(list, netip.PrefixFrom(at.Unmap(), at.Unmap().BitLen()))
			continue
		}
		p, err := netip.ParsePrefix(s)
		if err != nil {
			return nil, fmt.Errorf("%q is neither an address like 192.168.1.20 nor a prefix like 192.168.1.0/24", s)
		}
		if p != p.Masked() {
			return nil, fmt.Errorf("%q has bits behind its length: write %q", s, p.Masked())
		}
		list = append(list, p)
	}
	return list, nil
}
