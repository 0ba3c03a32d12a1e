package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/schemes/paylinks"
	"posagent/schemes/payments"
	"posagent/schemes/tokens"
	"posagent/schemes/wire"
)

// lostThings are the names of what a terminal made after the copy that is put back.
type lostThings struct {
	sale, transaction   string
	receipt             int
	payment, key, token string
	link                int64
}

// makes lets the terminal sell, pay, store a card and make a link.
func (p *program) makes() (l lostThings) {
	ctx, main := p.t.Context(), p.client("demo", p.main())
	p.registered(exitOK, "pay", "12.50")
	var list struct {
		Sales []struct {
			ID            string
			Receipt       int
			TransactionID int64
		}
	}
	require.NoError(p.t, json.Unmarshal([]byte(p.verb("sale", "list", "--json")), &list))
	newest := list.Sales[0]
	for _, s := range list.Sales {
		if s.Receipt > newest.Receipt {
			newest = s
		}
	}
	l.sale, l.receipt, l.transaction = newest.ID, newest.Receipt, strconv.FormatInt(newest.TransactionID, 10)
	paid, err := main.pay.Create(ctx, "till-1-order-7", moto(1250))
	require.NoError(p.t, err)
	l.payment = paid.PaymentID
	_, found := main.get("/agent/v1/operations/till-1-order-7")
	l.key = regexp.MustCompile(`"key":"([0-9a-f-]{36})"`).FindStringSubmatch(found)[1]
	stored, err := main.tok.Create(ctx, "till-1-card-7", tokens.CreateRequest{CardDetails: &tokens.CardDetails{PAN: wire.NewPAN("4111111111111111"), ExpiryYear: 2099, ExpiryMonth: 12}})
	require.NoError(p.t, err)
	_, found = main.get("/agent/v1/operations/" + stored.TokenizationID)
	l.token = regexp.MustCompile(`"localId":"(L[0-9a-f-]{36})"`).FindStringSubmatch(found)[1]
	link, err := main.links.Create(ctx, "", order())
	require.NoError(p.t, err)
	_, found = main.get("/agent/v1/operations/" + strconv.FormatInt(link.ID, 10))
	l.link, err = strconv.ParseInt(regexp.MustCompile(`"localId":"(2\d{9})"`).FindStringSubmatch(found)[1], 10, 64)
	require.NoError(p.t, err)
	return l
}

func moto(amount int32) payments.CreateRequest {
	return payments.CreateRequest{Type: payments.Moto, Amount: amount, CurrencyCode: "EUR", Processing: payments.ProcessSale, PaymentNumber: "N1",
		CardDetails: &payments.CardDetails{PAN: wire.NewPAN("4111111111111111"), ExpiryYear: 2099, ExpiryMonth: 12}}
}

func order() paylinks.CreateRequest {
	return paylinks.CreateRequest{Title: "Order", Description: "Thank you", ReferenceID: "r", Purpose: "Order", Amount: 1250, Currency: "EUR"}
}

// registered lets a register do something at the terminal's line, wants an exit code and returns what it printed.
func (p *program) registered(want int, args ...string) string {
	p.t.Helper()
	args = append(append([]string{"register"}, args...), "--trace", "--line", "tcp:"+p.register, "--currency", "EUR", "--state", filepath.Join(p.dir, "r"))
	code, out, talk := ask(p.t, args...)
	require.Equal(p.t, want, code, "%v: %s%s", args, out, talk)
	return out + talk
}

// accepted stops a terminal, puts an older copy of its journal in the place of its own, and lets a person accept that.
func (p *program) accepted(copied string) *program {
	p.t.Helper()
	p.end()
	for _, name := range []string{"agent.db", "agent.db-wal"} {
		data, err := os.ReadFile(filepath.Join(copied, name))
		require.NoError(p.t, err)
		require.NoError(p.t, os.WriteFile(filepath.Join(p.dir, "s", name), data, 0o600))
	}
	require.Contains(p.t, p.verb("journal", "accept", "--reason", "the register was compared"), "generation 2 begins")
	return runProgramIn(p.t, p.dir)
}

// What a lost journal may have made is never answered with a final no: the backend is asked where that is possible, and every other
// answer says that the journal was replaced, when, and what to do. A journal that was not replaced says no as ever.
func TestField_C8ALostJournalIsNoFinalNo(t *testing.T) {
	t.Parallel()
	p := runProgram(t, twoClients)
	p.registered(exitOK, "pay", "3.00")
	copied := t.TempDir()
	require.NoError(t, freeze(filepath.Join(p.dir, "s"), copied))
	main, alpha := p.client("demo", p.main()), p.client("alpha", "alpha-token-0123456789")
	none := wire.NewKey()
	for _, at := range []string{"operations/" + string(none), "operations/no-such-key", "sales/" + string(none)} {
		status, text := main.get("/agent/v1/" + at)
		require.Equal(t, 404, status, text)
	}
	l := p.makes()
	p = p.accepted(copied)
	main, alpha = p.client("demo", p.main()), p.client("alpha", "alpha-token-0123456789")
	now := time.Now().UTC()
	today := "(" + now.Format(time.DateOnly) + "|" + now.AddDate(0, 0, -1).Format(time.DateOnly) + ")" // it may have been before midnight
	says := func(text string) {
		t.Helper()
		require.Regexp(t, `took the place of another on `+today+` \(generation 2\)`, text)
	}

	for _, c := range []*client{main, alpha} {
		for _, name := range []string{l.key, "L" + l.key, l.payment, "till-1-order-7", l.token, strconv.FormatInt(l.link, 10)} {
			status, text := c.get("/agent/v1/operations/" + name)
			require.Equal(t, 504, status, "%s: %s", name, text)
			says(text)
			require.Contains(t, text, "compare the backend's portal before it is done again")
			require.NotContains(t, text, "Idempotency-Key", "a link's would be a second link")
		}
	}
	status, text := main.get("/agent/v1/sales/" + l.sale)
	require.Equal(t, 504, status, text)
	says(text)
	require.Contains(t, text, "The backend says: transaction "+l.transaction+" is FINALIZED COMMIT")
	_, text = main.get("/agent/v1/sales/" + string(none))
	require.Contains(t, text, "The backend says: no transaction has this terminalReference")

	for _, c := range []*client{main, alpha} {
		for _, id := range []string{"L" + l.key, l.key} {
			_, err := c.pay.Read(t.Context(), id)
			require.Equal(t, wire.UnknownOutcome, readAs(err), "%s: %v", id, err)
			says(err.Error())
		}
		_, err := c.tok.Token(t.Context(), l.token)
		require.Equal(t, wire.UnknownOutcome, readAs(err), "%v", err)
		says(err.Error())
		_, err = c.links.Read(t.Context(), l.link)
		require.Equal(t, wire.UnknownOutcome, readAs(err), "%v", err)
		says(err.Error())
		_, err = c.links.Delete(t.Context(), "", l.link)
		require.Equal(t, wire.UnknownOutcome, wire.CodeOf(err), "%v", err)
		_, err = c.pay.Refund(t.Context(), "", "L"+l.key, payments.RefundRequest{Amount: new(int32(10))})
		require.Equal(t, wire.UnknownOutcome, wire.CodeOf(err), "%v", err)
		says(err.Error())
	}
	_, err := alpha.schemes.Status(t.Context(), "reference-of-alpha", "")
	require.ErrorContains(t, err, "took the place of another")
	_, err = main.pay.Read(t.Context(), l.payment)
	require.NoError(t, err, "the backend's own id is asked there")
	status, text = get(t, p.port+"/pay/L"+l.key)
	require.Equal(t, 200, status)
	require.Contains(t, text, "ask the shop before you pay again")
	for range 4 { // the lost journal had made three things
		again, err := main.links.Create(t.Context(), "", order())
		require.NoError(t, err)
		_, text = main.get("/agent/v1/operations/" + strconv.FormatInt(again.ID, 10))
		require.NotContains(t, text, strconv.FormatInt(l.link, 10), "a number that may be given out already is not given again")
	}

	for _, args := range [][]string{{"ops", "show", l.key}, {"ops", "show", "till-1-order-7"}, {"sale", "show", l.sale}} {
		code, out, talk := ask(t, append(args, "--config", filepath.Join(p.dir, "c.toml"), "--state", filepath.Join(p.dir, "s"))...)
		require.Equal(t, exitFailed, code, out)
		says(talk)
		if args[0] == "sale" {
			require.Contains(t, talk, "terminalReference "+strings.ReplaceAll(l.sale, "-", ""))
		}
	}

	told := p.registered(exitFailed, "repeat")
	require.Contains(t, told, "061E01FF", "neither the sale before, nor 83, which is a final no")
	require.NotContains(t, told, "040F", "the two together are what a failed sale looks like")
	for _, args := range [][]string{{"reverse", strconv.Itoa(l.receipt)}, {"refund", "1.00", "--original", "R" + strconv.Itoa(l.receipt)}, {"refund", "1.00", "--original", "T" + l.transaction}} {
		told = p.registered(exitFailed, args...)
		require.Regexp(t, "the journal was replaced on "+today, told, "%v", args)
	}
	p.registered(exitOK, "pay", "5.00")
	require.Contains(t, p.registered(exitOK, "repeat"), "5.00", "the line's newest sale is in this journal")

	repeated, err := main.pay.Create(t.Context(), "till-1-order-7", moto(1250))
	require.NoError(t, err)
	require.Equal(t, l.payment, repeated.PaymentID, "the remedy: the backend's answer to the same write")
	status, _ = main.get("/agent/v1/operations/till-1-order-7")
	require.Equal(t, 200, status)
}

// readAs is the code of a reading's error as it came over the wire.
func readAs(err error) wire.Code {
	if strings.Contains(err.Error(), "took the place of another") {
		return wire.UnknownOutcome
	}
	return wire.CodeOf(err)
}
