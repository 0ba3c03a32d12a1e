package reconcile_test

import (
	"errors"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/support/reconcile"
	"posagent/ecr"
)

// two are the rows that all good lists below have.
func two() []reconcile.Row {
	return []reconcile.Row{
		{Line: 2, Kind: ecr.Payment, Amount: 1250, Currency: "EUR", Paid: true, At: time.Date(2026, 11, 26, 13, 30, 5, 0, time.UTC), Receipt: 17},
		{Line: 3, Kind: ecr.Refund, Amount: 300, Currency: "SEK", Paid: false, At: time.Date(2026, 11, 26, 12, 31, 0, 0, time.UTC), ID: "order-18"},
	}
}

// TestRead: separators, order of columns, marks of spreadsheets, and both forms of JSON give the same rows.
func TestRead(t *testing.T) {
	zone := time.FixedZone("shop", 3600)
	for name, text := range map[string]string{
		"commas":     "time,type,amount,currency,paid,receipt,id\n2026-11-26T14:30:05,payment,12.50,,yes,17,\n2026-11-26T12:31Z,refund,3,sek,no,,order-18\n",
		"semicolons": "\xef\xbb\xbfTime;Type;Amount;Currency;Paid;Receipt;ID\r\n2026-11-26 14:30:05;sale;12.50;EUR;approved;17;\r\n\"2026-11-26T13:31:00+01:00\";refund;3.00;SEK;declined;;\"order-18\"\r\n;;;;;;\r\n ; ;;;;;\r\n",
		"order":      "paid,id,receipt,minor,time,currency,type\n1,,17,1250,2026-11-26T13:30:05Z,EUR,\nfalse,order-18,,300,2026-11-26T12:31:00.000Z,SEK,refund\n",
		"list":       "[\n{\"time\":\"2026-11-26T14:30:05\",\"amount\":12.50,\"paid\":true,\"receipt\":17},\n{\"time\":\"2026-11-26T12:31:00Z\",\"type\":\"refund\",\"amount\":\"3\",\"currency\":\"SEK\",\"paid\":\"no\",\"id\":\"order-18\"}]",
		"object":     "{\"till\":{\"no\":1},\"sales\":[\n{\"time\":\"2026-11-26T14:30:05\",\"minor\":1250,\"paid\":1,\"receipt\":\"17\"},\n{\"time\":\"2026-11-26T12:31:00Z\",\"type\":\"refund\",\"minor\":300,\"currency\":\"SEK\",\"paid\":false,\"id\":\"order-18\"}],\"end\":true}\n",
	} {
		list, err := reconcile.Read(strings.NewReader(text), "EUR", zone)
		require.NoError(t, err, name)
		require.Len(t, list.Rows, 2, name)
		for i, want := range two() {
			got := list.Rows[i]
			require.True(t, want.At.Equal(got.At), "%s: %s", name, got.At)
			want.At, got.At = time.Time{}, time.Time{}
			require.Equal(t, want, got, name)
		}
		require.Empty(t, list.Unused, name)
	}
	list, err := reconcile.Read(strings.NewReader("paid,amount,cashier,sale\nyes,1,Anna,0192F0C1-0000-7000-8000-000000000001\n"), "EUR", time.UTC)
	require.NoError(t, err)
	require.Equal(t, []string{"cashier"}, list.Unused)
	require.EqualValues(t, "0192f0c1-0000-7000-8000-000000000001", list.Rows[0].Sale)
	list, err = reconcile.Read(strings.NewReader("[]"), "EUR", time.UTC)
	require.NoError(t, err)
	require.Empty(t, list.Rows)
}

// TestReadRefuses: an error names its line, and what is wanted.
func TestReadRefuses(t *testing.T) {
	const head = "amount,paid,id\n"
	for _, want := range []struct {
		text string
		line int
		says string
	}{
		{"", 0, "the list is empty"},
		{"\xef\xbb\xbf \n", 0, "the list is empty"},
		{head + "1,yes,a\n2,yes,\xff\n", 3, "not UTF-8"},
		{"a,b,c\n1,2,3\n", 1, "the first line has to name the columns"},
		{"amount,id\n1,a\n", 1, "paid and amount among them"},
		{"amount,paid,id,Paid\n1,yes,a,no\n", 1, `two columns are named "paid"`},
		{head + "1,yes,a\n2,yes\n", 3, "more or fewer columns"},
		{head + "1,yes,a\n2,yes,b,c\n", 3, "more or fewer columns"},
		{head + "1,yes,\"a\n\nb\"\n2,yes,\"b\"c\n", 5, "quote"},
		{head + "1,yes,\"a\n", 2, "quote"},
		{"amount;paid;id\n12,50;yes;a\n", 2, "has a comma: want a decimal point"},
		{head + "12.505,yes,a\n", 2, "more decimals than EUR"},
		{head + "-1,yes,a\n", 2, "of type refund or reversal"},
		{head + "1e2,yes,a\n", 2, `amount "1e2" is no amount such as 12.50`},
		{head + ",yes,a\n", 2, "want one of amount"},
		{head + "1,maybe,a\n", 2, `paid "maybe" is neither yes`},
		{head + "1,yes,\n", 2, "nothing says which sale it is"},
		{"minor,paid,id\n12.5,yes,a\n", 2, "whole number of minor units"},
		{"amount,paid,receipt\n1,yes,0\n", 2, "no receipt number"},
		{"amount,paid,transaction\n1,yes,x\n", 2, "no transaction number"},
		{"amount,paid,time\n1,yes,26.11.2026\n", 2, "is not written as 2026-11-26T14:30:05"},
		{"amount,paid,id,currency\n1,yes,a,XQQ\n", 2, `currency "XQQ" is no code`},
		{"amount,paid,id,type\n1,yes,a,tip\n", 2, `type "tip" is none of`},
		{"[\n{\"amount\":1,\"paid\":true,\"id\":\"a\"},\n{\"amount\":1,\"paid\":true,\"id\":\"a\",\"id\":\"b\"}]", 3, "id"},
		{"[\n{\"amount\":1,\"paid\":true,\"id\":\"a\"},\n\n{\"amount\":1 \"paid\"}]", 4, "invalid"},
		{"[\n{\"amount\":1,\"paid\":true,\"id\":\"a\"}", 2, "the list ends too early"},
		{"[\n{\"amount\":[1],\"paid\":true,\"id\":\"a\"}]", 2, ""},
		{"[1]", 1, ""},
		{"{\"sales\":\n{}}", 2, `"sales" is no list`},
		{"{\"rows\":[]}", 1, `with the list "sales"`},
	} {
		list, err := reconcile.Read(strings.NewReader(want.text), "EUR", time.UTC)
		var le *reconcile.ListError
		require.True(t, errors.As(err, &le), "%q: %v", want.text, err)
		require.Equal(t, want.line, le.Line, "%q: %v", want.text, err)
		require.ErrorContains(t, err, want.says, want.text)
		require.Empty(t, list.Rows)
	}
}

// TestTheExamplesAreRead: the lists that the guide shows.
func TestTheExamplesAreRead(t *testing.T) {
	guide, err := os.ReadFile("README.md")
	require.NoError(t, err)
	examples := regexp.MustCompile("(?s)```\n(.*?)```").FindAllStringSubmatch(string(guide), -1)
	require.Len(t, examples, 3)
	for _, e := range examples {
		list, err := reconcile.Read(strings.NewReader(e[1]), "EUR", time.UTC)
		require.NoError(t, err, e[1])
		require.Len(t, list.Rows, 3, e[1])
		require.Empty(t, list.Unused)
	}
}

// FuzzRead: no list crashes the reader, and each row that is read can be compared.
func FuzzRead(f *testing.F) {
	f.Add([]byte("amount,paid,id\n12.50,yes,a\n"))
	f.Add([]byte("minor;paid;time\n1250;no;2026-11-26T14:30:05\n"))
	f.Add([]byte(`{"sales":[{"amount":12.50,"paid":true,"receipt":17}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		list, err := reconcile.Read(strings.NewReader(string(data)), "EUR", time.UTC)
		if err != nil {
			return
		}
		for _, r := range list.Rows {
			require.NotZero(t, r.Line)
			require.GreaterOrEqual(t, int64(r.Amount), int64(0))
			require.NotEmpty(t, r.Currency)
		}
	})
}
