package config

import (
	"encoding/base64"
	"errors"
	"net/url"
	"regexp"
	"slices"
	"sort"
	"strings"
	"time"
	"unicode/utf8"

	"posagent/schemes/money"
)

var (
	idPattern       = regexp.MustCompile(`^[A-Za-z0-9._-]+$`) // of at most maxID
	countryPattern  = regexp.MustCompile(`^[A-Z]{2}$`)
	languagePattern = regexp.MustCompile(`^[a-z]{2,3}(-[A-Za-z0-9]{2,8})?$`)
	uuidPattern     = regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)
	bauds           = []int{1200, 2400, 4800, 9600, 19200, 38400, 57600, 115200}
	charsets        = []string{"cp437", "iso-8859-1", "din-66003", "utf-8", "ascii"} // as ecr/zvt/apdu names them
	profiles        = []string{"standard", "plain", "no-tlv", "fixed-charset"}       // as ecr/zvt names them
)

// Validate checks every value; the error joins one *KeyError per wrong key, which does not know its place.
func (c Config) Validate() error {
	var errs []error
	for _, e := range c.wrong() {
		errs = append(errs, e)
	}
	return errors.Join(errs...)
}

// wrong lists what is wrong with the values.
func (c Config) wrong() []*KeyError {
	k := &check{}
	c.terminal(k)
	c.upstream(k)
	c.ecr(k)
	c.rest(k)
	return k.errs
}

func (c Config) terminal(k *check) {
	for _, f := range [][2]string{
		{"terminal.bax_id", c.Terminal.BaxID}, {"terminal.terminal_id", c.Terminal.TerminalID}, {"terminal.merchant_id", c.Terminal.MerchantID},
	} {
		switch {
		case f[1] == "" && !c.Sandbox():
			k.fail(f[0], "missing; [upstream] names a real backend")
		case f[1] != "" && !isID(f[1]):
			k.fail(f[0], "%q is not 1 to 64 letters, digits, dots or dashes", f[1])
		}
	}
	if len(c.Terminal.MerchantName) > 100 {
		k.fail("terminal.merchant_name", "longer than 100 bytes")
	}
	if cur, ok := money.Lookup(c.Terminal.Currency); !ok || !cur.Payable() {
		k.fail("terminal.currency", "%q is not a currency code like EUR", c.Terminal.Currency)
	}
	if s := c.Terminal.Country; s != "" && !countryPattern.MatchString(s) {
		k.fail("terminal.country", "%q is not a country code like DE", s)
	}
	if !languagePattern.MatchString(c.Terminal.Language) {
		k.fail("terminal.language", "%q is not a language like en or de-CH", c.Terminal.Language)
	}
}

func (c Config) upstream(k *check) {
	urls := c.Upstream.urls()
	names := make([]string, 0, len(urls))
	for n := range urls {
		names = append(names, n)
	}
	sort.Strings(names)
	for _, n := range names {
		if urls[n] != "" {
			k.url("upstream."+n, urls[n])
		}
	}
	k.between("upstream.timeout", c.Upstream.Timeout, 100*time.Millisecond, 5*time.Minute)
	if p := c.Upstream.Proxy; p != "" && p != "env" {
		u, err := url.Parse(p)
		switch {
		case err != nil || u.Host == "" || !slices.Contains([]string{"http", "https", "socks5"}, u.Scheme):
			k.fail("upstream.proxy", "neither env nor an address like http://proxy:3128")
		case u.User != nil:
			k.fail("upstream.proxy", "credentials do not belong into an address, see upstream.proxy_auth")
		}
	}
	if a := c.Upstream.ProxyAuth.Reveal(); a != "" && (!strings.Contains(a, ":") || c.Upstream.Proxy == "" || c.Upstream.Proxy == "env") {
		k.fail("upstream.proxy_auth", "user:password for the address in upstream.proxy")
	}
	k.path("upstream.roots_file", c.Upstream.RootsFile)
	k.path("upstream.client_cert", c.Upstream.ClientCert)
	k.path("upstream.client_key", c.Upstream.ClientKey)
	if (c.Upstream.ClientCert == "") != (c.Upstream.ClientKey == "") {
		k.fail("upstream.client_cert", "needs upstream.client_key, and the other way round")
	}
	for _, p := range c.Upstream.Pins {
		if b, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(p, "sha256/")); err != nil || len(b) != 32 {
			k.fail("upstream.pins", "%q is not the base64 text of a SHA-256", p)
		}
	}
	if len(c.Upstream.Pins) == 1 {
		k.fail("upstream.pins", "a single pin locks the terminal out at the next key change: add a backup pin")
	}
	type credentials struct {
		key  string
		auth Auth
	}
	all := []credentials{{"upstream.auth", c.Upstream.Auth}, {"backend.credentials", c.Backend.Credentials}}
	for _, service := range []string{"methods", "schemes", "payments", "tokens", "disputes"} {
		if set, section := c.Upstream.setOf(service); section != "upstream.auth" {
			all = append(all, credentials{section, set})
		}
	}
	for _, a := range all {
		if (a.auth.ConsumerKey == "") != (a.auth.ConsumerSecret == "") {
			k.fail(a.key+".consumer_key", "needs consumer_secret, and the other way round")
		}
		if (a.auth.ClientID == "") != (a.auth.ClientSecret == "") {
			k.fail(a.key+".client_id", "needs client_secret, and the other way round")
		}
		if strings.Contains(a.auth.ConsumerKey.Reveal(), ":") {
			k.fail(a.key+".consumer_key", "contains a colon")
		}
	}
}

func (c Config) paylinks(k *check) {
	p := c.Paylinks
	if n := utf8.RuneCountInString(p.Label); n < 1 || n > 64 {
		k.fail("paylinks.label", "not 1 to 64 characters")
	}
	if p.Priority < 0 || p.Priority > 1<<30 {
		k.fail("paylinks.priority", "%d is not between 0 and 1073741824", p.Priority)
	}
	k.between("paylinks.mean_delay", p.MeanDelay, time.Second, time.Hour)
	if p.MeanDelay%time.Second != 0 {
		k.fail("paylinks.mean_delay", "%v is not whole seconds", p.MeanDelay)
	}
	if !p.Method || c.Sandbox() {
		return
	}
	account := c.Upstream.Proof("paylinks").Auth
	for _, need := range []struct{ key, has string }{
		{"upstream.paylinks (or base)", c.Upstream.URL("paylinks")}, {"upstream.auth.instance", account.Instance},
		{"upstream.auth.secret", account.Secret.Reveal()},
	} {
		if need.has == "" {
			k.fail("paylinks.method", "needs %s", need.key)
		}
	}
}

// maxID is the longest id in letters.
const maxID = 64

func isID(s string) bool { return len(s) <= maxID && idPattern.MatchString(s) }

func (c Config) rest(k *check) {
	if c.Port.Listen != "" {
		k.listen("port.listen", c.Port.Listen, true)
	}
	if n := len(c.Port.Token); n != 0 && (n < 16 || n > 1024) {
		k.fail("port.token", "not 16 to 1024 characters")
	}
	c.clients(k)
	if !isID(c.Operator.Name) {
		k.fail("operator.name", "%q is not one word", c.Operator.Name)
	}
	k.between("methods.refresh", c.Methods.Refresh, time.Second, 7*24*time.Hour)
	if !isID(c.Methods.Caller) {
		k.fail("methods.caller", "%q is not one word", c.Methods.Caller)
	}
	k.oneOf("methods.timeout_unit", c.Methods.TimeoutUnit, "m", "s", "ms")
	least := 2 * time.Second // S1's providers ask for it
	if c.Upstream.local() {
		least = 10 * time.Millisecond
	}
	k.between("methods.poll", c.Methods.Poll, least, time.Minute)
	c.paylinks(k)
	c.display(k)
	c.printer(k)
	k.between("offline.max_age", c.Offline.MaxAge, 0, 366*24*time.Hour)
	k.between("offline.answer_within", c.Offline.AnswerWithin, 100*time.Millisecond, 30*time.Second)
	k.between("offline.idempotency_ttl", c.Offline.IdempotencyTTL, time.Minute, 90*24*time.Hour)
	k.between("offline.retention", c.Offline.Retention, 24*time.Hour, 5*366*24*time.Hour)
	if c.Offline.Retention < c.Offline.IdempotencyTTL { // a client's Idempotency-Key is known as long as its operation
		k.fail("offline.retention", "%s is less than idempotency_ttl", c.Offline.Retention)
	}
	k.between("store.keep_sales", c.Store.KeepSales, 91*24*time.Hour, 20*366*24*time.Hour) // a request's id is known for 90 days
	c.offline(k)
	k.path("reconcile.file", c.Compare.File)
	if !isTimeOfDay(c.Compare.At) {
		k.fail("reconcile.at", "%q is no time of day like \"03:00\"", c.Compare.At)
	}
	if day := c.Checkout.EndOfDay; day != "" && day != ByRegister && !isTimeOfDay(day) {
		k.fail("checkout.end_of_day", "%q is neither %q nor a time of day like \"23:30\"", day, ByRegister)
	}
	k.listen("backend.listen", c.Backend.Listen, false) // a phone may have to reach the wallet page
	if _, err := c.Backend.Proxies(); err != nil {
		k.fail("backend.trusted_proxies", "%v", err)
	}
	k.path("backend.data", c.Backend.Data)
	k.path("backend.seed", c.Backend.Seed)
	if d := c.Backend.WalletDelay; d != nil {
		k.between("backend.wallet_delay", *d, 0, time.Hour)
	}
	k.between("backend.session_life", c.Backend.SessionLife, time.Second, time.Hour)
	if u, err := url.Parse(c.Backend.PublicURL); c.Backend.PublicURL != "" && (err != nil || u.Host == "" || strings.Trim(u.Path, "/") != "" || u.Scheme != "http" && u.Scheme != "https") {
		k.fail("backend.public_url", "want https://HOST without a path")
	}
	for _, h := range c.Backend.Hosts {
		if u, err := url.Parse("http://" + h); err != nil || u.Host != h || h == "" || u.Port() != "" {
			k.fail("backend.hosts", "%q is not a host's name: want one without scheme and port", h)
		}
	}
	for _, h := range c.Backend.WebhookAllow {
		if u, err := url.Parse("http://" + h); err != nil || u.Host != h || h == "" || u.Hostname() == "" {
			k.fail("backend.webhook_allow", "%q is neither host:port nor host", h)
		}
	}
	if u, err := url.Parse(c.Backend.LinkWebhook); c.Backend.LinkWebhook != "" && (err != nil || u.Host == "") {
		k.fail("backend.link_webhook", "want https://HOST/…, or http to a host of webhook_allow")
	}
	if c.Backend.WebhookSecretOld != "" && c.Backend.WebhookSecret == "" {
		k.fail("backend.webhook_secret_old", "needs webhook_secret")
	}
	if c.Backend.MerchantNumber < 1 {
		k.fail("backend.merchant_number", "%d is not positive", c.Backend.MerchantNumber)
	}
	if !uuidPattern.MatchString(c.Backend.MerchantUUID) {
		k.fail("backend.merchant_uuid", "%q is not a UUID", c.Backend.MerchantUUID)
	}
}

func isTimeOfDay(text string) bool {
	_, err := time.Parse("15:04", text)
	return err == nil && len(text) == len("15:04")
}
