package drive_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/checkout"
	"posagent/agent/checkout/drive/journal"
	"posagent/agent/gateway"
	"posagent/ecr"
	"posagent/schemes/aapay"
	"posagent/schemes/wire"
	"posagent/store"
)

// TestField4_TillsAnIdThatJoinedASaleIsItsOwn: the terminal lost power as an approval left, the till asked
// for the same purchase under another id and joined that sale (MONEY F.5). That id was forgotten: asked for
// by it the till heard "not found", and asked again under it the customer paid a second time. The kind: the
// Idempotency-Key of HTTP and the ServiceID of nexo, which is asked for by its beginning; joined and told,
// or not heard; then a start, a boot, a closed day; asked for, asked again, and begun with another body.
// Another line's is its own, and an id of 90 days ago may be used anew.
func TestField4_TillsAnIdThatJoinedASaleIsItsOwn(t *testing.T) {
	for name, c := range map[string]struct {
		line, first, second, asked string
		keep                       bool
	}{
		"http": {"http/kiosk", "K1", "K2", "K2", true},
		"nexo": {"nexo/till1", "S1/order-7", "S2/order-7", "S2/" + ecr.AnyEnd, false},
	} {
		for how, what := range map[string]ecr.Delivery{"told": ecr.Told, "not heard": ecr.Lost} {
			t.Run(name+"/"+how, func(t *testing.T) {
				t.Parallel()
				terminal(t, func(r *rig) {
					ask := func(id string) ecr.Request {
						return ecr.Request{Line: c.line, Sequence: id, Amount: 500, Reference: "order-7", ByTCP: true, Keep: c.keep}
					}
					r.world.onStatus = approveAfter(r.world, 1)
					s := r.Accepted(ask(c.first))
					r.Listens(s.ID, true)
					require.Equal(t, ecr.Approved, (<-s.Outcome).Result)
					r.cut(0)
					r.Restart(true)
					joined := r.Accepted(ask(c.second))
					require.Equal(t, s.ID, joined.ID)
					r.Approved(joined, what)

					hears := func(when string) {
						t.Helper()
						for _, id := range []string{c.first, c.second} {
							again := r.Accepted(ask(id))
							require.Equal(t, s.ID, again.ID, "%s: %s", when, id)
							r.Approved(again, what)
							other := ask(id)
							other.Amount = 700
							_, err := r.Ask(other)
							refused(t, err, ecr.Processing)
						}
						found, err := r.Find(context.Background(), c.line, c.asked)
						require.NoError(t, err, when)
						require.Equal(t, s.ID, found.ID, when)
						r.Approved(found, what)
						require.NoError(t, r.DB.Read(context.Background(), func(rd store.Reader) error {
							row, err := journal.Named(rd, c.line, c.second)
							require.NoError(t, err)
							require.Equal(t, s.ID, string(row.Key), when)
							return nil
						}))
						_, err = r.Find(context.Background(), "http/other", c.asked)
						require.ErrorIs(t, err, ecr.ErrNone, "another line's is its own")
					}
					hears("at once")
					r.Restart(false)
					hears("after a start")
					r.Restart(true)
					hears("after a boot")
					_, err := r.Close(context.Background())
					require.NoError(t, err)
					hears("past the end of day")
					require.Len(t, r.world.sent(aapay.Payment), 1, "paid once")
					require.EqualValues(t, 500, r.world.net())

					r.runs(91)
					r.Approved(r.Accepted(ask(c.second)), ecr.Told)
					require.EqualValues(t, 1000, r.world.net(), "used anew")
					require.Equal(t, checkout.Done, r.phase(s.ID))
				})
			})
		}
	}
}

// TestField4_TillsWhatWasAskedForAgainIsTheLast: a refund was asked for again after another sale, joined, and
// its answer lost once more. 06 20, and G of ECR17, were answered with the sale in between: a register that
// asked what became of the refund heard "approved". The kind: a refund and a reversal, running and ended; on
// the next line, which has its own; over a start; and the next sale, which is the last one then.
func TestField4_TillsWhatWasAskedForAgainIsTheLast(t *testing.T) {
	for word, back := range backs() {
		for _, runs := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s/%t", word, runs), func(t *testing.T) {
				t.Parallel()
				terminal(t, func(r *rig) {
					paid := r.approved(500)
					r.world.lock(func() { r.world.mute = true })
					s := r.Accepted(back(paid))
					require.Equal(t, ecr.InProgress, (<-s.Outcome).Result)
					r.Told(s, ecr.Interim)
					want := ecr.Approved
					r.world.lock(func() { r.world.mute = false })
					if runs { // the sale in between is paid all the same
						want = ecr.InProgress
						r.world.lock(func() {
							r.world.onInit = func(_ int, typ aapay.Type, _ aapay.Request) (*aapay.Reply, error, bool) {
								return nil, errLost, typ != aapay.Payment
							}
							r.world.answer = func(x *txn, st *aapay.Status) {
								if x.typ != aapay.Payment {
									st.State, st.AccountState = aapay.Pending, ""
								}
							}
						})
					} else {
						pass(10 * time.Minute)
					}
					between := r.approved(300)
					require.Equal(t, between.Sale, r.last("serial").Sale)
					for _, restart := range []func(){func() {}, func() { r.Restart(false) }, func() { r.Restart(true) }} {
						again := r.Accepted(back(paid))
						require.Equal(t, s.ID, again.ID)
						require.Equal(t, want, (<-again.Outcome).Result)
						r.Told(again, ecr.Lost)
						restart()
						out := r.last("serial")
						require.Equal(t, []any{s.ID, want}, []any{out.Sale, out.Result})
						r.Told(again, out.Telling(ecr.Lost))
					}
					_, err := r.Last(context.Background(), "other")
					require.ErrorIs(t, err, ecr.ErrNone)
					next := r.approved(700)
					require.Equal(t, next.Sale, r.last("serial").Sale, "the next one is the last")
				})
			})
		}
	}
}

// TestField4_TillsADayIsClosedUnderAnIdUsedAnew: an id of a register may come again after 90 days (MONEY
// B.11). The end of day alone was the same request for ever: a till that names its day by the date was told
// last year's sums, and the day stayed open. The age is running time, as of every other id; what a program
// before this one has closed counts from when ids were first kept.
func TestField4_TillsADayIsClosedUnderAnIdUsedAnew(t *testing.T) {
	for _, older := range []bool{false, true} {
		terminal(t, func(r *rig) {
			close := func() []int64 {
				t.Helper()
				got, err := r.CloseFor(context.Background(), ecr.Asker{Line: "json", ID: "day-28-11"})
				require.NoError(t, err)
				return []int64{int64(got.Batch), int64(got.Net)}
			}
			r.approved(1000)
			require.Equal(t, []int64{1, 1000}, close())
			if older {
				require.NoError(t, r.DB.Write(context.Background(), func(tx store.Tx) error {
					_, err := tx.Exec(`UPDATE checkout_batches SET report = CAST(json_remove(CAST(report AS TEXT), '$.RunMS') AS BLOB)`)
					return err
				}))
			}
			r.approved(700)
			r.runs(89)
			r.jump(1000 * 24 * time.Hour) // a clock is no age
			require.Equal(t, []int64{1, 1000}, close(), "the same request")
			r.runs(2)
			require.Equal(t, []int64{2, 700}, close(), "another one")
			require.Equal(t, []int64{2, 700}, close())
		})
	}
}

// TestField4_TillsATransactionIsOfWhoGetsItBack: two providers number alike, and the terminal went back to the
// first. A refund by the number finds the first's payment, but whose it is was read from the newest: a client
// of the port could give another client's payment back. Both are read from the same list now.
func TestField4_TillsATransactionIsOfWhoGetsItBack(t *testing.T) {
	terminal(t, func(r *rig) {
		at := func(do func(tx store.Tx, service, place string) error, place string) {
			t.Helper()
			require.NoError(t, r.DB.Write(context.Background(), func(tx store.Tx) error { return do(tx, gateway.Schemes, place) }))
		}
		paid := func(line string) {
			t.Helper()
			r.world.lock(func() {
				r.world.order, r.world.byRef, r.world.byKey = nil, map[string]*txn{}, map[wire.Key]*txn{}
				r.world.onStatus = approveAfter(r.world, 1)
			})
			require.Equal(t, "1", r.Approved(r.Accepted(ecr.Request{Line: line, Amount: 500}), ecr.Told).TransactionID)
		}
		whose := func() (line, found string) {
			t.Helper()
			require.NoError(t, r.DB.Read(context.Background(), func(rd store.Reader) (err error) {
				line, err = journal.LineOfTransaction(rd, 1)
				return err
			}))
			s, err := r.Ask(ecr.Request{Kind: ecr.Refund, Line: "main", Original: "T1", Amount: 100})
			require.NoError(t, err)
			row, _ := r.show(s.ID)
			of, _ := r.show(string(row.Original))
			<-s.Outcome
			r.Told(s, ecr.Told)
			return line, of.Line
		}
		paid("http/alpha")
		at(journal.Leave, "https://a.example")
		paid("http/beta")
		line, found := whose()
		require.Equal(t, []string{"http/beta", "http/beta"}, []string{line, found})
		at(journal.Leave, "https://b.example")
		at(journal.Return, "https://a.example")
		line, found = whose()
		require.Equal(t, []string{"http/alpha", "http/alpha"}, []string{line, found})
		require.NoError(t, r.DB.Read(context.Background(), func(rd store.Reader) error {
			line, err := journal.LineOfTransaction(rd, 0)
			require.Empty(t, line)
			return err
		}))
	})
}

// TestField4_TillsARangeOfReceiptsConfirmsNothing: a register that has lost an answer prints copies of all its
// receipts (06 12 with a range). The number of the approval that it had not heard of was among them, and that
// confirmed it, whether or not its copy was printed: the next sale of the same goods was paid a second time.
// It is no copy now, and is undone as before; what is named alone is known (MONEY A.8), and what was
// acknowledged, or undone, is told in a range, too.
func TestField4_TillsARangeOfReceiptsConfirmsNothing(t *testing.T) {
	terminal(t, func(r *rig) {
		listed := func(receipt int) ecr.Result {
			t.Helper()
			s, err := r.Listed(context.Background(), receipt)
			if err != nil {
				require.ErrorIs(t, err, ecr.ErrNone)
				return ""
			}
			return (<-s.Outcome).Result
		}
		heard := r.approved(500)
		unheard := r.unconfirmed(700)
		require.Equal(t, ecr.Approved, listed(heard.Receipt))
		require.Empty(t, listed(unheard.Receipt))
		require.Empty(t, listed(unheard.Receipt+1))
		require.Equal(t, checkout.Unconfirmed, r.phase(unheard.Sale))
		again := r.approved(700)
		pass(time.Hour)
		require.EqualValues(t, 500+700, r.world.net(), "paid once")
		require.Equal(t, ecr.Aborted, listed(unheard.Receipt))

		next := r.unconfirmed(300)
		s, err := r.Copy(context.Background(), next.Receipt, "")
		require.NoError(t, err)
		require.Equal(t, ecr.Approved, (<-s.Outcome).Result)
		require.Equal(t, checkout.Confirmed, r.phase(next.Sale), "named alone it is known")
		require.Equal(t, ecr.Approved, listed(again.Receipt))
	})
}
