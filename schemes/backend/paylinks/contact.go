package paylinks

import (
	"net/http"
	"net/mail"
	"strings"
	"time"

	"posagent/schemes/backend/pages"
	"posagent/schemes/wire"
)

// field is one contact field as a link's page shows it.
type field struct {
	Name      string                 `json:"n"` // of S1 2.1: forename, custom_field_1, …
	Active    bool                   `json:"a,omitempty"`
	Mandatory bool                   `json:"m,omitempty"`
	Value     string                 `json:"v,omitempty"` // what stands in it at first
	Names     [len(languages)]string `json:"l"`           // a custom field's, by language; "" = not given
}

// known are the contact fields in the order of the page, with their word and what a browser may fill in.
var known = []struct {
	name       string
	word       word
	kind, auto string
}{
	{"title", wTitle, "", "honorific-prefix"},
	{"forename", wForename, "", "given-name"},
	{"surname", wSurname, "", "family-name"},
	{"company", wCompany, "", "organization"},
	{"street", wStreet, "", "street-address"},
	{"postcode", wPostcode, "", "postal-code"},
	{"place", wPlace, "", "address-level2"},
	{"country", wCountry, "", "country-name"},
	{"phone", wPhone, "tel", "tel"},
	{"email", wEmail, "email", "email"},
	{"date_of_birth", wBirth, "date", "bday"},
	{"custom_field_1", wordCount, "", ""},
	{"custom_field_2", wordCount, "", ""},
	{"custom_field_3", wordCount, "", ""},
	{"terms", wTerms, "checkbox", ""},
	{"privacy_policy", wPrivacy, "checkbox", ""},
}

// place is a field's position in known, -1 = unknown.
func (f field) place() int {
	for i, k := range known {
		if k.name == f.Name {
			return i
		}
	}
	return -1
}

// label is what a field is called in a tongue.
func (f field) label(l tongue) string {
	if w := known[f.place()].word; w < wordCount {
		return l.say(w)
	}
	for _, name := range append([]string{f.Names[l]}, f.Names[:]...) {
		if name != "" {
			return name
		}
	}
	return f.Name
}

// maxContact bounds one answer in bytes.
const maxContact = 200

// fault is one thing a customer should look at.
type fault struct {
	name, text string
}

// answers reads what a customer wrote into the fields.
func answers(r *http.Request, fields []field, l tongue) (map[string]string, []fault) {
	out := map[string]string{}
	var faults []fault
	for _, f := range fields {
		kind := known[f.place()].kind
		v := strings.TrimSpace(r.PostForm.Get("contact_" + f.Name))
		if kind == "checkbox" && v != "" {
			v = "1"
		}
		bad := v != "" && (!wire.PlainText(v, maxContact) || !fits(kind, v) || kind != "tel" && isPAN(v))
		switch {
		case bad:
			faults = append(faults, fault{f.Name, f.label(l) + " " + l.say(wBad)})
		case v == "" && f.Mandatory && kind == "checkbox": // its label is a sentence
			faults = append(faults, fault{f.Name, f.label(l) + ": " + l.say(wMandatory)})
		case v == "" && f.Mandatory:
			faults = append(faults, fault{f.Name, f.label(l) + " " + l.say(wMissing)})
		}
		if !bad {
			out[f.Name] = v
		}
	}
	return out, faults
}

// blanks takes out what people write between the digits of a card number.
var blanks = strings.NewReplacer(" ", "", "-", "")

// isPAN says that a text is a card number, or holds one beside others, where none belongs and none would be masked.
func isPAN(v string) bool { return wire.NewPAN(blanks.Replace(v)).Valid() || wire.MaskPANs(v) != v }

// fits checks an answer that is there against its kind of input.
func fits(kind, v string) bool {
	switch kind {
	case "email":
		a, err := mail.ParseAddress(v)
		return err == nil && a.Address == v
	case "date":
		_, err := time.Parse(time.DateOnly, v)
		return err == nil
	case "tel":
		return strings.Trim(v, "0123456789 +-/().") == ""
	}
	return true
}

// why is the reason against a field, "" = none.
func why(faults []fault, name string) string {
	for _, f := range faults {
		if f.name == name {
			return f.text
		}
	}
	return ""
}

// What a link's customer accepts stands at these pages of the link.
const (
	termsPage   = "terms"
	privacyPage = "privacy"
)

// inputs draws the fields, with what was answered before. What is to be accepted stands at pages below at.
func inputs(fields []field, l tongue, at string, given map[string]string, faults []fault) []pages.Node {
	var out []pages.Node
	for _, f := range fields {
		k := known[f.place()]
		v, answered := given[f.Name]
		if !answered {
			v = f.Value
		}
		in := pages.Input{
			Name: "contact_" + f.Name, Label: f.label(l), Value: v, Type: k.kind, Auto: k.auto, Required: f.Mandatory,
			Fault: why(faults, f.Name),
		}
		if k.kind == "checkbox" {
			in.Value = "1"
		}
		if f.Mandatory {
			in.Label += " (" + l.say(wMandatory) + ")"
		}
		out = append(out, in.Node())
		switch k.word {
		case wTerms:
			out = append(out, pages.Aside(at+"/"+termsPage+"?lang="+l.code(), l.say(wTermsLink)))
		case wPrivacy:
			out = append(out, pages.Aside(at+"/"+privacyPage+"?lang="+l.code(), l.say(wPrivacyLink)))
		}
	}
	return out
}
