package audit_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/records/audit"
	"posagent/ecr"
	"posagent/schemes/wire"
	"posagent/store"
	"posagent/store/sqlite"
	"posagent/store/storetest"
)

// rig is a journal with an audit log.
type rig struct {
	t      *testing.T
	db     store.Journal
	head   audit.Head // of the last commit
	closed bool
}

func newRig(t *testing.T, path string, keep int64) *rig {
	x := &rig{t: t}
	chain := audit.Chain{Keep: keep, KeepNoise: keep / 10, MAC: func(table, key string, fields ...any) []byte { return x.db.MAC(table, key, fields...) }}
	db, err := sqlite.Open(t.Context(), sqlite.Options{
		Path: path, Steps: audit.Schema(), Wrapper: storetest.Wrapper{}, Ballast: -1,
		AtCommit: func(tx store.Tx) (audit.Head, error) {
			head, err := chain.AtCommit(tx)
			x.head = head
			return head, err
		},
	})
	require.NoError(t, err)
	x.db = db
	t.Cleanup(func() {
		if !x.closed {
			require.NoError(t, x.db.Close())
		}
	})
	return x
}

func at(ms int64) time.Time { return time.UnixMilli(ms) }

func (x *rig) append(ctx context.Context, deeds ...string) {
	x.t.Helper()
	require.NoError(x.t, x.db.Write(ctx, func(tx store.Tx) error {
		for _, d := range deeds {
			if err := audit.Append(tx, at(1_700_000_000_000), audit.Deed{Deed: d, Subject: "k", Amount: 1250, Currency: "EUR"}); err != nil {
				return err
			}
		}
		return nil
	}))
}

func (x *rig) lines() (list []audit.Line) {
	x.t.Helper()
	require.NoError(x.t, x.db.Read(x.t.Context(), func(r store.Reader) (err error) { list, err = audit.Page(r, 0); return err }))
	return list
}

func (x *rig) check(head *audit.Head) (v audit.Report) {
	x.t.Helper()
	require.NoError(x.t, x.db.Read(x.t.Context(), func(r store.Reader) (err error) { v, err = audit.Check(r, x.db.MAC, head); return err }))
	return v
}

// exec changes the file as an editor without the key would: no commit of the terminal's chains what it does.
func (x *rig) exec(query string, args ...any) {
	x.t.Helper()
	require.NoError(x.t, x.db.Write(x.t.Context(), func(tx store.Tx) error { _, err := tx.Exec(query, args...); return err }))
}

// Each kind of actor is told from the context of the Write.
func TestActorIsThatOfTheWrite(t *testing.T) {
	x := newRig(t, filepath.Join(t.TempDir(), "a.db"), 0)
	ctx := audit.With(t.Context(), audit.Self("checkout"))
	x.append(t.Context(), "a")
	x.append(ctx, "b")
	x.append(ecr.WithPeer(ctx, ecr.Peer{Line: "tcp", Address: "192.0.2.7:4711"}), "c")
	x.append(ecr.WithPeer(ctx, ecr.Peer{Line: "serial"}), "d")
	x.append(wire.WithClient(ctx, "alpha"), "e")
	x.append(wire.WithClient(ctx, ""), "f")
	x.append(audit.With(ctx, audit.Uid(1000)), "g")
	var got []audit.Actor
	for _, l := range x.lines() {
		got = append(got, l.Actor)
	}
	require.Equal(t, []audit.Actor{
		{Kind: "program"}, {Kind: "program", Name: "checkout"}, {Kind: "register", Name: "tcp", Address: "192.0.2.7:4711"}, {Kind: "register", Name: "serial"},
		{Kind: "client", Name: "alpha"}, {Kind: "client", Name: "main"}, {Kind: "person", Name: "uid 1000"},
	}, got)
}

// A closure that is rolled back leaves neither a line nor a hole, in a batch of many.
func TestRolledBackDeedsLeaveNothing(t *testing.T) {
	x := newRig(t, filepath.Join(t.TempDir(), "a.db"), 0)
	no := errors.New("no")
	var wg sync.WaitGroup
	for i := range 60 {
		wg.Go(func() {
			err := x.db.Write(t.Context(), func(tx store.Tx) error {
				if err := audit.Append(tx, at(1), audit.Deed{Deed: "x", Subject: fmt.Sprint(i)}); err != nil {
					return err
				}
				if i%3 == 0 {
					return no
				}
				return audit.Append(tx, at(1), audit.Deed{Deed: "y", Subject: fmt.Sprint(i)})
			})
			if i%3 == 0 != errors.Is(err, no) {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	list := x.lines()
	require.Len(t, list, 80)
	for i, l := range list {
		require.EqualValues(t, i+1, l.ID)
	}
	require.Equal(t, audit.Report{First: 1, Last: 80, Findings: []audit.Finding{}}, x.check(&x.head))
	require.EqualValues(t, 80, audit.LastOf(x.head))
}

// Every way of changing a log without its key is named, and nothing else is.
func TestField_P2RemovedOrChangedLinesAreNamed(t *testing.T) {
	for _, c := range []struct {
		name, query string
		want        []audit.Finding
	}{
		{"an amount", `UPDATE audit_log SET amount = 1 WHERE id = 4`, []audit.Finding{{4, 4, "changed"}}},
		{"an actor", `UPDATE audit_log SET name = 'beta' WHERE id = 1`, []audit.Finding{{1, 1, "changed"}}},
		{"a time", `UPDATE audit_log SET at_ms = at_ms + 1 WHERE id = 8`, []audit.Finding{{8, 8, "changed"}}},
		{"a text moved to its neighbour", `UPDATE audit_log SET name = 'alph', address = 'a' WHERE id = 3`, []audit.Finding{{3, 3, "changed"}}},
		{"a link", `UPDATE audit_log SET link = zeroblob(32) WHERE id = 4`, []audit.Finding{{4, 4, "changed"}}},
		{"one from the middle", `DELETE FROM audit_log WHERE id = 4`, []audit.Finding{{4, 4, "removed"}, {5, 5, "unverified"}}},
		{"the first two", `DELETE FROM audit_log WHERE id <= 2`, []audit.Finding{{1, 2, "removed"}, {3, 3, "unverified"}}},
		{"the last two", `DELETE FROM audit_log WHERE id > 6`, []audit.Finding{{7, 8, "removed"}}},
		{"all", `DELETE FROM audit_log`, []audit.Finding{{1, 8, "removed"}}},
		{"two that change places", `UPDATE audit_log SET id = CASE id WHEN 4 THEN -5 ELSE -4 END WHERE id IN (4, 5)`, []audit.Finding{{4, 5, "removed"}, {6, 6, "unverified"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "a.db")
			x := newRig(t, path, 0)
			ctx := wire.WithClient(t.Context(), "alpha")
			x.append(ctx, "a", "b", "c")
			x.append(ctx, "d", "e")
			x.append(ctx, "f", "g", "h")
			head := x.head
			require.Empty(t, x.check(&head).Findings)
			require.NoError(t, x.db.Close())
			other := storetest.OpenAt(t, path, audit.Schema()...) // no chain: an editor
			require.NoError(t, other.Write(t.Context(), func(tx store.Tx) error { _, err := tx.Exec(c.query); return err }))
			var v audit.Report
			require.NoError(t, other.Read(t.Context(), func(r store.Reader) (err error) { v, err = audit.Check(r, other.MAC, &head); return err }))
			require.Equal(t, c.want, v.Findings)
			x.db = other
		})
	}
}

// A line that was added, and a log that was chained anew without the key, are seen.
func TestAddedLinesAreNamed(t *testing.T) {
	x := newRig(t, filepath.Join(t.TempDir(), "a.db"), 0)
	x.append(t.Context(), "a", "b")
	head := x.head
	x.exec(`INSERT INTO audit_log SELECT 3, at_ms, actor, name, address, deed, subject, amount, currency, detail, link FROM audit_log WHERE id = 2`)
	require.Equal(t, []audit.Finding{{3, 3, "changed"}, {3, 3, "changed"}}, x.check(&head).Findings)
	x.exec(`DELETE FROM audit_log WHERE id = 3`)
	require.Empty(t, x.check(&head).Findings)

	other := func(table, key string, fields ...any) []byte { return x.db.MAC("another key", key, fields...) }
	var v audit.Report
	require.NoError(t, x.db.Read(t.Context(), func(r store.Reader) (err error) { v, err = audit.Check(r, other, &head); return err }))
	require.Len(t, v.Findings, 2)
}

// What was removed while the terminal was stopped is still named when the log has gone on, and so are the lines that are gone.
func TestStartRemembersWhatIsGone(t *testing.T) {
	x := newRig(t, filepath.Join(t.TempDir(), "a.db"), 0)
	resume := func(head audit.Head) {
		require.NoError(t, x.db.Write(t.Context(), func(tx store.Tx) error { return audit.Resume(tx, head, at(5)) }))
	}
	resume(audit.Head{})
	require.Empty(t, x.lines(), "a new log")
	x.append(t.Context(), "a", "b", "c", "d")
	head := x.head
	resume(head)
	require.Len(t, x.lines(), 4)
	x.exec(`DELETE FROM audit_log WHERE id > 2`)
	resume(head)
	x.append(t.Context(), "e")
	require.Equal(t, []audit.Finding{{3, 4, "removed"}, {5, 5, "follows"}}, x.check(&x.head).Findings)
	list := x.lines()
	require.Equal(t, "audit.broken", list[2].Deed.Deed)
	require.Contains(t, list[2].Detail, "the log ends with line 2")
	require.Contains(t, list[2].Detail, "head is line 4")
}

// What is purged is purged from the front, a line says so, and what is left verifies against it.
func TestPurgeLeavesAnAnchor(t *testing.T) {
	x := newRig(t, filepath.Join(t.TempDir(), "a.db"), 100)
	for range 30 {
		x.append(t.Context(), "a", "b", "c", "d", "e", "f", "g", "h", "i", "j")
	}
	v := x.check(&x.head)
	require.Empty(t, v.Findings)
	require.EqualValues(t, 160, v.Purged) // at line 260, the first commit behind 256
	require.EqualValues(t, 161, v.First)
	require.EqualValues(t, 301, v.Last)

	var n int
	for _, l := range x.lines() {
		if l.Deed.Deed == audit.Purge {
			n++
			require.Equal(t, audit.Actor{Kind: "program", Name: "purge"}, l.Actor)
			require.EqualValues(t, 160, l.Amount)
		}
	}
	require.Equal(t, 1, n)
	x.exec(`DELETE FROM audit_log WHERE id <= 165`)
	require.Equal(t, []audit.Finding{{161, 165, "removed"}, {166, 166, "unverified"}}, x.check(&x.head).Findings, "a purge that nobody made")
}

// Texts are bounded and card numbers in them are redacted; a line is one object with the names programs rely on.
func TestLineAsJSON(t *testing.T) {
	x := newRig(t, filepath.Join(t.TempDir(), "a.db"), 0)
	require.NoError(t, x.db.Write(ecr.WithPeer(t.Context(), ecr.Peer{Line: "tcp", Address: "192.0.2.7:9"}), func(tx store.Tx) error {
		return audit.Append(tx, at(1_795_348_800_123), audit.Deed{Deed: "sale.begin", Subject: "k1", Amount: 1250, Currency: "EUR", Detail: "card 4111111111111111 " + strings.Repeat("ü", 200)})
	}))
	l := x.lines()[0]
	require.LessOrEqual(t, len(l.Detail), 240)
	require.NotContains(t, l.Detail, "4111111111111111")
	require.True(t, strings.HasSuffix(l.Detail, "ü"))
	l.Detail = "x"
	data, err := json.Marshal(l)
	require.NoError(t, err)
	require.JSONEq(t, `{"schema":"posagent.audit/1","line":1,"at":"2026-11-22T12:00:00.123Z","actor":"register","name":"tcp","address":"192.0.2.7:9",
		"deed":"sale.begin","subject":"k1","amount":1250,"currency":"EUR","detail":"x"}`, string(data))
}

// What somebody writes into a reason, or calls a thing, makes no second line and moves no cursor.
func TestField_P2NoLineIsForged(t *testing.T) {
	x := newRig(t, filepath.Join(t.TempDir(), "j.db"), 0)
	require.NoError(t, x.db.Write(t.Context(), func(tx store.Tx) error {
		return audit.AppendAs(tx, at(0), audit.Actor{Kind: audit.Person, Name: "uid 0\r"}, audit.Deed{
			Deed: "operation.hold", Subject: "a\x1b[2K", Detail: "why\n     2  2026-11-22 10:00:00  client main  sale.approved\u0085\u2028\u202e\x7f\x00 Käse"})
	}))
	var list []audit.Line
	require.NoError(t, x.db.Read(t.Context(), func(r store.Reader) (err error) { list, err = audit.Page(r, 0); return err }))
	require.Len(t, list, 1)
	require.Equal(t, "uid 0 ", list[0].Name)
	require.Equal(t, "a [2K", list[0].Subject)
	require.Equal(t, "why      2  2026-11-22 10:00:00  client main  sale.approved      Käse", list[0].Detail)
}
