package config

import (
	"cmp"
	"strings"

	"posagent/schemes/wire"
)

// OwnAuth are the sections [upstream.auth.SERVICE]: what one service is asked with in place of [upstream.auth].
type OwnAuth struct {
	Methods  Login       `toml:"methods"`
	Schemes  Login       `toml:"schemes"`
	Payments Login       `toml:"payments"`
	Tokens   Login       `toml:"tokens"`
	Disputes Login       `toml:"disputes"`
	Paylinks LinkAccount `toml:"paylinks"`
	Hosted   HostedKey   `toml:"hosted"`
}

// Login is what stands in an Authorization header, in one of three kinds.
type Login struct {
	Bearer         wire.Secret `toml:"bearer"`
	ConsumerKey    wire.Secret `toml:"consumer_key"`
	ConsumerSecret wire.Secret `toml:"consumer_secret"`
	ClientID       wire.Secret `toml:"client_id"`
	ClientSecret   wire.Secret `toml:"client_secret"`
}

// LinkAccount is an account of payment links.
type LinkAccount struct {
	Instance string      `toml:"instance"`
	Secret   wire.Secret `toml:"secret"`
}

// HostedKey is the key of hosted build.
type HostedKey struct {
	APIKey wire.Secret `toml:"api_key"`
}

// The kinds of credentials, by the words that people read.
const (
	KindConsumer = "consumer_key and consumer_secret" // S1 5
	KindBearer   = "bearer"                           // S0 5
	KindClient   = "client_id and client_secret"      // S0 5: for a token
	KindAccount  = "instance and secret"              // payment links
	KindKey      = "api_key"                          // hosted build
)

// Kinds are the kinds of credentials that prove to a service who asks. The first own ones are its specification's; those
// behind them stand in where none of its own is set.
func Kinds(service string) (kinds []string, own int) {
	switch service {
	case "paylinks":
		return []string{KindAccount}, 1
	case "hosted":
		return []string{KindKey}, 1
	case "methods", "schemes":
		return []string{KindConsumer, KindBearer, KindClient}, 1
	}
	return []string{KindBearer, KindClient, KindConsumer}, 2
}

// Proof is what a service is asked with.
type Proof struct {
	Auth       Auth   // of one kind, all else is empty
	Kind       string // "" = no credentials are set
	Section    string // that they stand in
	Substitute bool   // they are of a kind for other services, and stand in where none of its own is set
}

// Keys names the keys to look at where a service refuses the proof, below upstream.auth and with " or " between; "" = none is set.
func (p Proof) Keys() string {
	first, second, two := strings.Cut(p.Kind, " and ")
	switch {
	case p.Kind == "":
		return ""
	case !two:
		return p.below() + first
	}
	return p.below() + second + " or " + p.below() + first
}

// below is the way from upstream.auth to the section.
func (p Proof) below() string {
	if name, found := strings.CutPrefix(p.Section, "upstream.auth."); found {
		return name + "."
	}
	return ""
}

// login returns the section of a service with an Authorization header of its own, nil for one without such a header.
func (o *OwnAuth) login(service string) *Login {
	switch service {
	case "methods":
		return &o.Methods
	case "schemes":
		return &o.Schemes
	case "payments":
		return &o.Payments
	case "tokens":
		return &o.Tokens
	case "disputes":
		return &o.Disputes
	}
	return nil
}

// setOf returns all credentials that are set for a service, of whatever kind, and the section that they stand in.
func (u Upstream) setOf(service string) (Auth, string) {
	all := u.Auth
	if own := u.Own.login(service); own != nil {
		if *own == (Login{}) {
			return Auth{Bearer: all.Bearer, ConsumerKey: all.ConsumerKey, ConsumerSecret: all.ConsumerSecret, ClientID: all.ClientID, ClientSecret: all.ClientSecret}, "upstream.auth"
		}
		return Auth{Bearer: own.Bearer, ConsumerKey: own.ConsumerKey, ConsumerSecret: own.ConsumerSecret, ClientID: own.ClientID, ClientSecret: own.ClientSecret}, "upstream.auth." + service
	}
	switch {
	case service == "paylinks" && u.Own.Paylinks != (LinkAccount{}):
		return Auth{Instance: cmp.Or(u.Own.Paylinks.Instance, all.Instance), Secret: cmp.Or(u.Own.Paylinks.Secret, all.Secret)}, "upstream.auth.paylinks"
	case service == "hosted" && u.Own.Hosted != (HostedKey{}):
		return Auth{APIKey: u.Own.Hosted.APIKey}, "upstream.auth.hosted"
	}
	return Auth{Instance: all.Instance, Secret: all.Secret, APIKey: all.APIKey}, "upstream.auth"
}

// Proof returns what a service is asked with: credentials of the first of its Kinds that is set. Credentials of one kind that
// are set alone serve every service that has none (S1 5, S0 5 and S2 5 name different ones).
func (u Upstream) Proof(service string) Proof {
	set, section := u.setOf(service)
	kinds, own := Kinds(service)
	for i, kind := range kinds {
		if one := set.only(kind); one != (Auth{}) {
			return Proof{Auth: one, Kind: kind, Section: section, Substitute: i >= own}
		}
	}
	return Proof{}
}

// only returns the credentials of one kind, the zero value where none is set.
func (a Auth) only(kind string) Auth {
	switch kind {
	case KindBearer:
		return Auth{Bearer: a.Bearer}
	case KindConsumer:
		return Auth{ConsumerKey: a.ConsumerKey, ConsumerSecret: a.ConsumerSecret}
	case KindClient:
		return Auth{ClientID: a.ClientID, ClientSecret: a.ClientSecret}
	case KindAccount:
		return Auth{Instance: a.Instance, Secret: a.Secret}
	case KindKey:
		return Auth{APIKey: a.APIKey}
	}
	return Auth{}
}

// ClientOf names the client of [upstream.auth] or of the service's own section, "" where none is set. It names the account there,
// also where a bearer token is what the service is asked with: tokens change, the account does not.
func (u Upstream) ClientOf(service string) string {
	set, _ := u.setOf(service)
	return set.ClientID.Reveal()
}

// At sets the backend of a sandbox: its address, and its credentials for every service.
func (u *Upstream) At(url string, credentials Auth) {
	u.Base, u.Auth, u.Own = url, credentials, OwnAuth{}
}
