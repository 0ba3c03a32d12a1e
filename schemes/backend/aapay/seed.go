package aapay

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"posagent/schemes/backend/scenario"
	"posagent/schemes/methods"
	"posagent/schemes/wire"
)

//go:embed seed.json
var builtin string

// Seed is what the simulated providers are: the definitions and what stands behind them.
type Seed struct {
	Merchants    []string   `json:"merchants,omitempty"` // the baxIds that exist; empty = every one
	MerchantName string     `json:"merchantName,omitempty"`
	MerchantCity string     `json:"merchantCity,omitempty"`
	Country      string     `json:"country,omitempty"` // ISO 3166 alpha-2
	Methods      []Provider `json:"methods"`
	// Lists are what a caller of that name gets instead of Methods: a list that only some terminals ask for yet.
	Lists map[string][]Provider `json:"lists,omitempty"`
}

// Provider is one definition and its provider's habits.
type Provider struct {
	methods.Definition
	Labels    map[string]string `json:"labels,omitempty"`    // by language
	PushTexts map[string]string `json:"pushTexts,omitempty"` // by language
	Flow      scenario.Flow     `json:"flow,omitempty"`      // commit (default), reserve, word
	Word      string            `json:"word,omitempty"`      // of flow word, and of the provider-word row

	// What naa2Ecr says of a payment once it is paid or reserved (S1 2.4). Before, and of a provider that has no message, it says the label.
	AdditionalInfo string   `json:"additionalInfo,omitempty"`
	LoyaltyIDs     []string `json:"loyaltyIds,omitempty"`
}

// ParseSeed reads a seed file: the object of the built-in one, or a plain array of definitions as S1 4.4
// answers them. Empty data is the built-in seed.
func ParseSeed(data []byte) (Seed, error) {
	if len(bytes.TrimSpace(data)) == 0 {
		data = []byte(builtin)
	}
	var s Seed
	into := any(&s)
	if bytes.TrimSpace(data)[0] == '[' {
		into = &s.Methods
	}
	// The strict decoder knows no embedded structs in the plain form, so the text is checked first.
	if err := wire.Check(data); err != nil {
		return Seed{}, fmt.Errorf("seed: %w", err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		return Seed{}, fmt.Errorf("seed: %w", err)
	}
	if err := s.check(); err != nil {
		return Seed{}, fmt.Errorf("seed: %w", err)
	}
	if s.MerchantName == "" {
		s.MerchantName = "Demo Shop"
	}
	if s.MerchantCity == "" {
		s.MerchantCity = "Hamburg"
	}
	if s.Country == "" {
		s.Country = "DE"
	}
	for _, list := range s.all() {
		slices.SortStableFunc(list, func(a, b Provider) int { return cmp.Compare(a.Priority, b.Priority) })
	}
	return s, nil
}

// all are Methods and the other lists, in the order of their callers.
func (s Seed) all() [][]Provider {
	all := [][]Provider{s.Methods}
	for _, caller := range slices.Sorted(maps.Keys(s.Lists)) {
		all = append(all, s.Lists[caller])
	}
	return all
}

// check wants methods of one name to be one provider's, whatever list they are in: a transaction names its method only.
func (s Seed) check() error {
	errs := checkList("methods", s.Methods)
	is := map[string]Provider{}
	for _, p := range s.Methods {
		is[p.Name] = p
	}
	for _, caller := range slices.Sorted(maps.Keys(s.Lists)) {
		errs = append(errs, checkList("lists."+caller, s.Lists[caller])...)
		for _, p := range s.Lists[caller] {
			if was, ok := is[p.Name]; ok && (p.PaymentProviderID != was.PaymentProviderID || p.Flow != was.Flow || p.Word != was.Word) {
				errs = append(errs, fmt.Errorf("lists.%s %s: another list has it with another paymentProviderId, flow or word", caller, p.Name))
			}
			is[p.Name] = p
		}
	}
	return errors.Join(errs...)
}

func checkList(list string, providers []Provider) (errs []error) {
	names, ids := map[string]bool{}, map[int32]bool{}
	for i, p := range providers {
		if p.Name == "" {
			errs = append(errs, fmt.Errorf("%s[%d]: name is missing", list, i))
		}
		if names[p.Name] || ids[p.PaymentProviderID] {
			errs = append(errs, fmt.Errorf("%s[%d] %s: name or paymentProviderId is there twice", list, i, p.Name))
		}
		names[p.Name], ids[p.PaymentProviderID] = true, true
		switch p.Flow {
		case "", scenario.FlowCommit, scenario.FlowReserve, scenario.FlowWord:
		default:
			errs = append(errs, fmt.Errorf("%s[%d] %s: flow %q: want commit, reserve or word", list, i, p.Name, p.Flow))
		}
	}
	return errs
}

// find gives the provider of a method name.
func (s Seed) find(name string) (Provider, bool) {
	for _, list := range s.all() {
		if i := slices.IndexFunc(list, func(p Provider) bool { return p.Name == name }); i >= 0 {
			return list[i], true
		}
	}
	return Provider{}, false
}

// word is what the provider says for success before COMMIT.
func (p Provider) word() string {
	if p.Word != "" {
		return p.Word
	}
	for _, c := range p.OKCodes {
		if c.Type == methods.Payment && c.Value != "RESERVED" {
			return c.Value
		}
	}
	return ""
}

// spoken gives the definition with its texts in a language ("de", "de-AT"); English is the built-in one.
func (p Provider) spoken(lang string) methods.Definition {
	d := p.Definition
	lang, _, _ = strings.Cut(strings.ToLower(strings.ReplaceAll(lang, "_", "-")), "-")
	if text, ok := p.Labels[lang]; ok {
		d.Label = text
	}
	if text, ok := p.PushTexts[lang]; ok && d.TriggerParams != nil && d.TriggerParams.Qr != nil {
		look := *d.TriggerParams.Qr
		look.PushText = text
		d.TriggerParams = &methods.TriggerParams{Qr: &look}
	}
	return d
}

// list answers a query (S1 4.4).
func (s Seed) list(q methods.Query) ([]methods.Definition, error) {
	if err := q.Validate(); err != nil {
		return nil, err
	}
	if len(s.Merchants) > 0 && !slices.Contains(s.Merchants, q.BaxID) {
		return nil, wire.Errorf(wire.NotFound, "methods.list", "no method found for the merchant")
	}
	list, own := s.Lists[q.Caller]
	if !own {
		list = s.Methods
	}
	out := []methods.Definition{}
	for _, p := range list {
		if !slices.Contains(q.Exclude, p.PaymentProviderID) {
			out = append(out, p.spoken(q.Lang))
		}
	}
	return out, nil
}
