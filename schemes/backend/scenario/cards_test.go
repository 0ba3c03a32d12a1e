package scenario

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Numbers have a good check digit, nothing stands twice, and a line does what its number and its amount say.
func TestCards(t *testing.T) {
	seen := map[any]bool{}
	for _, c := range Cards() {
		sum := 0
		for i := range c.PAN {
			d := int(c.PAN[len(c.PAN)-1-i] - '0')
			if i%2 == 1 {
				if d *= 2; d > 9 {
					d -= 9
				}
			}
			sum += d
		}
		require.Zero(t, sum%10, c.PAN)
		for _, key := range []any{c.PAN, c.Name, c.Amount} {
			require.True(t, key == int32(0) || !seen[key], "%v", key)
			seen[key] = true
		}
		found, ok := CardOf(c.PAN)
		require.True(t, ok)
		require.Equal(t, c, found)
		require.NotEmpty(t, c.Brand)
		require.NotEmpty(t, c.What)
		require.Equal(t, c.Do, CardDo(c.Name, 100))
		if c.Amount != 0 {
			require.Equal(t, c.Do, CardDo("", c.Amount))
			require.Equal(t, c.Do, CardDo("visa", c.Amount))
			require.Equal(t, HardDecline, CardDo("hard-decline", c.Amount))
		}
	}
	_, ok := CardOf("4929000000006")
	require.False(t, ok)
	require.Equal(t, Approve, CardDo("", 0))
	require.Equal(t, Approve, CardDo("no such line", 100))
}
