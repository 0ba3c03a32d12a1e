package badinput

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const (
	casesAt   = "/api/v1/disputes"
	loginWord = "login-canary-20881" // a password that the service carries and keeps nowhere
)

// coded judges an answer of the dispute service that is a code of S1 7: 200, responseCode 99.
func (x *teller) coded(number, input, answer, code string) {
	got := field(answer, "disputeErrorCode") + field(answer, "errorCode")
	ok := strings.HasPrefix(status(answer), "200") && field(answer, "responseCode") == "99" && got == code && !strings.Contains(answer, "Access-Control-Allow")
	x.rows = append(x.rows, row{number, x.what + ": " + input, status(answer) + " " + got, ok, 0})
}

// caseRows are B and C of the dispute routes.
func (x *teller) caseRows(t *testing.T) {
	const patch = "Content-Type: application/json"
	bought := func() string {
		id := field(x.pay(strings.Replace(goodMoto, "Authorize", "Sale", 1)), "paymentId")
		require.NotEmpty(t, id)
		return id
	}
	id := bought()
	good := `{"notes":"one","providerTransactionID":"` + id + `","providerFraudReasonCode":"F001","transactionAmount":1250,"transactionCurrency":"EUR",` +
		`"cardHolderName":"Ada","documentsList":[{"documentBinary":"eA==","documentID":"d-1","documentType":"slip","mimeType":"text/plain"}]}`
	with := func(old, now string) string { return strings.Replace(good, old, now, 1) }
	plain := good[:strings.Index(good, `,"documentsList"`)] + "}" // documents come before what becomes of them is known
	bare := func(old, now string) string { return strings.Replace(plain, old, now, 1) }
	x.as("disputes", problem)
	browsers(x, "POST", casesAt, good, "403")
	list := unreadable(good)
	add := func(more []bad) { list = append(list, more...) }
	add(variants("B32", good, "1250", "?", "01", "+1", "0x10", "NaN", "Infinity"))
	add(variants("B34", good, "1250", "?", `"1250"`, "[]", "{}", "true"))
	add(variants("B34", good, `"one"`, "?", "1", "[]", "{}"))
	add(variants("B34", good, `[{"documentBinary"`, `?,"x":[{"documentBinary"`, "{}", `"x"`, "[1]", "[[]]", "[{}]"))
	add(variants("B42", good, `"notes"`, `"claimValidationRequired":"?","notes"`, "y", "YES", "true", `Y\u0000`))
	add(variants("B44", good, "F001", "?", append([]string{strings.Repeat("1", 10_240)}, texts...)...))
	add(variants("B46", good, `"one"`, `"?"`, append([]string{strings.Repeat("1", 10_240)}, texts...)...))
	add(variants("B46", good, `"Ada"`, `"?"`, texts...))
	add(variants("B46", good, `"d-1"`, `"?"`, texts...))
	unfit := append(variants("B32", plain, "1250", "?", "1e3", "1.5", "-0.5"), variants("B33", plain, "1250", "?", "9223372036854775808", "-9223372036854775808", "1"+strings.Repeat("0", 400))...)
	unfit = append(unfit, variants("B43", plain, "EUR", "?", "eur", "€", "EURO", `EUR\u0000`)...)
	unfit = append(unfit, variants("B48", plain, `"notes"`, `"cardNumber":"?","notes"`, cardPAN, "%%%", base64.StdEncoding.EncodeToString(make([]byte, 255)), base64.StdEncoding.EncodeToString(make([]byte, 257)),
		base64.StdEncoding.EncodeToString([]byte(strings.Repeat("x", 256))), base64.URLEncoding.EncodeToString([]byte(strings.Repeat("\xff", 256))))...)
	add(variants("B49", good, `"notes"`, `"transactionTime":"?","notes"`, "24:00:00", "1:2:3", "noon", "00:00"))
	update := `{"notes":"two","privateNotes":"own","password":"` + loginWord + `","userID":"` + loginWord + `","accessToken":"` + loginWord + `"}`
	x.unmoved(t, func() {
		x.send("POST", casesAt, list)
		for _, c := range unfit {
			x.coded(c.number, c.input, x.call("POST", casesAt, c.body), "DIS0004E")
		}
		x.envelopes("POST", casesAt, good)
		x.row("B37", "a list of 100,000 pairs", x.call("POST", casesAt, with(`"notes"`, `"additionalDataList":[`+strings.TrimSuffix(strings.Repeat("1,", 100_000), ",")+`],"notes"`)), "400 413")
		x.row("B37", "51 pairs", x.call("POST", casesAt, with(`"notes"`, `"additionalDataList":[`+strings.TrimSuffix(strings.Repeat(`{"name":"a","value":"b"},`, 51), ",")+`],"notes"`)), "400")
		x.row("B37", "21 documents", x.call("POST", casesAt, with(`[{"doc`, `[`+strings.Repeat(`{"documentBinary":"eA=="},`, 20)+`{"doc`)), "413")
		x.row("B38", "a document and a body above 16 MiB", x.call("POST", casesAt, with("eA==", strings.Repeat("QUJD", 16<<18+1))), "413 closed")
		x.row("B35", "cut in a document", x.call("POST", casesAt, good[:strings.Index(good, "eA==")+2]), "400")
		for _, d := range []string{"2026-02-30", "0000-00-00", "21.11.2026", "2026-1-1", "2026-11-21T00:00:00Z", "99999-01-01"} {
			x.coded("B49", "transactionDate "+d, x.call("POST", casesAt, bare(`"notes"`, `"transactionDate":"`+d+`","notes"`)), "DIS0012E")
			x.coded("B49", "created on "+d, x.call("POST", casesAt+"/list", `{"disputeCreatedDate":"`+d+`"}`), "DIS0012E")
		}
		for _, a := range []string{"0", "-1", "1.5", "1251", "9007199254740993", "9223372036854775808"} {
			x.coded("B33", "disputeAmount "+a, x.call("POST", casesAt, bare(`"notes"`, `"cardSchemeDisputeReasonCode":"4853","disputeAmount":`+a+`,"notes"`)), "DIS0005E")
		}
		x.coded("B43", "disputed in another currency", x.call("POST", casesAt, bare(`"notes"`, `"cardSchemeDisputeReasonCode":"4853","disputeAmount":1,"disputeCurrency":"JPY","notes"`)), "DIS0005E")
		x.coded("B42", "two reasons of the operator", x.call("POST", casesAt, bare(`"notes"`, `"providerRetrvRequestReasonCode":"R001","notes"`)), "DIS0004E")
		x.coded("B42", "no reason", x.call("POST", casesAt, bare(`"providerFraudReasonCode":"F001",`, "")), "DIS0004E")
		x.coded("B42", "straight through without the scheme's", x.call("POST", casesAt, bare(`"notes"`, `"claimValidationRequired":"N","notes"`)), "DIS0004E")
		x.coded("B31", "nothing to find a transaction by", x.call("POST", casesAt, bare(`"providerTransactionID":"`+id+`",`, "")), "DIS0004E")
		for _, n := range []string{"-1", "1;2", "1 OR 1=1", "' OR '1'='1", "１", "%", "_", strings.ToUpper(id), id[:len(id)-1]} {
			x.coded("C63", fmt.Sprintf("transaction %.12s", n), x.call("POST", casesAt, bare(id, n)), "DIS0002E")
		}
		x.coded("C63", "a transaction of another amount", x.call("POST", casesAt, bare("1250", "1251")), "DIS0002E")
		x.strangers("POST", casesAt, good)
		x.strangers("GET", casesAt+"/document/1", "")
		x.keys("POST", casesAt, good)

		x.send("POST", casesAt+"/list", unreadable(`{"disputeCaseNumber":"500001"}`))
		x.send("POST", casesAt+"/list-cases-by-queue", unreadable(`{"queueID":7000}`))
		x.envelopes("POST", casesAt+"/list", `{"disputeCaseNumber":"500001"}`)
		for _, k := range []string{"-1", "0", "01", "x", "9223372036854775808", "1e3", "１"} {
			x.row("C66", "list, nextPageKey "+k, x.call("POST", casesAt+"/list", `{"disputeCaseNumber":"500001","nextPageKey":"`+k+`"}`), "400")
			x.row("C66", "queue, nextPageKey "+k, x.call("POST", casesAt+"/list-cases-by-queue", `{"queueID":7000,"nextPageKey":"`+k+`"}`), "400")
		}
		for _, n := range []string{"-1", "501", "1000000000", "2147483648", "1.5", `"50"`} {
			x.row("C66", "list, a page of "+n, x.call("POST", casesAt+"/list", `{"disputeCaseNumber":"500001","numberOfDisputeCases":`+n+`}`), "400")
		}
		x.coded("B31", "a list of everything", x.call("POST", casesAt+"/list", "{}"), "DIS0004E")
		x.coded("B31", "no queue", x.call("POST", casesAt+"/list-cases-by-queue", "{}"), "DIS0004E")
		for _, q := range []string{"999", "-1", "7001", "2147483648", "7e3", `"7000"`, "7000.0"} {
			x.row("B33", "queue "+q, x.call("POST", casesAt+"/list-cases-by-queue", `{"queueID":`+q+`,"password":"`+loginWord+`"}`), "400")
		}
		for _, n := range []string{"-1", "0", "9223372036854775808", "1;2", "1%20OR%201=1", "%EF%BC%91", "..%2F..%2Fetc%2Fpasswd", "%2e%2e", "%00", "%ff", strings.Repeat("a", 1024)} {
			x.row("C65", fmt.Sprintf("document %.24s", n), x.call("GET", casesAt+"/document/"+n, ""), "404 400 30")
		}
		for _, m := range []string{"GET", "PUT", "DELETE", "PATCH"} {
			x.row("A17", m+" of the cases", x.call(m, casesAt, "", patch), "405")
		}
		x.row("A17", "POST of a document", x.call("POST", casesAt+"/document/1", "{}"), "405")
		x.row("A16", "three pieces", x.call("GET", casesAt+"/document/1/2", ""), "404")
	})

	for _, c := range variants("B27", good, "eA==", "?", "e", "eA=", "eA==eA==", "%%%%", "e-_=", `eA==\u0000`, "eA==\\n \\r") {
		answer := x.call("POST", casesAt, strings.Replace(c.body, id, bought(), 1))
		named := field(answer, "responseCode") == "01" && strings.Contains(answer, "documentsList[0]: ")
		x.rows = append(x.rows, row{c.number, x.what + ": " + c.input + ", left out and named", status(answer), named, 0})
	}

	const key = "Idempotency-Key: case-one"
	number := field(x.call("POST", casesAt, good, key), "disputeCaseNumber")
	require.NotEmpty(t, number)
	x.unmoved(t, func() {
		x.row("C59", "the same key with another body", x.call("POST", casesAt, plain, key), "422")
		x.coded("C59", "the transaction again", x.call("POST", casesAt, plain), "DIS0009E")
		at := casesAt + "/" + number
		for _, c := range unreadable(update) {
			want := "400"
			if c.number == "B36" || c.number == "B38" {
				want = "413"
			}
			x.row(c.number, "update, "+c.input, x.call("PATCH", at, c.body, patch), want)
		}
		for _, n := range []string{"-1", "0", "9223372036854775808", "1;2", "1%20OR%201=1", "%EF%BC%91", "0" + number, "%2e%2e", "%00", strings.Repeat("a", 1024)} {
			x.row("C65", fmt.Sprintf("update of %.20s", n), x.call("PATCH", casesAt+"/"+n, update, patch), "404 400")
		}
		x.row("C64", "another case in the body than in the path", x.call("PATCH", at, `{"notes":"x","disputeCaseNumber":"500099"}`, patch), "400")
		x.row("C64", "another group", x.call("PATCH", at, `{"notes":"x","disputeGroupNumber":"1"}`, patch), "400")
		x.row("C64", "another card", x.call("PATCH", at, `{"notes":"x","cardID":"1"}`, patch), "400")
		x.row("C62", "two moves at once", x.call("PATCH", at, `{"submitDispute":"Y","closeDispute":"Y"}`, patch), "400")
		for _, m := range []string{"acknowledgeClosure", "rejectClosure"} {
			x.coded("C62", m+" of what is not closed", x.call("PATCH", at, `{"`+m+`":"Y"}`, patch), "DIS0101E")
		}
		x.coded("B31", "an update of nothing", x.call("PATCH", at, `{"submitDispute":"N"}`, patch), "DIS0004E")
		x.row("A17", "GET of a case", x.call("GET", at, ""), "405")
		for _, n := range []string{"0", "-1", "1e3", "01", "9223372036854775808", "x"} {
			x.row("B33", "sizeLimit "+n, x.call("GET", casesAt+"/document/d-1?sizeLimit="+n, ""), "400")
		}
		x.row("B46", "an encoding with a line end", x.call("GET", casesAt+"/document/d-1?encoding=a%0D%0Ab", ""), "400")
	})
	x.row("C59", "the same key with another document", x.call("POST", casesAt, with("eA==", "eQ=="), key), "422")
	same := crowd(50, 4, func() bool { return field(x.call("POST", casesAt, good, key), "disputeCaseNumber") == number })
	x.count("C61", "the same request 200 times from 50 callers, the first answer", same, 200)
	x.row("C62", "the update itself, with secrets and a card number", x.call("PATCH", casesAt+"/"+number, strings.Replace(update, `"own"`, `"own `+cardPAN+`"`, 1), patch), "200")
	won := crowd(100, 1, func() bool {
		return field(x.call("PATCH", casesAt+"/"+number, `{"submitDispute":"Y"}`, patch), "responseCode") == "00"
	})
	x.count("C62", "100 submissions at once, that move the case", won, 1)
	other := strings.Replace(good, id, bought(), 1)
	if x.full {
		big := x.call("POST", casesAt, strings.Replace(other, "eA==", base64.StdEncoding.EncodeToString(make([]byte, 10<<20+1)), 1))
		x.rows = append(x.rows, row{"B38", x.what + ": a document of 10 MiB + 1, left out", status(big), field(big, "responseCode") == "01", 0})
	} else {
		x.row("B48", "a card number in the notes, hidden", x.call("POST", casesAt, strings.Replace(other, `"one"`, `"`+cardPAN+`"`, 1)), "200")
	}
}

// TestBadInputOfCases sends B and C to the dispute and hosted build routes, and to the pages of the latter.
func TestBadInputOfCases(t *testing.T) {
	t.Parallel()
	x := built(t)
	began := time.Now()
	x.caseRows(t)
	empty := x.books(t)
	x.buildRows(t)
	require.Equal(t, empty, x.books(t), "no bad input moved anything")
	x.fieldRows(t)
	x.judge(t, "disputes, hosted build and its fields", x.slowest, began, append(x.hidden, loginWord, apiKeyWord)...)
}
