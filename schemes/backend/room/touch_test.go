package room_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/schemes/backend/room"
	"posagent/store"
)

// What is due happens before a thing is used, in the same commit. Where nothing is due, there is no commit.
func TestTouch(t *testing.T) {
	r, _ := open(t)
	var seen []string
	touch := func(due bool, fails error) error {
		seen = nil
		return room.Touch(t.Context(), r.DB, room.Timed[int]{
			Find: func(store.Reader) (int, error) { seen = append(seen, "find"); return 7, nil },
			Due:  func(_ store.Reader, x int) (bool, error) { return due && x == 7, nil },
			Advance: func(tx store.Tx, x int) error {
				seen = append(seen, "advance")
				require.Equal(t, 7, x)
				return note(tx, "moved")
			},
		}, func(_ store.Reader, x int) error {
			seen = append(seen, "use")
			require.Equal(t, 7, x)
			return fails
		})
	}
	require.NoError(t, touch(false, nil))
	require.Equal(t, []string{"find", "use"}, seen)
	require.Empty(t, notes(t, r))
	disk := errors.New("disk")
	require.ErrorIs(t, touch(true, disk), disk)
	require.Empty(t, notes(t, r), "nothing is stored")
	require.NoError(t, touch(true, nil))
	require.Equal(t, []string{"find", "find", "advance", "use"}, seen)
	require.Equal(t, []string{"moved"}, notes(t, r))
}
