package check

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// specified says where the specification has the fields of a service; names are compared without their path. words are what
// reads like a name and is none, or is another's; ours are names that are listed and stand in no table: by reason.
var specified = []struct {
	service     string
	sections    string // "1 2.3": document and section
	words, ours map[string]string
}{
	{"payments", "0 2.1, 0 2.2, 0 2.3, 0 2.4, 0 2.4.1, 0 2.4.2, 0 2.4.3, 0 4.1",
		map[string]string{
			"a cell's yes or no, or all": "yes no all", "a word of a sentence": "below card", "a route": "authorize capture retrieval",
			"listed by tokens": "tokenizationId",
		},
		map[string]string{
			"S0 6.1 names the property alone":   "notifications webHooks eventName url authorization headers",
			"the answer of create is not shown": "payPageUrl",
			"the answer of the retrieval is not shown": "summary paymentAmount authorizedAmount capturedAmount refundedAmount paymentDetails " +
				"paymentMethodType paymentMethodDescription maskedPan authorizations captures refunds dateTime",
		}},
	{"tokens", "0 2.5, 0 4.2, 0 7",
		map[string]string{"an empty cell": "none", "a route": "authorize capture cancel", "the problem body, which wire owns": "type title status instance"}, nil},
	{"webhooks", "0 6.2, 0 6.3, 0 6.4, 0 6.5",
		map[string]string{"a value": "cancelled expired failed", "an event": "awaiting_signature signature_failed", "a word of a sentence": "measurement submittable"},
		map[string]string{"receivers demand it": "acsUrl", "reads like a type": "number"}},
	{"onboarding", "0 6.5",
		map[string]string{"a value": "cancelled expired failed", "an event": "awaiting_signature signature_failed", "a word of a sentence": "submittable",
			"listed by webhooks": "id timestamp event data"},
		map[string]string{
			"the application is not shown": "reference merchant registrationNumber companyName contactFirstName contactLastName address address1 address2 " +
				"city postalCode countryCode email phone created updated",
			"S0 6.1 names the property alone": "notifications webHooks eventName url authorization headers",
		}},
	{"paylinks", "1 2.1, 1 2.2, 1 4.1",
		map[string]string{"a value": "waiting confirmed authorized reserved refunded", "a word of a sentence": "an below cents s",
			"the envelope of answers": "data", "three names are": "custom_field", "the address of the service": "payment_link_url",
			"what stands in brackets": "index key of subkey"},
		map[string]string{"reads like a value": "ApiSignature", "stands alone in a sentence": "names"}},
	{"disputes", "1 2.3, 1 4.2",
		map[string]string{"a word of a sentence": "all none dispute fraud retrieval document reference signed", "in paths and queries": "disputeId encoding sizeLimit"},
		map[string]string{"a prefix stands for them": "rawAuthority rawFragment rawPath rawQuery rawSchemeSpecificPart rawUserInfo"}},
	{"aapay", "1 2.4", map[string]string{"a word of a sentence": "id mobile organisation", "a key of the caller's": "country"}, nil},
	{"methods", "1 2.5", map[string]string{"a constant of the formula": "staleAgePercent"}, map[string]string{"reads like a value": "Qr"}},
	{"hosted", "2 2.1, 2 2.2, 2 2.3, 2 4, 2 6, 2 7",
		map[string]string{"a word of a sentence": "an listed of authorization cardholder conditions days online unauthorized wallets", "a route": "finalize_payment",
			"an address": "merchant_notification_url"},
		map[string]string{"the operator's words stand in its place": "merchantUrl", "stands alone in a cell": "action date"}},
}

// TestFields compares what each service lists in testdata/fields.txt with the tables of the specification's documents in the
// folder SPEC; without the variable there is nothing to compare with.
func TestFields(t *testing.T) {
	spec := os.Getenv("SPEC")
	if spec == "" {
		return
	}
	files, err := filepath.Glob(filepath.Join(spec, "*.txt"))
	require.NoError(t, err)
	require.Len(t, files, 3, "documents in "+spec)
	var documents []map[string][]string
	for _, f := range files { // sorted
		data, err := os.ReadFile(f)
		require.NoError(t, err)
		documents = append(documents, parts(string(data)))
	}
	for _, s := range specified {
		shown := map[string]bool{}
		for _, at := range strings.Split(s.sections, ", ") {
			lines := documents[at[0]-'0'][at[2:]]
			require.NotEmpty(t, lines, "S"+at)
			maps.Copy(shown, names(lines))
		}
		listed := map[string]bool{}
		data, err := os.ReadFile(filepath.Join(root(t), "schemes", s.service, "testdata", "fields.txt"))
		require.NoError(t, err)
		for line := range strings.Lines(string(data)) {
			if path, _, ok := strings.Cut(line, " "); ok && path[0] != '#' {
				listed[last(path)] = true
			}
		}
		for why, list := range s.words {
			for w := range strings.FieldsSeq(list) {
				if !shown[w] {
					t.Errorf("%s: %q (%s) is not in the specification: take it out of the table", s.service, w, why)
				}
				if listed[w] {
					t.Errorf("%s: %q (%s) is listed all the same", s.service, w, why)
				}
				delete(shown, w)
			}
		}
		theirs := map[string]bool{}
		maps.Copy(theirs, listed)
		for why, list := range s.ours {
			for w := range strings.FieldsSeq(list) {
				if shown[w] || !listed[w] {
					t.Errorf("%s: %q (%s) is in the specification, or not listed: take it out of the table", s.service, w, why)
				}
				delete(theirs, w)
			}
		}
		missing, besides := beyond(shown, theirs), beyond(theirs, shown)
		t.Logf("%-10s %3d names in the specification, %3d listed, %2d of them ours; not listed: %v; not in the specification: %v",
			s.service, len(shown), len(listed), len(listed)-len(theirs), missing, besides)
		if len(missing)+len(besides) > 0 {
			t.Errorf("%s: the list and the specification differ", s.service)
		}
	}
}

// beyond are the names of a that b has not, sorted.
func beyond(a, b map[string]bool) []string {
	var out []string
	for name := range a {
		if !b[name] {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// last is the last name of a path like a.b[].c or a.b{}.
func last(path string) string {
	return strings.TrimRight(path[strings.LastIndexByte(path, '.')+1:], "[]{}")
}

var heading = regexp.MustCompile(`^#+ ([0-9]+(?:\.[0-9]+)*)\.? `)

// parts cuts a document at its numbered headings.
func parts(text string) map[string][]string {
	out, at := map[string][]string{}, ""
	for line := range strings.Lines(text) {
		if m := heading.FindStringSubmatch(line); m != nil {
			at = m[1]
		} else {
			out[at] = append(out[at], strings.TrimSpace(line))
		}
	}
	return out
}

var (
	word = regexp.MustCompile(`[A-Za-z_][A-Za-z0-9_]*(?:-[A-Za-z]+)*`)
	// A name in small letters is told from a word by what stands around it: it is one of a list, or is followed by its type.
	before = regexp.MustCompile(`(?:^|[({,:;[]|\b(?:and|of|with|array|fields|Items|keys|has|body))\s*$`)
	after  = regexp.MustCompile(`^(?:\[\]|: an object|\s*(?:[,;){}\]]|$|\.(?:\s|$)|\((?:[A-Z]|string|integer|number|bool|array|object|int|uuid)|(?:strings?|integers?|numbers?|booleans?|object|array|int32|int64|map|keyed)\b|and [A-Za-z]+ \())`)
	kinds  = strings.Fields("string strings integer integers number boolean booleans object objects array int int32 int64 map double float date byte required optional nullable binary uuid")
)

// names finds the field names of a section: the first column of tables whose header begins with Field or Name, and in other
// cells and sentences what is spelt like a name (camelCase, snake_case) or stands in a list like one.
func names(lines []string) map[string]bool {
	out := map[string]bool{}
	head, field := true, false
	for _, line := range lines {
		if !strings.HasPrefix(line, "|") {
			head = true
			loose(line, out)
			continue
		}
		cells := strings.Split(strings.Trim(line, "|"), "|")
		first := strings.TrimSpace(cells[0])
		switch {
		case head:
			head, field = false, first == "Field" || first == "Name"
			continue
		case strings.Trim(first, "-: ") == "":
			continue
		case field:
			for name := range strings.SplitSeq(first, ",") {
				if name = last(strings.TrimSpace(name)); !strings.Contains(name, " ") { // words are the operator's, in a name's place
					out[name] = true
				}
			}
			cells = cells[1:]
		}
		for _, c := range cells {
			loose(strings.TrimSpace(c), out)
		}
	}
	return out
}

func loose(text string, out map[string]bool) {
	for _, at := range word.FindAllStringIndex(text, -1) {
		w := text[at[0]:at[1]]
		camel := strings.ContainsFunc(w[1:], func(r rune) bool { return r == '_' || r >= 'A' && r <= 'Z' })
		switch {
		case w[0] < 'a' || w[0] > 'z' || slices.Contains(kinds, w):
		case camel, !strings.Contains(w, "-") && before.MatchString(text[:at[0]]) && after.MatchString(text[at[1]:]):
			out[w] = true
		}
	}
}

// TestFieldsOfEveryService: each list has its row.
func TestFieldsOfEveryService(t *testing.T) {
	lists, err := filepath.Glob(filepath.Join(root(t), "schemes/*/testdata/fields.txt"))
	require.NoError(t, err)
	var have, want []string
	for _, l := range lists {
		have = append(have, filepath.Base(filepath.Dir(filepath.Dir(l))))
	}
	for _, s := range specified {
		want = append(want, s.service)
	}
	require.ElementsMatch(t, want, have)
}

// TestFieldsAreFound: what TestFields reads out of tables and sentences.
func TestFieldsAreFound(t *testing.T) {
	at := parts("# A\n## 2. B\n### 2.1 C\n| Field | Type |\n|---|---|\n| one, a.two[] | object | three (string), and fourFive is good |\n\n" +
		"| Method | Path |\n|---|---|\n| POST | sends: six, se_ven. Of ONE or Two |\n### 2.2 D\nThe answer: eight (string), nine booleans, ten {eleven, twelve[]}.\n")
	require.Equal(t, []string{"fourFive", "one", "se_ven", "six", "three", "two"}, beyond(names(at["2.1"]), nil))
	require.Equal(t, []string{"eight", "eleven", "nine", "ten", "twelve"}, beyond(names(at["2.2"]), nil))
}
