package audit_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/records/audit"
	"posagent/store"
	"posagent/store/storetest"
)

// TestField2_M34WhatBecameOfASaleIsMore: a restore compared the keys of sales and operations alone; how a sale ended, a closed day
// and a person's decision were forgotten, and the till heard of one sale in two days. The kind: every line about money.
func TestField2_M34WhatBecameOfASaleIsMore(t *testing.T) {
	beyond := func(more ...audit.Deed) (n int) {
		is, was := storetest.Open(t, audit.Schema()...), storetest.Open(t, audit.Schema()...)
		add := func(db store.DB, list ...audit.Deed) {
			require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error {
				for _, d := range list {
					if err := audit.Append(tx, time.UnixMilli(1000), d); err != nil {
						return err
					}
				}
				return nil
			}))
		}
		begin := audit.Deed{Deed: "sale.begin", Subject: "k"}
		add(is, begin)
		add(was, begin)
		add(is, more...)
		require.NoError(t, is.Read(t.Context(), func(r store.Reader) error {
			return was.Read(t.Context(), func(other store.Reader) (err error) { n, err = audit.Beyond(r, other); return err })
		}))
		return n
	}
	require.Zero(t, beyond())
	for _, deed := range []string{"sale.approved", "sale.abort", "sale.release", "sale.close", "operation.done", "operation.doubt", "operation.hold", "operation.own", "batch.close", "reconcile.acknowledged", "journal.moved"} {
		require.Equal(t, 1, beyond(audit.Deed{Deed: deed, Subject: "k"}), deed)
	}
	require.Equal(t, 2, beyond(audit.Deed{Deed: "sale.approved", Subject: "k"}, audit.Deed{Deed: "backup"}, audit.Deed{Deed: "batch.close"}))
	for _, deed := range []string{"backup", "terminal.start", "sale.print", "page.login"} {
		require.Zero(t, beyond(audit.Deed{Deed: deed}), deed)
	}

	old, is := storetest.Open(t), storetest.Open(t, audit.Schema()...)
	require.NoError(t, is.Read(t.Context(), func(r store.Reader) error {
		return old.Read(t.Context(), func(other store.Reader) error {
			n, err := audit.Beyond(r, other)
			require.Zero(t, n, "made before there was an audit log")
			return err
		})
	}))
}
