package audit_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/agent/records/audit"
	"posagent/store"
)

// noise writes lines that strangers, or a box that cannot start, cause.
func (x *rig) noise(n int, deed string) {
	x.t.Helper()
	require.NoError(x.t, x.db.Write(x.t.Context(), func(tx store.Tx) error {
		for i := range n {
			a := audit.Actor{Kind: audit.Stranger, Name: "port", Address: "192.0.2.7"}
			if err := audit.AppendAs(tx, at(int64(i)), a, audit.Deed{Deed: deed, Detail: fmt.Sprint(i)}); err != nil {
				return err
			}
		}
		return nil
	}))
}

// count is how many lines of a deed there are.
func (x *rig) count(deed string) (n int) {
	x.t.Helper()
	require.NoError(x.t, x.db.Read(x.t.Context(), func(r store.Reader) error {
		return r.QueryRow(`SELECT COUNT(*) FROM audit_log WHERE deed = ?`, deed).Scan(&n)
	}))
	return n
}

// TestField2_A5StrangersPushNoDeedOut: 60 wrong tokens a minute pushed every line about money out of the log in 56 hours, and the tries of a
// box that may not start did so in 23 days. What is left still verifies, and every way of changing it without the key is named.
//
// The kind is every bounded table that others than its reader fill:
//   - audit_log: noise has a bound of its own and goes first (here); one visitor is one line (TestField2_A5OneVisitorIsOneLine);
//   - inbox_event, inbox_build, events_log: a share for each client, the one that has most loses (as it was);
//   - fleet_hold: a share for each merchant (TestField2_A7AMerchantsBoxesAreOneWord); fleet_outcome: 20 of each box (as it was);
//   - history_log, daily_runs, paper_waiting: the terminal and its registers alone write them.
func TestField2_A5StrangersPushNoDeedOut(t *testing.T) {
	const most = 300 // deeds; a tenth of each noise
	x := newRig(t, filepath.Join(t.TempDir(), "a.db"), most)
	money, round := 0, 0
	flood := func(rounds int) {
		for range rounds {
			x.append(t.Context(), "sale.begin", "sale.approved")
			money += 2
			x.noise(40, audit.LoginRefused)
			if round++; round%2 == 0 {
				x.noise(20, audit.Start)
			}
		}
	}
	flood(100) // 5,200 lines
	require.Equal(t, money, x.count("sale.begin")+x.count("sale.approved"), "no deed is gone")
	for _, deed := range []string{audit.LoginRefused, audit.Start} {
		require.LessOrEqual(t, x.count(deed), 30+256+60, deed) // they are counted every 256 lines
		require.GreaterOrEqual(t, x.count(deed), 30, deed)
	}
	require.LessOrEqual(t, x.count(audit.Dropped), 101, "one for the lines between two deeds")
	require.Empty(t, x.check(&x.head).Findings)
	require.Zero(t, x.check(&x.head).Purged)

	flood(150) // more deeds than are kept
	require.Empty(t, x.check(&x.head).Findings)
	require.NotZero(t, x.check(&x.head).Purged)
	left := x.count("sale.begin") + x.count("sale.approved")
	require.GreaterOrEqual(t, left+x.count(audit.Purge), most)
	require.LessOrEqual(t, left, most+30)

	var list []audit.Line
	require.NoError(t, x.db.Read(t.Context(), func(r store.Reader) error {
		for after := int64(0); ; after = list[len(list)-1].ID {
			page, err := audit.Page(r, after)
			if err != nil || len(page) == 0 {
				return err
			}
			list = append(list, page...)
		}
	}))
	gap := -1 // one with a deed on each side
	for i, l := range list[:len(list)-1] {
		if i > 0 && l.Deed.Deed == audit.Dropped && list[i-1].Deed.Deed == "sale.approved" && list[i+1].Deed.Deed == "sale.begin" {
			gap = i
			break
		}
	}
	require.Positive(t, gap)
	before, stands, behind := list[gap-1].ID, list[gap].ID, list[gap+1].ID
	require.Equal(t, fmt.Sprintf("lines %d to %d, of refused logins or starts, are no longer kept", before+1, stands), list[gap].Detail)
	require.Equal(t, stands+1, behind)
	for name, query := range map[string]string{
		"wider":                  fmt.Sprintf(`UPDATE audit_log SET amount = amount - 1 WHERE id = %d`, stands),
		"the deed before it":     fmt.Sprintf(`DELETE FROM audit_log WHERE id = %d`, before),
		"the deed behind it":     fmt.Sprintf(`DELETE FROM audit_log WHERE id = %d`, behind),
		"the line that stands":   fmt.Sprintf(`DELETE FROM audit_log WHERE id = %d`, stands),
		"its link":               fmt.Sprintf(`UPDATE audit_log SET link = zeroblob(32) WHERE id = %d`, stands),
		"its time":               fmt.Sprintf(`UPDATE audit_log SET at_ms = at_ms + 1 WHERE id = %d`, stands),
		"a deed made one":        fmt.Sprintf(`UPDATE audit_log SET actor = 'program', name = 'purge', address = '', deed = 'audit.dropped', amount = id WHERE id = %d`, behind),
		"another's in its place": fmt.Sprintf(`UPDATE audit_log SET subject = (SELECT subject FROM audit_log WHERE deed = 'audit.dropped' AND id <> %d LIMIT 1) WHERE id = %d`, stands, stands),
	} {
		t.Run(name, func(t *testing.T) {
			undo := fmt.Errorf("undone")
			require.ErrorIs(t, x.db.Write(t.Context(), func(tx store.Tx) error {
				if _, err := tx.Exec(query); err != nil {
					return err
				}
				v, err := audit.Check(tx, x.db.MAC, &x.head)
				if err == nil && len(v.Findings) == 0 {
					return fmt.Errorf("nothing was found")
				}
				return undo
			}), undo)
		})
	}
	require.Empty(t, x.check(&x.head).Findings)
}
