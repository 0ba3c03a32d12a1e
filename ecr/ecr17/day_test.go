package ecr17

import (
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/ecr"
)

// A close is asked for under the register id, and counts as told once the register has acknowledged its sums. One whose
// acknowledgement is lost, and one that was refused, does not: C again is told the day that was closed.
func TestField2_R3_ACloseIsToldOnceItIsAcknowledged(t *testing.T) {
	for how, want := range map[string]string{"heard": "day 12 told at 1", "unheard": "-"} {
		p := begin(t, Config{})
		require.Contains(t, p.step("ask "+dayEnd), "close")
		require.NotEmpty(t, p.d.Step(ecr.Totalled{Gen: p.d.run.gen, Code: ecr.OK, Totals: ecr.Totals{Batch: 12, Net: 12345}}))
		require.Equal(t, want, p.step(how))
	}
	p := begin(t, Config{})
	p.step("ask " + dayEnd)
	p.step("open")
	require.Equal(t, "-", p.step("heard"), "it is not closed")

	d := New(Config{}, "tcp", false, nil)
	closes := []ecr.Asker{}
	for _, a := range d.Step(ecr.Received{Data: []byte(dayEnd)}) {
		if c, ok := a.(ecr.CloseBatch); ok {
			closes = append(closes, c.By)
		}
	}
	require.Equal(t, []ecr.Asker{{Line: "tcp/00000001"}}, closes)
}
