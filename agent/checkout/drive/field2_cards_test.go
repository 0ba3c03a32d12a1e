package drive_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/ecr"
	"posagent/store"
	"posagent/store/storetest"
)

// TestField2_A3ACardNumberAsANameStandsNowhere: a till that takes a card number for its order number wrote it into the journal in clear.
// The journal keeps a keyed digest beside the masked text, and the name stays what it was: asked again it is the same sale, another card
// number with the same first six and last four digits is another one, and the Key is made of what the till wrote.
//
// The kind is every name that a register chooses: the id of a request (HTTP key, JSON id, ServiceID and order of nexo), the till's own name
// in a line's, the reference, the id of an end of day, and what a dialogue keeps between connections.
func TestField2_A3ACardNumberAsANameStandsNowhere(t *testing.T) {
	const card, alike = "4111112200065564", "4111112200145564" // the same first six and last four
	for name, c := range map[string]struct{ line, prefix, ask string }{
		"http": {"http/kiosk", "", ""},
		"till": {"jsonl/" + card, "", ""},
		"nexo": {"nexo/" + card, "A000000001/", "A000000001/" + ecr.AnyEnd},
		"long": {"jsonl/t", "order 20261129 ", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			terminal(t, func(r *rig) {
				ask := func(number string) ecr.Request {
					return ecr.Request{Line: c.line, Sequence: c.prefix + number, Amount: 500, Reference: number}
				}
				r.world.onStatus = approveAfter(r.world, 1)
				s := r.Accepted(ask(card))
				r.Approved(s, ecr.Told)
				hears := func(when string) {
					t.Helper()
					again := r.Accepted(ask(card))
					require.Equal(t, s.ID, again.ID, when)
					r.Approved(again, ecr.Told)
					asked := c.ask
					if asked == "" {
						asked = c.prefix + card
					}
					found, err := r.Find(context.Background(), c.line, asked)
					require.NoError(t, err, when)
					require.Equal(t, s.ID, found.ID, when)
					r.Approved(found, ecr.Told)
					last := r.last(c.line)
					require.Equal(t, ecr.Approved, last.Result, when)
					require.Equal(t, c.prefix+card, last.Sequence, "%s: a till compares it with its own", when)
					other := ask(card)
					other.Reference = alike
					_, err = r.Ask(other)
					refused(t, err, ecr.Processing)
				}
				hears("at once")
				r.Restart(false)
				hears("after a start")
				if c.ask == "" { // of one ServiceID there is one request
					two := r.Accepted(ask(alike))
					require.NotEqual(t, s.ID, two.ID, "another number")
					r.Approved(two, ecr.Told)
				}
				by := ecr.Asker{Line: c.line, ID: card}
				day, err := r.CloseFor(context.Background(), by)
				require.NoError(t, err)
				same, err := r.CloseFor(context.Background(), by)
				require.NoError(t, err)
				require.Equal(t, day.Batch, same.Batch, "the same request closes the same day")
				require.NoError(t, r.Save(context.Background(), c.line, []byte(`{"v":1,"id":"`+card+`"}`)))
				data, err := r.Load(context.Background(), c.line)
				require.NoError(t, err)
				require.JSONEq(t, `{"v":1,"id":"`+card+`"}`, string(data))
				row, _ := r.show(s.ID)
				require.Contains(t, row.Sequence, "~")
				require.NoError(t, r.DB.Read(context.Background(), func(rd store.Reader) error {
					require.Empty(t, storetest.Holds(t, rd, card, alike))
					return nil
				}))
			})
		})
	}
}
