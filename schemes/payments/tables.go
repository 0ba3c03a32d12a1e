package payments

import (
	"slices"
	"strings"

	"posagent/schemes/wire/check"
)

// Languages of the hosted page (S0 2.4.3).
func Languages() []string { return check.PageLanguages() }

// Methods of a hosted page's action list: S0 2.4.3 leaves the names out, facts have them.
func Methods() []string { return strings.Fields(methods) }

const methods = "AmericanExpress DinersClubInternational JCB Maestro MasterCard Visa PproSepaDirectDebit Sofortbanking PayPal"

// PageTypes of the hosted page, as DecodeCreate writes them.
const (
	Multipage  = "Multipage"
	Singlepage = "Singlepage"
	CustomPage = "Custom"
)

// Country says whether code is an assigned ISO 3166-1 alpha-2 code.
func Country(code string) bool { return check.Country2(code) }

// word says whether s is one of the words of list.
func word(list, s string) bool { return s != "" && slices.Contains(strings.Fields(list), s) }
