package payments

import (
	"slices"
	"strings"
)

// Languages of the hosted page (S0 2.4.3).
func Languages() []string { return strings.Fields(languages) }

const languages = "EN DK NL ET FI FR DE IT LV LT NO PL PT RU ES SE"

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
func Country(code string) bool {
	if len(code) != 2 {
		return false
	}
	for i := 0; i < len(countries); i += 2 {
		if countries[i:i+2] == code {
			return true
		}
	}
	return false
}

// word says whether s is one of the words of list.
func word(list, s string) bool { return s != "" && slices.Contains(strings.Fields(list), s) }

// countries is ISO 3166-1 in alphabetical order, two letters each.
const countries = "" +
	"ADAEAFAGAIALAMAOAQARASATAUAWAXAZBABBBDBEBFBGBHBIBJBLBMBNBOBQBRBSBTBVBWBYBZCACCCDCFCGCHCICKCLCMCNCOCRCUCVCWCXCYCZ" +
	"DEDJDKDMDODZECEEEGEHERESETFIFJFKFMFOFRGAGBGDGEGFGGGHGIGLGMGNGPGQGRGSGTGUGWGYHKHMHNHRHTHUIDIEILIMINIOIQIRISITJEJMJOJP" +
	"KEKGKHKIKMKNKPKRKWKYKZLALBLCLILKLRLSLTLULVLYMAMCMDMEMFMGMHMKMLMMMNMOMPMQMRMSMTMUMVMWMXMYMZNANCNENFNGNINLNONPNRNUNZOM" +
	"PAPEPFPGPHPKPLPMPNPRPSPTPWPYQARERORSRURWSASBSCSDSESGSHSISJSKSLSMSNSOSRSSSTSVSXSYSZTCTDTFTGTHTJTKTLTMTNTOTRTTTVTWTZ" +
	"UAUGUMUSUYUZVAVCVEVGVIVNVUWFWSYEYTZAZMZW"
