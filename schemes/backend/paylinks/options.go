package paylinks

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"posagent/schemes/paylinks"
	"posagent/store"
)

// file is an attachment of a link. Its content lies in pieces, so that none ever stands in memory as a whole.
type file struct {
	Name   string `json:"n"`
	Size   int64  `json:"s"`
	Upload string `json:"u"` // names the pieces
}

// options are what a link was made with, beside its amount: stored sealed, since fields may be filled in with a person.
type options struct {
	Title            string   `json:"title"`
	Description      string   `json:"description"`
	Purpose          string   `json:"purpose"`
	VAT              string   `json:"vat,omitempty"` // percentage as text
	PSPs             []int64  `json:"psp,omitempty"`
	PM               []string `json:"pm,omitempty"`
	SKU              string   `json:"sku,omitempty"`
	Name             string   `json:"name,omitempty"`
	PreAuthorization bool     `json:"preAuthorization,omitempty"`
	Reservation      bool     `json:"reservation,omitempty"`
	Fields           []field  `json:"fields,omitempty"` // as asked for; see shown
	HideFields       bool     `json:"hideFields,omitempty"`
	ButtonText       string   `json:"buttonText,omitempty"`
	Success          string   `json:"success,omitempty"`
	Failed           string   `json:"failed,omitempty"`
	Subscription     bool     `json:"subscription,omitempty"`
	Interval         string   `json:"interval,omitempty"`
	Period           string   `json:"period,omitempty"`
	Cancellation     string   `json:"cancellation,omitempty"`
	MinAmount        int64    `json:"minAmount,omitempty"` // hundredths
	Files            []file   `json:"files,omitempty"`
}

// optionsOf takes over what is kept of a request.
func optionsOf(req paylinks.CreateRequest) *options {
	o := &options{
		Title: req.Title, Description: req.Description, Purpose: req.Purpose, VAT: req.VatRate.String(), PSPs: req.PSP, PM: req.PM,
		SKU: req.SKU, Name: req.Name, PreAuthorization: req.PreAuthorization, Reservation: req.Reservation, HideFields: req.HideFields,
		ButtonText: req.ButtonText, Success: req.SuccessRedirectURL, Failed: req.FailedRedirectURL, Subscription: req.SubscriptionState,
		Interval: req.SubscriptionInterval, Period: req.SubscriptionPeriod, Cancellation: req.SubscriptionCancellationInterval,
		MinAmount: req.SubscriptionPeriodMinAmount,
	}
	for name, c := range req.Fields {
		f := field{Name: name, Active: c.Active == nil || *c.Active, Mandatory: c.Mandatory, Value: c.DefaultValue}
		if c.Names != nil {
			f.Names = [len(languages)]string{c.Names.En, c.Names.De, c.Names.Fr, c.Names.It}
		}
		o.Fields = append(o.Fields, f)
	}
	return o
}

// options reads what a link was made with.
func (s *Links) options(r store.Reader, l *link) (*options, error) {
	data, err := s.DB.Unseal(r, l.cell(), l.Sealed)
	if err != nil {
		return nil, fmt.Errorf("unseal link %d: %w", l.ID, err)
	}
	o := &options{}
	if err := json.Unmarshal(data, o); err != nil {
		return nil, fmt.Errorf("read link %d: %w", l.ID, err)
	}
	return o, nil
}

// CounterName begins the internal name of a link whose customer stands before it with a telephone.
const CounterName = "counter"

// counter says that a link is shown at a counter, as a terminal makes it: in the sandbox it is paid by itself. That is one
// named so, and one that asks its customer nothing, leads him nowhere and will expire.
func (o *options) counter(l *link) bool {
	return strings.HasPrefix(o.Name, CounterName) || o.HideFields && o.Success == "" && o.Failed == "" && l.Expires != 0
}

// shown are the fields of the page in its order.
func (o *options) shown() []field {
	if o.HideFields {
		return nil
	}
	out := slices.DeleteFunc(slices.Clone(o.Fields), func(f field) bool { return f.place() < 0 || !f.Active })
	slices.SortStableFunc(out, func(a, b field) int { return a.place() - b.place() })
	return out
}

// isCard says that a payment-method name means a card.
func isCard(pm string) bool {
	switch strings.ToLower(pm) {
	case "visa", "mastercard", "maestro", "american-express", "amex", "diners", "jcb", "card", "cards", "debit":
		return true
	}
	return false
}

// cards are the cards a link's page names: none named means all, and nil that there is no card form.
func (o *options) cards() []string {
	if len(o.PM) == 0 {
		return []string{}
	}
	var out []string
	for _, pm := range o.PM {
		if isCard(pm) {
			out = append(out, pm)
		}
	}
	return out
}

// sandboxWallet is the wallet of a link that names none.
const sandboxWallet = "twint"

// wallet is the wallet a link's page offers, "" = none.
func (o *options) wallet() string {
	if len(o.PM) == 0 {
		return sandboxWallet
	}
	if i := slices.IndexFunc(o.PM, func(pm string) bool { return !isCard(pm) }); i >= 0 {
		return o.PM[i]
	}
	return ""
}

// walletBrand is the brand of a payment that needs no form.
func (o *options) walletBrand() string {
	if w := o.wallet(); w != "" {
		return w
	}
	return o.PM[0]
}

// provider is the name of the simulated provider, firstPSP its number where a link names none.
const (
	provider = "Sandbox"
	firstPSP = 1
)

func (o *options) psp() int64 {
	if len(o.PSPs) > 0 {
		return o.PSPs[0]
	}
	return firstPSP
}
