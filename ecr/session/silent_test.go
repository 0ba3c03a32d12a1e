package session

import (
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/ecr/ecrtest/desk"
	"posagent/ecr/ecrtest/lines"
)

// TestField4_TillsARepeatedReceiptIsNotForNothing: 06 20 without status information (service byte 00, 02) of
// an approval that no register had acknowledged ended with 06 0F, and with the receipt where one is printed;
// the next sale took the payment back. It is told by 04 0F now. One that was acknowledged, and what is no
// approval, comes without, as before.
func TestField4_TillsARepeatedReceiptIsNotForNothing(t *testing.T) {
	for _, service := range []string{"03 00", "03 02"} {
		d := desk.New()
		inTime(t, d, func(t *testing.T, a *peer, l *lines.Pipes) {
			a.register(noPrint)
			a.begin(payOpen)
			d.Approve()
			a.expectApproval()
			require.NoError(t, a.conn.Close())
			b := connect(t, l)
			b.asks("06 20 05 12 34 56 "+service, "80 00 00")
			b.expectApproval()
			b.asks("80 00 00", "06 0F 00")
			b.send("80 00 00")
			b.asks("06 20 05 12 34 56 "+service, "80 00 00", "06 0F 00")
			b.send("80 00 00")
			b.begin(pay)
			b.expectApproval()
			b.asks("80 00 00", "06 0F 00")
			b.send("80 00 00")
			require.False(t, d.Sales[0].Undone, "%s: it is the register's", service)
		})
	}
}
