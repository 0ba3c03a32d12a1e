package config

import (
	"slices"
	"strings"

	"posagent/schemes/money"
)

// storable are the services whose writes can be stored.
func storable() []string { return []string{"payments", "tokens", "paylinks"} }

// Stores says whether the writes of a service are stored when its backend does not answer.
func (o Offline) Stores(service string) bool { return slices.Contains(o.Services, service) }

// AmountLimit is the most that one stored operation may be about; false = none in this currency is stored.
func (o Offline) AmountLimit(currency string) (money.Minor, bool) {
	return limit(o.MaxAmount, currency)
}

// TotalLimit is the most that all stored operations of a currency may be about together.
func (o Offline) TotalLimit(currency string) (money.Minor, bool) { return limit(o.MaxTotal, currency) }

// limit reads a list like "EUR 200.00", "* 200"; "*" is every currency that is not named, also an unknown one.
func limit(list []string, currency string) (most money.Minor, ok bool) {
	cur, known := money.Lookup(currency)
	if !known { // for an operation of unknown currency, hundredths are assumed
		cur, _ = money.Lookup("EUR")
	}
	for _, s := range list {
		name, amount, _ := strings.Cut(s, " ")
		if name != currency && (name != "*" || ok) {
			continue
		}
		m, err := money.Parse(amount, cur)
		if err == nil && (name == currency || !ok) {
			most, ok = m, true
		}
		if name == currency {
			break
		}
	}
	return most, ok
}

func (c Config) offline(k *check) {
	for _, s := range c.Offline.Services {
		k.oneOf("offline.services", s, storable()...)
	}
	for _, s := range c.Offline.Keyless {
		k.oneOf("offline.keyless", s, storable()...)
	}
	k.oneOf("offline.card_data", c.Offline.CardData, "seal", "refuse")
	if n := c.Offline.MaxCount; n < 1 || n > 10_000_000 {
		k.fail("offline.max_count", "%d is not between 1 and 10000000", n)
	}
	for _, l := range []struct {
		key  string
		list []string
	}{{"offline.max_amount", c.Offline.MaxAmount}, {"offline.max_total", c.Offline.MaxTotal}} {
		seen := map[string]bool{}
		for _, s := range l.list {
			name, amount, _ := strings.Cut(s, " ")
			cur, ok := money.Lookup(name)
			if name == "*" {
				cur, ok = money.Lookup("JPY") // whole numbers are exact in every currency
			}
			_, err := money.Parse(amount, cur)
			switch {
			case !ok || err != nil || strings.HasPrefix(amount, "-"):
				k.fail(l.key, "%q is not an amount like \"EUR 200.00\", or \"* 200\" for every currency that is not named", s)
			case seen[name]:
				k.fail(l.key, "%s is given twice", name)
			}
			seen[name] = true
		}
	}
}
