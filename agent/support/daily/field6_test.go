package daily

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// Two rows of one list that say the same were one finding: of two customers who were charged at the till alone, or of two rows too many of
// one sale, a person heard of one. The kind: rows that no sale has, and rows of a sale that another row has. A list that is compared again
// raises none anew.
func TestField6_RowsThatSayTheSameAreAFindingEach(t *testing.T) {
	open(t, func(t *testing.T, x *shop) {
		row := x.sell(1250)
		stranger := fmt.Sprintf("%s,250,yes,", x.now().Format("2006-01-02T15:04:05Z07:00"))
		x.start()
		x.write(row, row, row, stranger, stranger)
		x.until(at(1, 3, 5))
		require.Equal(t, []string{"the till's list of 2026-11-27 was compared: 5 row(s), 1 sale(s), 4 difference(s)"}, x.said())
		require.Len(t, x.waits(), 4)
		for _, f := range x.findings() {
			require.NoError(t, x.d.Acknowledge(t.Context(), f.Key))
		}
		require.Empty(t, x.waits())
		x.write(row, row, row, stranger, stranger, x.sell(300))
		x.until(at(2, 3, 5))
		require.Empty(t, x.waits(), "a person knows them")
	})
}
