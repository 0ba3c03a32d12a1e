package enrol_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A revision was given up while money was open under it: the terminal was to run on the one before, whose backend has none of it, did not
// start there, and ended nothing. The kind: each way back from a revision (given up after ten minutes, after three starts, by a person), and
// a way back within an enrolment that has another before it. What was given up goes on until nothing is open, as what was chosen waits.
func TestField5_WhatIsGivenUpEndsItsMoneyFirst(t *testing.T) {
	for name, back := range map[string]func(r *rig){
		"never ready": func(r *rig) {
			did, err := r.box().GiveUp(r.id(), 2, "not ready")
			require.NoError(r.t, err)
			require.True(r.t, did)
		},
		"starts that end": func(r *rig) {
			gaveUp := int64(0)
			for range 4 {
				number, _, err := r.box().Started("boot")
				require.NoError(r.t, err)
				gaveUp = max(gaveUp, number)
				require.NoError(r.t, r.box().Ended(true, "a fault"))
			}
			require.Equal(r.t, int64(2), gaveUp)
		},
		"by a person": func(r *rig) { _, err := r.box().Rollback(0); require.NoError(r.t, err) },
	} {
		for enrolments, again := range map[string]bool{"first enrolment": false, "second": true} {
			t.Run(name+", "+enrolments, func(t *testing.T) {
				r, id := enrolled(t)
				if again {
					require.NoError(t, r.box().Prove(id, 1))
					ticket, second := r.code()
					require.NoError(t, r.box().Begin(ticket, "PA-1"))
					require.NoError(t, r.box().Resume(t.Context(), r.driver()))
					id = second
				}
				r.configure(id, text+"x = 2\n")
				number, err := r.box().Refresh(t.Context(), r.driver())
				require.NoError(t, err)
				require.Equal(t, int64(2), number)
				runs := func() (on string, revision int64) {
					a, err := r.box().Active()
					require.NoError(t, err)
					return a.ID, a.Revision
				}
				back(r)
				on, revision := runs()
				require.Equal(t, []any{id, int64(1)}, []any{on, revision})

				require.NoError(t, r.box().Hold(true), "money is open")
				on, revision = runs()
				require.Equal(t, []any{id, int64(2)}, []any{on, revision})
				chosen, err := r.box().Chosen()
				require.NoError(t, err)
				require.Equal(t, int64(1), chosen.Revision)

				require.NoError(t, r.box().Hold(false))
				on, revision = runs()
				require.Equal(t, []any{id, int64(1)}, []any{on, revision})

				r.configure(id, text+"x = 3\n")
				number, err = r.box().Refresh(t.Context(), r.driver())
				require.NoError(t, err)
				require.NoError(t, r.box().Hold(true))
				_, revision = runs()
				require.Equal(t, []int64{3, 1}, []int64{number, revision}, "a newer one waits for the one that runs")
			})
		}
	}
}
