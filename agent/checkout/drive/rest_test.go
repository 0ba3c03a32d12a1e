package drive_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/agent/checkout"
	"posagent/ecr"
)

// A terminal that is about to end rests where no sale is open: then none begins, and no end of day. Where one is open, it changes
// nothing.
func TestRest(t *testing.T) {
	terminal(t, func(r *rig) {
		r.world.onStatus = approveAfter(r.world, 1)
		s := r.sale(1250)
		rests, err := r.Drive.Rest(r.t.Context())
		require.NoError(t, err)
		require.False(t, rests, "a sale is open")
		o := <-s.Outcome
		require.Equal(t, ecr.Approved, o.Result)
		rests, err = r.Drive.Rest(r.t.Context())
		require.NoError(t, err)
		require.False(t, rests, "the register has not acknowledged it")
		r.Told(s, ecr.Told)
		require.Equal(t, checkout.Confirmed, r.phase(s.ID))
		another := r.sale(100)
		<-another.Outcome
		r.Told(another, ecr.Told)

		rests, err = r.Drive.Rest(r.t.Context())
		require.NoError(t, err)
		require.True(t, rests)
		_, err = r.Ask(ecr.Request{Amount: 1250})
		refused(t, err, ecr.NotReady)
		require.ErrorContains(t, err, "the terminal restarts")
		_, err = r.Drive.Close(r.t.Context())
		refused(t, err, ecr.EODImpossible)

		r.Restart(false)
		r.paid(1250, ecr.Told)
	})
}

// A register waits from its request until it was told, or until it is known that it did not hear: what may wait for a sale's end waits so
// long, and no longer.
func TestSelling(t *testing.T) {
	terminal(t, func(r *rig) {
		r.world.onStatus = approveAfter(r.world, 1)
		for _, heard := range []ecr.Delivery{ecr.Told, ecr.Lost} {
			require.False(t, r.Drive.Selling())
			s := r.sale(1250)
			require.True(t, r.Drive.Selling())
			o := <-s.Outcome
			require.Equal(t, ecr.Approved, o.Result)
			require.True(t, r.Drive.Selling(), "it is being told")
			r.Told(s, heard)
			require.False(t, r.Drive.Selling(), heard)
		}
	})
}
