package room_test

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/store"
)

// An upload is stored in pieces of 128 KiB, no byte beyond its size, and one that ends early is refused.
func TestUpload(t *testing.T) {
	r, _ := open(t)
	errShort := errors.New("shorter than said")
	for _, row := range []struct {
		size, have int
		pieces     []int
		err        error
	}{
		{300 << 10, 300<<10 + 9, []int{128 << 10, 128 << 10, 44 << 10}, nil},
		{128 << 10, 128 << 10, []int{128 << 10}, nil},
		{0, 5, nil, nil},
		{129 << 10, 128 << 10, []int{128 << 10}, errShort},
	} {
		data := bytes.Repeat([]byte("0123456789abcdef!"), row.have/16+1)[:row.have]
		var pieces []int
		var got []byte
		src := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }
		err := r.Upload(t.Context(), src, int64(row.size), errShort, func(_ store.Tx, seq int64, piece []byte, _ time.Time) error {
			require.EqualValues(t, len(pieces), seq)
			pieces, got = append(pieces, len(piece)), append(got, piece...)
			return nil
		})
		require.ErrorIs(t, err, row.err)
		require.Equal(t, row.pieces, pieces)
		require.True(t, bytes.HasPrefix(data, got))
	}
}
