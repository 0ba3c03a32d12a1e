package sqlite

import (
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/store"
)

// The whole table of what a start may find, and what it must make of it.
func TestJudge(t *testing.T) {
	mark := func(generation, sequence int64, flags uint32) reading {
		return reading{there: true, ok: true, slot: slot{end: store.End{Generation: generation, Sequence: sequence}, flags: flags}}
	}
	row := func(generation, sequence, flags int64) endRow {
		return endRow{there: true, ok: true, end: store.End{Generation: generation, Sequence: sequence}, flags: flags}
	}
	folds := mark(2, 50, 0)
	folds.slot.fold = folding{1, 2, 3}
	torn := reading{there: true}
	for name, c := range map[string]struct {
		evidence
		cut, missing, adopt, afresh bool
	}{
		"first start":                          {evidence: evidence{beside: -1}},
		"no journal, mark":                     {evidence: evidence{beside: -1, mark: mark(2, 50, 0)}, cut: true, missing: true},
		"no journal, torn mark":                {evidence: evidence{beside: -1, mark: torn}, cut: true, missing: true},
		"no journal, old counter":              {evidence: evidence{beside: 4}, cut: true, missing: true},
		"no journal, ended":                    {evidence: evidence{beside: -1, mark: mark(2, 50, flagEnding|flagEnded)}, afresh: true},
		"no journal, reset broken off":         {evidence: evidence{beside: -1, mark: mark(2, 50, flagEnding)}, afresh: true},
		"being made, no mark":                  {evidence: evidence{journal: true, beside: -1}},
		"being made after a reset":             {evidence: evidence{journal: true, beside: -1, mark: mark(2, 50, flagEnding|flagEnded)}, afresh: true},
		"empty tables, mark":                   {evidence: evidence{journal: true, beside: -1, mark: mark(2, 50, 0)}, cut: true},
		"row, mark not claimed yet":            {evidence: evidence{journal: true, keyed: true, beside: -1, row: row(1, 3, 0), mark: mark(1, 3, 0), ours: true}},
		"row, log cut at the beginning":        {evidence: evidence{journal: true, keyed: true, beside: -1, row: row(1, 3, 0), mark: mark(1, 50, 0), ours: true}, cut: true},
		"key, log cut at the very beginning":   {evidence: evidence{journal: true, keyed: true, beside: -1, mark: mark(1, 50, 0), ours: true}, cut: true},
		"row, no mark yet":                     {evidence: evidence{journal: true, keyed: true, beside: -1, row: row(1, 3, 0)}},
		"unclaimed beside a stranger's mark":   {evidence: evidence{journal: true, keyed: true, beside: -1, row: row(1, 3, 0), mark: mark(1, 3, 0)}, cut: true},
		"level":                                {evidence: evidence{journal: true, keyed: true, beside: -1, row: row(2, 50, rowMarked), mark: mark(2, 50, 0), ours: true}},
		"journal ahead":                        {evidence: evidence{journal: true, keyed: true, beside: -1, row: row(2, 90, rowMarked), mark: mark(2, 50, 0), ours: true}},
		"journal one behind":                   {evidence: evidence{journal: true, keyed: true, beside: -1, row: row(2, 49, rowMarked), mark: mark(2, 50, 0), ours: true}, cut: true},
		"older generation":                     {evidence: evidence{journal: true, keyed: true, beside: -1, row: row(1, 90, rowMarked), mark: mark(2, 50, 0), ours: true}, cut: true},
		"newer generation without a verb":      {evidence: evidence{journal: true, keyed: true, beside: -1, row: row(3, 90, rowMarked), mark: mark(2, 50, 0), ours: true}, cut: true},
		"another journal":                      {evidence: evidence{journal: true, keyed: true, beside: -1, row: row(2, 90, rowMarked), mark: mark(2, 50, 0)}, cut: true},
		"mark missing":                         {evidence: evidence{journal: true, keyed: true, beside: -1, row: row(2, 50, rowMarked)}, cut: true},
		"both slots torn":                      {evidence: evidence{journal: true, keyed: true, beside: -1, row: row(2, 50, rowMarked), mark: torn}},
		"folding, log there":                   {evidence: evidence{journal: true, keyed: true, beside: -1, row: row(2, 50, rowMarked), mark: folds, ours: true, whole: true}},
		"folding, log gone":                    {evidence: evidence{journal: true, keyed: true, beside: -1, row: row(2, 50, rowMarked), mark: folds, ours: true}, cut: true},
		"row was edited":                       {evidence: evidence{journal: true, keyed: true, beside: -1, row: endRow{there: true, end: store.End{Generation: 2, Sequence: 50}, flags: rowMarked}, mark: mark(2, 50, 0), ours: true}, cut: true},
		"restored over an older mark":          {evidence: evidence{journal: true, keyed: true, beside: -1, row: row(3, 9, rowRestored), mark: mark(2, 50, 0)}, adopt: true},
		"restored on a new box":                {evidence: evidence{journal: true, keyed: true, beside: -1, row: row(3, 9, rowRestored)}, adopt: true},
		"restored, mark taken on, broken off":  {evidence: evidence{journal: true, keyed: true, beside: -1, row: row(3, 9, rowRestored), mark: mark(3, 9, 0), ours: true}, adopt: true},
		"copy of a staged file put back later": {evidence: evidence{journal: true, keyed: true, beside: -1, row: row(3, 9, rowRestored), mark: mark(4, 9, 0)}, cut: true},
		"put back after a reset":               {evidence: evidence{journal: true, keyed: true, beside: -1, row: row(2, 50, rowMarked), mark: mark(2, 50, flagEnding|flagEnded)}, cut: true},
		"new one being made after a reset":     {evidence: evidence{journal: true, keyed: true, beside: -1, row: row(3, 1, rowRestored), mark: mark(2, 50, flagEnding|flagEnded)}, adopt: true},
		"reset broken off before the removal":  {evidence: evidence{journal: true, keyed: true, beside: -1, row: row(2, 50, rowMarked), mark: mark(2, 50, flagEnding)}},
		"from before the mark":                 {evidence: evidence{journal: true, keyed: true, beside: 4, old: 4}},
		"from before, killed while it counted": {evidence: evidence{journal: true, keyed: true, beside: 4, old: 5}},
		"from before, put back":                {evidence: evidence{journal: true, keyed: true, beside: 4, old: 2}, cut: true},
		"from before, counter missing":         {evidence: evidence{journal: true, keyed: true, beside: -1, old: 2}, cut: true},
		"from before, restored":                {evidence: evidence{journal: true, keyed: true, beside: 4, old: 2, staged: true}, adopt: true},
		"from before, put back over a mark":    {evidence: evidence{journal: true, keyed: true, beside: -1, old: 2, mark: mark(5, 50, 0)}, cut: true},
		"from before, put back after a reset":  {evidence: evidence{journal: true, keyed: true, beside: -1, old: 2, mark: mark(5, 50, flagEnding|flagEnded)}, cut: true},
		"from before, without any counter":     {evidence: evidence{journal: true, keyed: true, beside: -1}},
	} {
		t.Run(name, func(t *testing.T) {
			got := judge(c.evidence)
			require.Equal(t, c.cut, got.cut != "", got.cut)
			require.Equal(t, c.missing, got.missing)
			require.Equal(t, c.adopt, got.adopt)
			require.Equal(t, c.afresh, got.afresh)
		})
	}
}

// A slot is read back as it was written; one changed bit makes it none.
func TestSlot(t *testing.T) {
	mac := func(b []byte) []byte { return make([]byte, 32) }
	s := slot{turn: 7, end: store.End{Generation: 3, Sequence: 99, Head: [32]byte{1, 31: 2}, Note: [32]byte{3, 31: 4}}, flags: flagEnding, fold: folding{5, 6, 7}, why: "water"}
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
