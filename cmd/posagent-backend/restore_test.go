package main

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/cmd/usage"
	"posagent/schemes/payments"
	"posagent/schemes/wire"
	"posagent/store/postgres/pgtest"
)

// A server that was restored to a point in time lacks what came after it. Every process refuses it until it is told to take it; then a
// client that has the Keys of what it asked finds exactly what is lost by reading, and asking again by the same Keys, as often as it likes,
// has one effect each.
func TestRestoredToAPointInTime(t *testing.T) {
	db := pgtest.Start(t, "archive_mode=on")
	place := db.URL("")
	first := begin(t, place, nil, "")
	second := begin(t, place, first, "")
	both := []*process{first, second}

	type asked struct { // a payment, and perhaps a refund of it
		sale, refund wire.Key
		id           string
	}
	pay := func(a *asked, p *process) {
		t.Helper()
		out, err := p.payments().Create(t.Context(), a.sale, sale(""))
		require.NoError(t, err)
		if a.id != "" {
			require.Equal(t, a.id, out.PaymentID)
		}
		a.id = out.PaymentID
	}
	giveBack := func(a *asked, p *process) {
		t.Helper()
		amount := int32(200)
		_, err := p.payments().Refund(t.Context(), a.refund, a.id, payments.RefundRequest{Amount: &amount})
		require.NoError(t, err)
	}
	sales := make([]*asked, 8)
	sell := func(from, to int) {
		for i := from; i < to; i++ {
			sales[i] = &asked{sale: wire.NewKey(), refund: wire.NewKey()}
			pay(sales[i], both[i%2])
		}
	}
	sell(0, 2)
	giveBack(sales[0], first)
	require.NoError(t, db.Backup())
	sell(2, 5)
	giveBack(sales[2], first)
	db.Exec("", "SELECT pg_create_restore_point('lunch')")
	giveBack(sales[1], first)  // of a payment that is there after the restore
	giveBack(sales[3], second) // as well
	sell(5, 8)
	giveBack(sales[6], second)
	require.Equal(t, 8*500-5*200, merchant(t, place))
	for _, p := range both {
		p.end()
	}
	db.Crash()
	require.NoError(t, db.Restore("recovery_target_name='lunch'"))

	for _, p := range both {
		code, _, talk := ask("--db", place, "--state", p.dir, "--tolerate", "no-fsync", "--listen", "127.0.0.1:0")
		require.Equal(t, usage.ExitRefused, code, talk)
		require.Contains(t, talk, "database forget --reason")
		code, out, talk := ask("database", "--db", place, "--state", p.dir, "--tolerate", "no-fsync", "--json")
		require.Equal(t, usage.ExitRefused, code, talk)
		require.Contains(t, out, "what lies between is lost")
		code, _, talk = ask("database", "forget", "--reason", "restored to lunch", "--state", p.dir)
		require.Equal(t, usage.ExitOK, code, talk)
		p.begin(place)
		require.Equal(t, http.StatusNoContent, p.ready())
	}

	// What is lost, by reading.
	var lostSales, lostRefunds []int
	for i, a := range sales {
		got, err := both[i%2].payments().Read(t.Context(), a.id)
		switch {
		case wire.CodeOf(err) == wire.NotFound:
			lostSales = append(lostSales, i)
		default:
			require.NoError(t, err)
			require.EqualValues(t, 500, got.Summary.CapturedAmount)
		}
		if refunded := i < 4 || i == 6; refunded && got.Summary.RefundedAmount == 0 {
			lostRefunds = append(lostRefunds, i)
		}
	}
	require.Equal(t, []int{5, 6, 7}, lostSales)
	require.Equal(t, []int{1, 3, 6}, lostRefunds)
	require.Equal(t, 5*500-2*200, merchant(t, place))

	// Everything is asked again, of both processes: what is there has no further effect, and what is lost has one.
	for _, i := range lostSales {
		sales[i].id = "" // the payment is made anew
	}
	for range 2 {
		for _, p := range both {
			for i, a := range sales {
				pay(a, p)
				if i < 4 || i == 6 {
					giveBack(a, p)
				}
			}
		}
	}
	require.Equal(t, 8*500-5*200, merchant(t, place))
	for _, p := range both {
		p.end()
	}
}
