package main

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/cmd/usage"
	"posagent/schemes/payments"
	"posagent/schemes/wire"
	"posagent/store/postgres/pgserver"
	"posagent/store/postgres/pgtest"
)

// Two tenants of one database, with a schema and an account each: over the services neither finds what the other has, and no statement of
// an account reads, changes or counts a row of the other's schema, by whatever name it goes there.
func TestTenants(t *testing.T) {
	db := pgtest.Start(t)
	type tenant struct {
		*process
		url, owner, payment string
	}
	own := func(name string) (n tenant) {
		db.Exec("", "CREATE ROLE "+name+"_owner LOGIN; CREATE ROLE "+name+" LOGIN; CREATE SCHEMA "+name+" AUTHORIZATION "+name+"_owner")
		place := db.URL(name)
		n.owner, n.url = strings.Replace(place, "posagent@", name+"_owner@", 1), strings.Replace(place, "posagent@", name+"@", 1)
		state := &process{dir: t.TempDir()}
		code, grants, talk := ask("database", "upgrade", "--db", n.owner, "--state", state.dir, "--tolerate", "no-fsync")
		require.Equal(t, usage.ExitOK, code, talk)
		db.Exec(n.owner, strings.ReplaceAll(grants, "SERVES", name))
		n.process = begin(t, n.url, state, "")
		out, err := n.payments().Create(t.Context(), wire.NewKey(), sale(""))
		require.NoError(t, err)
		n.payment = out.PaymentID
		return n
	}
	one, two := own("shop1"), own("shop2")
	_, err := two.payments().Read(t.Context(), one.payment)
	require.Equal(t, wire.NotFound, wire.CodeOf(err), "%v", err)
	_, err = two.payments().Refund(t.Context(), wire.NewKey(), one.payment, payments.RefundRequest{})
	require.Equal(t, wire.NotFound, wire.CodeOf(err), "%v", err)

	rows := func() (list []string) { // of tables that a process does not write by itself
		for _, table := range []string{"cards_payment", "books_ledger", "books_posting", "once_answer", "store_meta", "store_keys", "store_number", "store_server"} {
			sums, err := pgserver.Column[string](db.URL("shop1"), "SELECT md5(t::text) FROM "+table+" t ORDER BY 1")
			require.NoError(t, err)
			list = append(list, sums...)
		}
		return list
	}
	before := rows()
	require.Greater(t, len(before), 10)
	for _, from := range []string{two.url, two.owner} {
		for _, hostile := range []string{
			"SELECT * FROM shop1.cards_payment", "SELECT count(*) FROM shop1.cards_payment", "TABLE shop1.store_meta",
			"SET search_path = shop1; SELECT * FROM cards_payment", "SET search_path = shop1, pg_temp; SELECT * FROM shop1.books_ledger",
			"INSERT INTO shop1.store_meta (name, value) VALUES ('moved', '')", "UPDATE shop1.books_ledger SET txn = txn", "DELETE FROM shop1.cards_payment",
			"TRUNCATE shop1.cards_payment", "DROP TABLE shop1.cards_payment", "DROP SCHEMA shop1 CASCADE", "ALTER SCHEMA shop1 RENAME TO mine",
			"COPY shop1.cards_payment TO STDOUT", "COPY shop1.cards_payment TO PROGRAM 'cat'", "SELECT pg_read_file('PG_VERSION')", "BEGIN; LOCK TABLE shop1.cards_payment",
			"CREATE TABLE shop1.mine (n INTEGER)", "CREATE TEMPORARY VIEW mine AS SELECT * FROM shop1.cards_payment; SELECT * FROM mine",
			"SELECT nextval('shop1.store_number_wallets_txn')", "SELECT last_value FROM shop1.store_number_wallets_txn", "SELECT shop1.store_numbers_by('x', true)",
			"SELECT * FROM shop1.store_number", "SET ROLE shop1", "SET ROLE shop1_owner", "SET SESSION AUTHORIZATION shop1", "GRANT shop1 TO shop2",
			"SELECT query_to_xml('SELECT * FROM shop1.cards_payment', true, false, '')", "DO $$ BEGIN PERFORM * FROM shop1.cards_payment; END $$",
			"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'shop1'",
		} {
			want := "42501" // the right is missing
			if strings.HasPrefix(hostile, "SET search_path = shop1;") {
				want = "42P01" // a schema that may not be used is passed over
			}
			require.ErrorContains(t, db.Try(from, hostile), want, "%s: %s", from, hostile)
		}
		// What the server tells of everything: neither values of the other's rows, nor what its processes ask.
		for name, query := range map[string]string{
			"statistics": "SELECT tablename::text FROM pg_stats WHERE schemaname = 'shop1'",
			"statements": "SELECT query FROM pg_stat_activity WHERE usename LIKE 'shop1%' AND query <> '<insufficient privilege>'",
			"large ones": "SELECT loid::text FROM pg_largeobject_metadata m JOIN pg_largeobject o ON o.loid = m.oid",
		} {
			list, err := pgserver.Column[string](from, query)
			if err == nil {
				require.Empty(t, list, name)
			}
		}
	}
	require.Equal(t, before, rows())
	for _, n := range []tenant{one, two} {
		require.Equal(t, http.StatusNoContent, n.ready())
		_, err = n.payments().Read(t.Context(), n.payment)
		require.NoError(t, err)
		n.end()
	}
}
