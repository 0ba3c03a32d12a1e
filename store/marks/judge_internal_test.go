package marks

import (
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/store"
)

// The whole table of what a start may find, and what it must make of it.
func TestJudge(t *testing.T) {
	mark := func(generation, sequence int64, flags uint32) Reading {
		return Reading{There: true, OK: true, Slot: Slot{End: store.End{Generation: generation, Sequence: sequence}, Flags: flags}}
	}
	row := func(generation, sequence, flags int64) EndRow {
		return EndRow{There: true, OK: true, End: store.End{Generation: generation, Sequence: sequence}, Flags: flags}
	}
	folds := mark(2, 50, 0)
	folds.Slot.Fold = Folding{1, 2, 3}
	torn := Reading{There: true}
	for name, c := range map[string]struct {
		Evidence
		cut, missing, adopt, afresh bool
	}{
		"first start":                          {Evidence: Evidence{Beside: -1}},
		"no journal, mark":                     {Evidence: Evidence{Beside: -1, Mark: mark(2, 50, 0)}, cut: true, missing: true},
		"no journal, torn mark":                {Evidence: Evidence{Beside: -1, Mark: torn}, cut: true, missing: true},
		"no journal, old counter":              {Evidence: Evidence{Beside: 4}, cut: true, missing: true},
		"no journal, ended":                    {Evidence: Evidence{Beside: -1, Mark: mark(2, 50, Ending|Ended)}, afresh: true},
		"no journal, reset broken off":         {Evidence: Evidence{Beside: -1, Mark: mark(2, 50, Ending)}, afresh: true},
		"being made, no mark":                  {Evidence: Evidence{Journal: true, Beside: -1}},
		"being made after a reset":             {Evidence: Evidence{Journal: true, Beside: -1, Mark: mark(2, 50, Ending|Ended)}, afresh: true},
		"empty tables, mark":                   {Evidence: Evidence{Journal: true, Beside: -1, Mark: mark(2, 50, 0)}, cut: true},
		"row, mark not claimed yet":            {Evidence: Evidence{Journal: true, Keyed: true, Beside: -1, Row: row(1, 3, 0), Mark: mark(1, 3, 0), Ours: true}},
		"row, log cut at the beginning":        {Evidence: Evidence{Journal: true, Keyed: true, Beside: -1, Row: row(1, 3, 0), Mark: mark(1, 50, 0), Ours: true}, cut: true},
		"key, log cut at the very beginning":   {Evidence: Evidence{Journal: true, Keyed: true, Beside: -1, Mark: mark(1, 50, 0), Ours: true}, cut: true},
		"row, no mark yet":                     {Evidence: Evidence{Journal: true, Keyed: true, Beside: -1, Row: row(1, 3, 0)}},
		"unclaimed beside a stranger's mark":   {Evidence: Evidence{Journal: true, Keyed: true, Beside: -1, Row: row(1, 3, 0), Mark: mark(1, 3, 0)}, cut: true},
		"level":                                {Evidence: Evidence{Journal: true, Keyed: true, Beside: -1, Row: row(2, 50, RowMarked), Mark: mark(2, 50, 0), Ours: true}},
		"journal ahead":                        {Evidence: Evidence{Journal: true, Keyed: true, Beside: -1, Row: row(2, 90, RowMarked), Mark: mark(2, 50, 0), Ours: true}},
		"journal one behind":                   {Evidence: Evidence{Journal: true, Keyed: true, Beside: -1, Row: row(2, 49, RowMarked), Mark: mark(2, 50, 0), Ours: true}, cut: true},
		"older generation":                     {Evidence: Evidence{Journal: true, Keyed: true, Beside: -1, Row: row(1, 90, RowMarked), Mark: mark(2, 50, 0), Ours: true}, cut: true},
		"newer generation without a verb":      {Evidence: Evidence{Journal: true, Keyed: true, Beside: -1, Row: row(3, 90, RowMarked), Mark: mark(2, 50, 0), Ours: true}, cut: true},
		"another journal":                      {Evidence: Evidence{Journal: true, Keyed: true, Beside: -1, Row: row(2, 90, RowMarked), Mark: mark(2, 50, 0)}, cut: true},
		"mark missing":                         {Evidence: Evidence{Journal: true, Keyed: true, Beside: -1, Row: row(2, 50, RowMarked)}, cut: true},
		"both slots torn":                      {Evidence: Evidence{Journal: true, Keyed: true, Beside: -1, Row: row(2, 50, RowMarked), Mark: torn}},
		"folding, log there":                   {Evidence: Evidence{Journal: true, Keyed: true, Beside: -1, Row: row(2, 50, RowMarked), Mark: folds, Ours: true, Whole: true}},
		"folding, log gone":                    {Evidence: Evidence{Journal: true, Keyed: true, Beside: -1, Row: row(2, 50, RowMarked), Mark: folds, Ours: true}, cut: true},
		"row was edited":                       {Evidence: Evidence{Journal: true, Keyed: true, Beside: -1, Row: EndRow{There: true, End: store.End{Generation: 2, Sequence: 50}, Flags: RowMarked}, Mark: mark(2, 50, 0), Ours: true}, cut: true},
		"restored over an older mark":          {Evidence: Evidence{Journal: true, Keyed: true, Beside: -1, Row: row(3, 9, RowRestored), Mark: mark(2, 50, 0)}, adopt: true},
		"restored on a new box":                {Evidence: Evidence{Journal: true, Keyed: true, Beside: -1, Row: row(3, 9, RowRestored)}, adopt: true},
		"restored, mark taken on, broken off":  {Evidence: Evidence{Journal: true, Keyed: true, Beside: -1, Row: row(3, 9, RowRestored), Mark: mark(3, 9, 0), Ours: true}, adopt: true},
		"copy of a staged file put back later": {Evidence: Evidence{Journal: true, Keyed: true, Beside: -1, Row: row(3, 9, RowRestored), Mark: mark(4, 9, 0)}, cut: true},
		"put back after a reset":               {Evidence: Evidence{Journal: true, Keyed: true, Beside: -1, Row: row(2, 50, RowMarked), Mark: mark(2, 50, Ending|Ended)}, cut: true},
		"new one being made after a reset":     {Evidence: Evidence{Journal: true, Keyed: true, Beside: -1, Row: row(3, 1, RowRestored), Mark: mark(2, 50, Ending|Ended)}, adopt: true},
		"reset broken off before the removal":  {Evidence: Evidence{Journal: true, Keyed: true, Beside: -1, Row: row(2, 50, RowMarked), Mark: mark(2, 50, Ending)}},
		"from before the mark":                 {Evidence: Evidence{Journal: true, Keyed: true, Beside: 4, Old: 4}},
		"from before, killed while it counted": {Evidence: Evidence{Journal: true, Keyed: true, Beside: 4, Old: 5}},
		"from before, put back":                {Evidence: Evidence{Journal: true, Keyed: true, Beside: 4, Old: 2}, cut: true},
		"from before, counter missing":         {Evidence: Evidence{Journal: true, Keyed: true, Beside: -1, Old: 2}, cut: true},
		"from before, restored":                {Evidence: Evidence{Journal: true, Keyed: true, Beside: 4, Old: 2, Staged: true}, adopt: true},
		"from before, put back over a mark":    {Evidence: Evidence{Journal: true, Keyed: true, Beside: -1, Old: 2, Mark: mark(5, 50, 0)}, cut: true},
		"from before, put back after a reset":  {Evidence: Evidence{Journal: true, Keyed: true, Beside: -1, Old: 2, Mark: mark(5, 50, Ending|Ended)}, cut: true},
		"from before, without any counter":     {Evidence: Evidence{Journal: true, Keyed: true, Beside: -1}},
	} {
		t.Run(name, func(t *testing.T) {
			got := Judge(c.Evidence)
			require.Equal(t, c.cut, got.Cut != "", got.Cut)
			require.Equal(t, c.missing, got.Missing)
			require.Equal(t, c.adopt, got.Adopt)
			require.Equal(t, c.afresh, got.Afresh)
		})
	}
}

// A slot is read back as it was written; one changed bit makes it none.
func TestSlot(t *testing.T) {
	mac := func(b []byte) []byte { return make([]byte, 32) }
	s := Slot{Turn: 7, End: store.End{Generation: 3, Sequence: 99, Head: [32]byte{1, 31: 2}, Note: [32]byte{3, 31: 4}}, Flags: Ending, Fold: Folding{5, 6, 7}, Why: "water"}
	raw := s.encode(mac)
	require.Len(t, raw, 512)
	back, _, ok := decodeSlot(raw)
	require.True(t, ok)
	require.Equal(t, s, back)
	for bit := range 8 * crcAt {
		raw[bit/8] ^= 1 << (bit % 8)
		_, _, ok := decodeSlot(raw)
		require.False(t, ok, "bit %d", bit)
		raw[bit/8] ^= 1 << (bit % 8)
	}
}
