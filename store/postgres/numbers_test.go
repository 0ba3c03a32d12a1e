package postgres_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/store"
	"posagent/store/postgres"
	"posagent/store/storetest"
)

// TestNumbersDoNotMeet: a closure takes a number and commits while another one, which took the number before, is open. Neither is run
// again.
func TestNumbersDoNotMeet(t *testing.T) {
	server := start(t)
	if server == nil {
		return
	}
	step := store.Step{Name: "numbers/1", SQL: store.NumberTable + "INSERT INTO store_number (name, last) VALUES ('c', 0);"}
	// What waits for the other closure's row waits for ever: it is broken off.
	s, err := postgres.Open(t.Context(), postgres.Options{URL: server.Place(), Steps: []store.Step{step, ticketStep}, Wrapper: storetest.Wrapper{}, Tolerate: postgres.Tolerated{NoFsync: true}, StatementWithin: 10 * time.Second})
	require.NoError(t, err)
	defer func() { require.NoError(t, s.Close()) }()
	runs := 0
	ticket := func(tx store.Tx, id int64) (n int64, err error) {
		runs++
		if n, err = tx.Number("c"); err == nil {
			_, err = tx.Exec("INSERT INTO tickets (id, n) VALUES (?, ?)", id, n)
		}
		return n, err
	}
	var first, second, third int64
	require.NoError(t, s.WriteOwn(t.Context(), func(tx store.Tx) (err error) {
		if first, err = ticket(tx, 1); err != nil {
			return err
		}
		if err := s.WriteOwn(t.Context(), func(tx store.Tx) (err error) { second, err = ticket(tx, 2); return err }); err != nil {
			return err
		}
		return s.Write(t.Context(), func(tx store.Tx) (err error) { third, err = ticket(tx, 3); return err })
	}))
	require.Equal(t, []int64{1, 2, 3}, []int64{first, second, third})
	require.Equal(t, 3, runs)
}
