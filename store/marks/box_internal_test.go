package marks

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestField2_M52OneChangedMarkIsNoOtherBox: a part is changed, two are another box. What one side
// cannot read says nothing.
func TestField2_M52OneChangedMarkIsNoOtherBox(t *testing.T) {
	was := Box{"serial number": {"s1"}, "card": {"c1", "c2"}, "network card": {"n1"}, "machine id": {"m1"}}
	for name, c := range map[string]struct {
		now  Box
		want string
	}{
		"the same":                       {was, ""},
		"its network card was swapped":   {Box{"serial number": {"s1"}, "card": {"c1"}, "network card": {"n2"}, "machine id": {"m1"}}, ""},
		"its card was copied to another": {Box{"serial number": {"s1"}, "card": {"c9"}, "network card": {"n1"}, "machine id": {"m1"}}, ""},
		"the system was installed anew":  {Box{"serial number": {"s1"}, "card": {"c1"}, "network card": {"n1"}, "machine id": {"m2"}}, ""},
		"another disk beside the old":    {Box{"serial number": {"s1"}, "card": {"c3", "c2"}, "network card": {"n9", "n1"}}, ""},
		"nothing can be read":            {Box{}, ""},
		"one is other, the rest unread":  {Box{"serial number": {"s2"}}, ""},
		"empty values":                   {Box{"serial number": {}, "card": nil}, ""},
		"a copy of the card":             {Box{"serial number": {"s2"}, "card": {"c3"}, "network card": {"n2"}, "machine id": {"m1"}}, "card and network card and serial number"},
		"the card itself in another box": {Box{"serial number": {"s2"}, "card": {"c1"}, "network card": {"n2"}, "machine id": {"m1"}}, "network card and serial number"},
		"two are other, the rest unread": {Box{"network card": {"n2"}, "machine id": {"m2"}}, "machine id and network card"},
	} {
		require.Equal(t, c.want, was.Other(c.now), name)
		require.Empty(t, Box(nil).Other(c.now), "a journal from before knows no box")
	}
	learnt := was.Learn(Box{"card": {"c3", "c2"}, "network card": nil})
	require.Equal(t, Box{"serial number": {"s1"}, "card": {"c2", "c3"}, "network card": {"n1"}, "machine id": {"m1"}}, learnt)
	require.False(t, was.Same(learnt))
	require.True(t, learnt.Same(learnt.Learn(nil)))
}

// TestField2_M52AnotherBoxTookAnothersPlace: the verdict over a journal that is whole, and beside what
// else a start may find.
func TestField2_M52AnotherBoxTookAnothersPlace(t *testing.T) {
	mark := Reading{There: true, OK: true, Slot: Slot{}}
	mark.Slot.End.Generation, mark.Slot.End.Sequence = 2, 50
	row := EndRow{There: true, OK: true, Flags: RowMarked}
	row.End = mark.Slot.End
	level := Evidence{Journal: true, Keyed: true, Beside: -1, Row: row, Mark: mark, Ours: true}
	require.Empty(t, Judge(level).Cut)
	level.Other = "card and serial number"
	require.Equal(t, "it was last written on another box, with another card and serial number", Judge(level).Cut)
	level.Ours, level.Keyless = false, true
	require.Contains(t, Judge(level).Cut, "another box", "a reader without the key says so too")
	restored := level
	restored.Row.Flags = RowRestored
	restored.Row.End.Generation = 3
	require.Equal(t, Verdict{Adopt: true}, Judge(restored), "a person has put it here")
}
