package drive_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/checkout"
	"posagent/ecr"
	"posagent/schemes/aapay"
	"posagent/store"
)

// overtake lets something commit between a caller's decision to write and its turn.
func (r *rig) overtake(first func()) {
	r.guard.mu.Lock()
	r.guard.before = first
	r.guard.mu.Unlock()
}

// An acknowledgement that comes while the grace timer has already fired keeps the sale; one that
// comes while the register's next command undoes it is told so. Never both.
func TestMoneyB6_OnlyOneOfTwoEventsWins(t *testing.T) {
	terminal(t, func(r *rig) {
		o := r.unconfirmed(500)
		pass(9 * time.Minute)
		r.overtake(func() {
			told, err := r.Delivered(context.Background(), o.Sale, ecr.Told)
			require.NoError(r.t, err)
			require.Equal(r.t, ecr.Approved, told.Result)
		})
		pass(time.Minute)
		require.Equal(t, checkout.Confirmed, r.phase(o.Sale))
		r.settle()
		require.Empty(t, r.world.sent(aapay.Reversal))
		require.EqualValues(t, 500, r.world.net())
	})
	terminal(t, func(r *rig) {
		o := r.unconfirmed(500)
		r.overtake(func() {
			next := r.Accepted(ecr.Request{Amount: 300})
			<-next.Outcome
			_, err := r.Delivered(context.Background(), next.ID, ecr.Told)
			require.NoError(r.t, err)
		})
		require.Equal(t, ecr.Aborted, r.Told(ecr.Sale{ID: o.Sale}, ecr.Told).Result)
		r.settle()
		require.EqualValues(t, 300, r.world.net())
	})
}

// A register hears of an approval, a decline or an abort once the journal has it, however long the
// store refuses.
func TestMoneyA1_NothingIsToldBeforeItIsStored(t *testing.T) {
	words := map[checkout.Phase]func(*rig) func(*txn) error{
		checkout.Approved:  func(r *rig) func(*txn) error { return approveAfter(r.world, 3) },
		checkout.Declined:  func(*rig) func(*txn) error { return say(3, aapay.Rejected, "") },
		checkout.Reversing: func(*rig) func(*txn) error { return say(3, aapay.TimedOut, "") },
	}
	for want, word := range words {
		terminal(t, func(r *rig) {
			r.world.onStatus = word(r)
			s := r.sale(500)
			pass(5 * time.Second)
			r.guard.fail(4)
			<-s.Outcome
			require.Equal(t, want, r.phase(s.ID))
			r.guard.mu.Lock()
			require.Zero(t, r.guard.failed, "the store did refuse")
			r.guard.mu.Unlock()
			r.Told(s, ecr.Told)
		})
	}
}

func TestMoneyB10_AroundAt9999NoReceiptIsGivenTwice(t *testing.T) {
	terminal(t, func(r *rig) {
		require.Equal(t, 1, r.approved(100).Receipt)
		require.NoError(t, r.DB.Write(context.Background(), rawExec(`UPDATE checkout_counters SET value = 9998 WHERE name = 'receipt'`)))
		require.Equal(t, 9999, r.approved(200).Receipt)
		require.Equal(t, 2, r.approved(300).Receipt, "1 is taken in this batch")
	})
}

func TestRequestsAreSealed(t *testing.T) {
	terminal(t, func(r *rig) {
		s := r.sale(500)
		row, _ := r.show(s.ID)
		require.NoError(t, r.DB.Read(context.Background(), func(rd store.Reader) error {
			var request []byte
			require.NoError(t, rd.QueryRow(`SELECT request FROM checkout_sales JOIN checkout_requests USING (id) WHERE key = ?`, s.ID).Scan(&request))
			require.NotEmpty(t, request)
			require.NotContains(t, string(request), row.Reference)
			require.NotContains(t, string(request), "SWISH")
			return nil
		}))
	})
}

// Whatever column of a running sale is changed from outside, the next start sets the sale aside.
func TestEveryColumnOfASaleIsUnderItsMAC(t *testing.T) {
	changes := map[string]string{"INTEGER": "%[1]s + 1", "TEXT": "%[1]s || 'x'", "BLOB": "CAST(%[1]s || ' ' AS BLOB)"}
	type column struct{ table, name, typ string }
	var columns []column
	terminal(t, func(r *rig) {
		require.NoError(t, r.DB.Read(context.Background(), func(rd store.Reader) error {
			rows, err := rd.Query(`SELECT m.name, t.name, t.type FROM sqlite_master m, pragma_table_info(m.name) t
				WHERE m.name IN ('checkout_sales', 'checkout_requests')`)
			require.NoError(t, err)
			defer func() { _ = rows.Close() }()
			for rows.Next() {
				var c column
				require.NoError(t, rows.Scan(&c.table, &c.name, &c.typ))
				columns = append(columns, c)
			}
			return rows.Err()
		}))
	})
	require.Greater(t, len(columns), 28)
	for _, c := range columns {
		if c.name == "active" { // only says which rows a start looks at
			continue
		}
		t.Run(c.table+" "+c.name, func(t *testing.T) {
			terminal(t, func(r *rig) {
				r.world.onStatus = say(1, aapay.Pending, "")
				r.sale(500)
				pass(3 * time.Second)
				change := fmt.Sprintf(`UPDATE %[2]s SET %[1]s = `+changes[c.typ], c.name, c.table)
				require.NoError(t, r.DB.Write(context.Background(), rawExec(change)))
				r.Restart(true)
				var said int
				require.NoError(t, r.DB.Read(context.Background(), func(rd store.Reader) error {
					return rd.QueryRow(`SELECT COUNT(*) FROM checkout_entries WHERE text LIKE 'quarantined%'`).Scan(&said)
				}))
				require.Equal(t, 1, said)
				require.Empty(t, r.world.sent(aapay.Reversal))
			})
		})
	}
}
