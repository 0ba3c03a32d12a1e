package drive_test

import (
	"context"
	"fmt"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/ecr"
)

// An original that cannot be taken back is refused with the way out, in the terminal's language. The
// kind: a payment of a closed day, what another terminal has sold, a row that was altered, and a
// register that has sold nothing; each by every name that a register has for a payment.
func TestField2_M11ARefusalNamesTheWayOut(t *testing.T) {
	ctx := context.Background()
	texts := map[string]map[string]string{
		"en": {
			"closed": "receipt 1 is of the closed day 1: refund it, as R1/1", "foreign": "this terminal has not sold %s: the one that has sold it must give the money back",
			"altered": "a person must look at this sale first: posagent sale show %s", "none": "this register has sold nothing",
		},
		"de": {
			"closed": "Beleg 1 ist vom abgeschlossenen Tag 1: bitte als Gutschrift zu R1/1", "foreign": "%s ist nicht von diesem Terminal: zurückgeben muss das Terminal, das verkauft hat",
			"altered": "diesen Vorgang muss erst ein Mensch ansehen: posagent sale show %s", "none": "diese Kasse hat nichts verkauft",
		},
	}
	reverse := func(receipt int) ecr.Request { return ecr.Request{Kind: ecr.Reversal, Receipt: receipt} }
	refund := func(original string) ecr.Request {
		return ecr.Request{Kind: ecr.Refund, Amount: 100, Original: original}
	}
	for language, text := range texts {
		terminal(t, func(r *rig) {
			r.cfg.Language = language
			r.Restart(false)
			says := func(want string, requests ...ecr.Request) {
				t.Helper()
				for _, req := range requests {
					_, err := r.Ask(req)
					refused(t, err, ecr.NotReversible)
					var no *ecr.Refusal
					require.ErrorAs(t, err, &no)
					require.Equal(t, want, no.Text)
				}
			}
			says(text["none"], ecr.Request{Kind: ecr.Reversal, Original: "L"})
			old := r.approved(1000)
			_, err := r.Close(ctx)
			require.NoError(t, err)
			last := ecr.Request{Kind: ecr.Reversal, Original: "L"}
			byTrace := ecr.Request{Kind: ecr.Reversal, Original: "L" + strconv.Itoa(old.Trace)}
			says(text["closed"], reverse(old.Receipt), part(old.Receipt, 100), last, byTrace)
			for name, req := range map[string]ecr.Request{"R4711": reverse(4711), "R4712": refund("R4712"), "R3/17": refund("R3/17"), "T10000099": refund("T10000099")} {
				says(fmt.Sprintf(text["foreign"], name), req)
			}
			r.Approved(r.Accepted(refund("R1/1")), ecr.Told) // the way out of a closed day

			now := r.approved(1000)
			require.NoError(t, r.DB.Write(ctx, rawExec(`UPDATE checkout_sales SET debited = 1 WHERE key = '`+now.Sale+`'`)))
			row := strconv.Itoa(now.Receipt)
			says(fmt.Sprintf(text["altered"], now.Sale), reverse(now.Receipt), refund("R"+row), refund("R2/"+row), refund("T"+now.TransactionID), last)
		})
	}
}
