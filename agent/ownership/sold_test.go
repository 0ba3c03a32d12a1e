package ownership_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/ownership"
	"posagent/schemes/aapay"
	"posagent/schemes/wire"
	"posagent/store"
)

// TestField2_M28ARegistersSaleIsNotTakenBackByAnyName: a caller that reaches everything names the
// original of a refund or reversal by an id that the journal knows, or by one that only the backend
// knows and whose status shows one that the journal knows. It is refused and names the receipt; nothing
// is sent. An original of none of the register's sales goes on, and so does one that the backend does
// not know; where the backend does not answer, nothing is taken back.
func TestField2_M28ARegistersSaleIsNotTakenBackByAnyName(t *testing.T) {
	ctx := wire.WithCaller(t.Context(), wire.Caller{Name: "office", Words: []string{"read", "pay", "refund", "all"}})
	receipt := shown("PP-7", 1250, time.Now())
	receipt.TransactionID = 77
	named := shown("", 1250, time.Now())
	named.NAA2ECR, named.Receipt.Reference = nil, "registers-reference"
	other := shown("PP-8", 1250, time.Now())
	other.TransactionID = 88
	next := &acquirer{reply: accepted("NEW"), shown: map[string]aapay.Status{"alias": receipt, "by-reference": named, "88": other, "PP-8": other}}
	ours := map[string]bool{"PP-7": true, "77": true, "registers-reference": true}
	svc := ownership.Schemes(claims(t), func(_ store.Reader, id string, _ bool) (string, error) {
		if ours[id] {
			return "receipt 7 of batch 1", nil
		}
		return "", nil
	}, next)
	for _, typ := range []aapay.Type{aapay.Refund, aapay.Reversal} {
		for id, taken := range map[string]bool{"PP-7": false, "77": false, "registers-reference": false, "alias": false, "by-reference": false, "88": true, "PP-8": true, "unknown": true} {
			next.keys = nil
			req := payment("office-"+id, 100)
			req.OriginalReference = id
			_, err := svc.InitializeWithIdempotency(ctx, "k", typ, req)
			if taken {
				require.NoError(t, err, id)
				require.Len(t, next.keys, 1)
				continue
			}
			require.Equal(t, wire.Conflict, wire.CodeOf(err), id)
			require.ErrorContains(t, err, "receipt 7 of batch 1")
			require.Empty(t, next.keys, "nothing is sent")
		}
	}
	away := ownership.Schemes(claims(t), func(store.Reader, string, bool) (string, error) { return "", nil }, silent{next})
	next.keys = nil
	_, err := away.InitializeWithIdempotency(ctx, "k", aapay.Refund, aapay.Request{TerminalReference: "r", OriginalReference: "88"})
	require.Equal(t, wire.Unavailable, wire.CodeOf(err))
	require.Empty(t, next.keys)
}

// silent is a backend whose status route is away.
type silent struct{ *acquirer }

func (silent) Status(context.Context, string, string) (aapay.Status, error) {
	return aapay.Status{}, wire.Errorf(wire.Unavailable, "x", "away")
}
