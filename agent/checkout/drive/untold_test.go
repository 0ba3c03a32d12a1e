package drive_test

import (
	"context"
	"maps"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/outbox"
	"posagent/ecr"
	"posagent/schemes/wire"
)

// back gives 3.00 of a payment back, by one of the words that registers have for it.
type back func(o ecr.Outcome) ecr.Request

// backs are all of them: a part by ZVT 06 31 and 06 30, JSON lines, Caisse-AP; a whole by ZVT 06 30
// and ECR17 S.
func backs() map[string]back {
	return map[string]back{
		"R": func(o ecr.Outcome) ecr.Request {
			return ecr.Request{Kind: ecr.Refund, Amount: 300, Original: "R" + strconv.Itoa(o.Receipt)}
		},
		"R1/": func(o ecr.Outcome) ecr.Request {
			return ecr.Request{Kind: ecr.Refund, Amount: 300, Original: "R1/" + strconv.Itoa(o.Receipt)}
		},
		"T":    func(o ecr.Outcome) ecr.Request { return refundOf(o, 300) },
		"part": func(o ecr.Outcome) ecr.Request { return part(o.Receipt, 300) },
		"all":  func(o ecr.Outcome) ecr.Request { return ecr.Request{Kind: ecr.Reversal, Receipt: o.Receipt} },
		"L": func(o ecr.Outcome) ecr.Request {
			return ecr.Request{Kind: ecr.Reversal, Original: "L" + strconv.Itoa(o.Trace)}
		},
	}
}

// untolds are the ways in which an end stays untold.
func untolds() map[string]func(r *rig, s ecr.Sale) {
	end := func(how ecr.Delivery) func(*rig, ecr.Sale) {
		return func(r *rig, s ecr.Sale) { r.Approved(s, how) }
	}
	return map[string]func(*rig, ecr.Sale){
		"lost": end(ecr.Lost), "refused": end(ecr.Refused),
		"in progress": func(r *rig, s ecr.Sale) {
			require.Equal(r.t, ecr.InProgress, (<-s.Outcome).Result)
			r.Told(s, ecr.Told)
			r.world.lock(func() { r.world.mute = false })
			pass(10 * time.Minute)
		},
		"cut": func(r *rig, s ecr.Sale) {
			require.Equal(r.t, ecr.Approved, (<-s.Outcome).Result)
			r.Restart(true)
		},
	}
}

// meanwhile is what may come between a refund and its repetition.
func meanwhile() map[string]func(r *rig) {
	sale := func(r *rig) { r.approved(900) }
	return map[string]func(*rig){
		"nothing":  func(*rig) {},
		"a sale":   sale,
		"a refund": func(r *rig) { r.Approved(r.Accepted(refundOf(r.approved(900), 300)), ecr.Told) },
		"a sale elsewhere": func(r *rig) {
			r.world.onStatus = approveAfter(r.world, 1)
			r.Approved(r.Accepted(ecr.Request{Line: "other", Amount: 700}), ecr.Told)
		},
		"a start after a sale": func(r *rig) { sale(r); r.Restart(false) },
		"a boot after a sale":  func(r *rig) { sale(r); r.Restart(true) },
		"half a day of sales": func(r *rig) {
			for range 5 {
				sale(r)
				pass(3 * time.Hour)
			}
		},
	}
}

// untold makes a payment of 5.00 and takes 3.00, or all, of it back, without telling the end.
func (r *rig) untold(how string, word back) (paid ecr.Outcome, s ecr.Sale) {
	r.t.Helper()
	paid = r.approved(500)
	r.world.lock(func() { r.world.mute = how == "in progress" })
	s = r.Accepted(word(paid))
	untolds()[how](r, s)
	return paid, s
}

// A refund or reversal whose end was not told is joined by its repetition on its line, whatever has
// come between, until it was told. The kind: each way in which it stays untold, each word that a
// protocol has for it, and each thing that may come between. A repetition by another name of the
// same payment is one too.
func TestField2_M26AnUntoldEndIsJoinedByItsRepetition(t *testing.T) {
	words := backs()
	check := func(how, word, again, between string) {
		name := strings.Join([]string{how, word, again, between}, ", ")
		terminal(t, func(r *rig) {
			paid, first := r.untold(how, words[word])
			meanwhile()[between](r)
			before := r.world.net()
			for _, d := range []ecr.Delivery{ecr.Lost, ecr.Told} {
				s, err := r.Ask(words[again](paid))
				require.NoError(t, err, name)
				require.Equal(t, first.ID, s.ID, name)
				require.Equal(t, ecr.Approved, (<-s.Outcome).Result, name)
				r.Told(s, d)
			}
			require.Equal(t, before, r.world.net(), name)
		})
	}
	for how := range untolds() {
		for word := range words {
			check(how, word, word, "a sale")
		}
		for between := range meanwhile() {
			check(how, "R", "R", between)
		}
	}
	for _, word := range []string{"R", "R1/", "T", "part"} { // one payment has many names
		for _, again := range []string{"R", "R1/", "T", "part"} {
			check("lost", word, again, "a sale")
		}
	}
	check("lost", "L", "all", "a sale")
	check("lost", "all", "L", "a sale")
}

// What is none of its repetitions is a refund of its own: on another line, of another amount or
// payment, once the end was told, and on another day.
func TestField2_M26NothingElseJoinsAnUntoldEnd(t *testing.T) {
	ctx := context.Background()
	refund := backs()["R"]
	others := map[string]func(r *rig, paid ecr.Outcome, s ecr.Sale) ecr.Request{
		"another line": func(_ *rig, paid ecr.Outcome, _ ecr.Sale) ecr.Request {
			req := refund(paid)
			req.Line = "other"
			return req
		},
		"another amount": func(_ *rig, paid ecr.Outcome, _ ecr.Sale) ecr.Request { return refundOf(paid, 200) },
		"another payment": func(r *rig, _ ecr.Outcome, _ ecr.Sale) ecr.Request {
			return refund(r.approved(500))
		},
		"told": func(r *rig, paid ecr.Outcome, _ ecr.Sale) ecr.Request {
			r.Approved(r.Accepted(refund(paid)), ecr.Told)
			return refund(paid)
		},
		"another day": func(r *rig, paid ecr.Outcome, _ ecr.Sale) ecr.Request {
			_, err := r.Close(ctx)
			require.NoError(r.t, err)
			return refund(paid)
		},
	}
	for how := range untolds() {
		for name, other := range others {
			terminal(t, func(r *rig) {
				paid := r.approved(1000)
				r.world.lock(func() { r.world.mute = how == "in progress" })
				first := r.Accepted(refund(paid))
				untolds()[how](r, first)
				req := other(r, paid, first)
				before := r.world.net()
				s := r.Accepted(req)
				require.NotEqual(t, first.ID, s.ID, "%s, %s", how, name)
				r.Approved(s, ecr.Told)
				require.EqualValues(t, before-int64(req.Amount), r.world.net(), "%s, %s", how, name)
			})
		}
	}
}

// Two tills give the same sum of one payment back at the same time: these are two refunds.
func TestField2_M26TwoTillsAreTwoRefunds(t *testing.T) {
	terminal(t, func(r *rig) {
		paid := r.approved(1000)
		r.world.lock(func() { r.world.mute = true })
		one, two := refundOf(paid, 300), refundOf(paid, 300)
		two.Line = "other"
		first, second := r.Accepted(one), r.Accepted(two)
		require.NotEqual(t, first.ID, second.ID)
		require.Equal(t, first.ID, r.Accepted(one).ID, "it runs")
		require.Equal(t, second.ID, r.Accepted(two).ID, "it runs")
		r.world.lock(func() { r.world.mute = false })
		pass(30 * time.Minute)
		require.EqualValues(t, 400, r.world.net())
		for _, req := range []ecr.Request{one, two} {
			s := r.Accepted(req)
			r.Approved(s, ecr.Told)
		}
		require.EqualValues(t, 400, r.world.net())
	})
}

// An untold end is an alert, of its register and with what became of the money, until it was told.
// The end of day reports it.
func TestField2_M26AnUntoldEndIsAnAlert(t *testing.T) {
	for how := range maps.Keys(untolds()) {
		terminal(t, func(r *rig) {
			const text = "refund of 3.00 EUR, receipt 2: done, but the register serial has not heard that"
			paid, s := r.untold(how, backs()["R"])
			require.Contains(t, r.exceptions(), text, how)
			r.Restart(false)
			require.Contains(t, r.exceptions(), text, how)
			if how == "lost" {
				totals, err := r.Close(context.Background())
				require.NoError(t, err)
				require.Contains(t, totals.Exceptions, text)
				require.NotContains(t, r.exceptions(), text, "the day is over")
				return
			}
			again := r.Accepted(backs()["R"](paid))
			require.Equal(t, s.ID, again.ID)
			r.Approved(again, ecr.Told)
			require.NotContains(t, r.exceptions(), text, how)
		})
	}
}

// TestField3_E1AnUntoldEndIsInTheListOfAlerts: MONEY A.9 calls an untold end an alert, and it was a line of the report and of status
// alone: no event, no metric, nothing to acknowledge. The kind: each way in which an end stays untold, and one for which no caller waits
// when it comes. It has one alert, which a start neither repeats nor forgets, which a person may end, and which the telling takes back.
func TestField3_E1AnUntoldEndIsInTheListOfAlerts(t *testing.T) {
	ways := untolds()
	ways["nobody waits"] = func(r *rig, _ ecr.Sale) {
		r.Restart(false)
		r.world.lock(func() { r.world.mute = false })
		pass(10 * time.Minute)
	}
	for how, way := range ways {
		terminal(t, func(r *rig) {
			paid := r.approved(500)
			r.world.lock(func() { r.world.mute = how == "in progress" || how == "nobody waits" })
			s := r.Accepted(backs()["R"](paid))
			require.Empty(t, r.alerts(), how)
			way(r, s)
			pass(time.Second)
			one := func(why string) {
				t.Helper()
				list := r.alerts()
				require.Len(t, list, 1, "%s, %s", how, why)
				require.Equal(t, []any{s.ID, outbox.AboutSale, int64(300), "EUR", "", "done, but the register serial has not heard that"},
					[]any{string(list[0].Key), list[0].Kind, list[0].AmountMin, list[0].Currency, list[0].Short, list[0].Reason}, how)
			}
			one("untold")
			r.Restart(false)
			one("a start")
			require.NoError(t, r.Box.Acknowledge(context.Background(), wire.Key(s.ID)))
			r.Restart(true)
			require.Empty(t, r.alerts(), "%s: a person knows", how)
			again := r.Accepted(backs()["R"](paid))
			require.Equal(t, s.ID, again.ID)
			r.Approved(again, ecr.Lost)
			one("asked again, and not told")
			r.Approved(r.Accepted(backs()["R"](paid)), ecr.Told)
			require.Empty(t, r.alerts(), "%s: told", how)
			r.Approved(r.Accepted(refundOf(paid, 100)), ecr.Told)
			require.Empty(t, r.alerts(), "%s: told at once", how)
		})
	}
}
