package audit_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/records/audit"
	"posagent/ecr"
	"posagent/store"
	"posagent/store/crashfs"
	"posagent/store/sqlite"
	"posagent/store/storetest"
)

// The lines of a sale cost no sync of their own, and in bytes the page they stand on: each is written by the commit of its deed.
func TestField_P2CostOfASale(t *testing.T) {
	const sales = 100
	deeds := []string{"sale.begin", "sale.approved", "sale.confirm"} // of a sale that is paid: one line in each of three commits
	run := func(audited bool) (syncs int, bytes int64) {
		rec, err := crashfs.New()
		require.NoError(t, err)
		defer func() { require.NoError(t, rec.Close()) }()
		path := filepath.Join(t.TempDir(), "a.db")
		var db store.Journal
		o := sqlite.Options{
			Path: path, VFS: rec.VFS(), Wrapper: storetest.Wrapper{}, Ballast: -1, CheckpointEvery: time.Hour, CheckpointWrites: 1 << 40,
			Steps: append(audit.Schema(), store.Step{Name: "test/1 sales", SQL: `CREATE TABLE sales (id INTEGER PRIMARY KEY, state TEXT NOT NULL) STRICT`}),
		}
		if audited {
			chain := audit.Chain{MAC: func(table, key string, fields ...any) []byte { return db.MAC(table, key, fields...) }}
			o.AtCommit = chain.AtCommit
		}
		db, err = sqlite.Open(t.Context(), o)
		require.NoError(t, err)
		defer func() { require.NoError(t, db.Close()) }()
		size := func() int64 {
			info, err := os.Stat(path + "-wal")
			require.NoError(t, err)
			return info.Size()
		}
		ctx := ecr.WithPeer(t.Context(), ecr.Peer{Line: "tcp", Address: "192.0.2.17:50124"})
		step := func(sale int, deed string) {
			require.NoError(t, db.Write(ctx, func(tx store.Tx) error {
				if audited {
					err := audit.Append(tx, at(1_795_348_800_000), audit.Deed{
						Deed: deed, Subject: fmt.Sprintf("01890000-0000-7000-8000-%012d", sale), Amount: 1250, Currency: "EUR", Detail: "receipt 17",
					})
					if err != nil {
						return err
					}
				}
				_, err := tx.Exec(`INSERT INTO sales (id, state) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET state = excluded.state`, sale, strings.Repeat("s", 600)+deed)
				return err
			}))
		}
		step(0, deeds[0]) // the log's header has a sync of its own
		syncs, bytes = -rec.Count(crashfs.Sync), -size()
		for sale := 1; sale <= sales; sale++ {
			for _, d := range deeds {
				step(sale, d)
			}
		}
		return syncs + rec.Count(crashfs.Sync), bytes + size()
	}
	plainSyncs, plain := run(false)
	syncs, with := run(true)
	require.Equal(t, sales*len(deeds), plainSyncs)
	require.Equal(t, plainSyncs, syncs, "no more syncs")
	more := float64(with-plain) / sales
	t.Logf("a sale's %d lines: %.0f bytes more in the log's frames (%.1f KiB), syncs %.2f before and %.2f after",
		len(deeds), more, more/1024, float64(plainSyncs)/sales, float64(syncs)/sales)
	require.Less(t, more, 6.0*1024, "two pages a line at most")
}
