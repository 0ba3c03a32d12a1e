package entry

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The situations of an entry for two or three digits, and how each is reached.
var situations = map[string][]Key{
	"empty":     nil,
	"short":     {Digit(7)},
	"enough":    {Digit(7), Digit(0)},
	"full":      {Digit(7), Digit(0), Digit(4)},
	"accepted":  {Digit(7), Digit(0), Confirm},
	"cancelled": {Digit(7), Cancel},
	"timed out": {Digit(7)}, // and Expire
}

var notes = map[Note]string{Fine: "", TooShort: "!short", TooLong: "!long", TooSmall: "!small", TooLarge: "!large", Lost: "!lost"}
var phases = map[Phase]string{Typing: "typing", Accepted: "accepted", Cancelled: "cancelled", TimedOut: "timed-out"}

func reached(t *testing.T, situation string) *Entry {
	t.Helper()
	e, err := New(Prompt{Kind: Digits, Min: 2, Max: 3})
	require.NoError(t, err)
	for _, k := range situations[situation] {
		e.Press(k)
	}
	if situation == "timed out" {
		e.Expire()
	}
	return e
}

// TestMatrix walks every key and event over every situation. Each cell is the phase, what is shown, and the note.
func TestMatrix(t *testing.T) {
	const grid = `
		situation | 5              | correct    | confirm         | cancel    | up         | f3         | none       | gap           | expire
		empty     | typing:5       | typing:    | typing:!short   | cancelled:| typing:    | typing:    | typing:    | typing:!lost  | timed-out:
		short     | typing:75      | typing:    | typing:7!short  | cancelled:| typing:7   | typing:7   | typing:7   | typing:!lost  | timed-out:
		enough    | typing:705     | typing:7   | accepted:       | cancelled:| typing:70  | typing:70  | typing:70  | typing:!lost  | timed-out:
		full      | typing:704!long| typing:70  | accepted:       | cancelled:| typing:704 | typing:704 | typing:704 | typing:!lost  | timed-out:
		accepted  | accepted:      | accepted:  | accepted:       | accepted: | accepted:  | accepted:  | accepted:  | accepted:     | accepted:
		cancelled | cancelled:     | cancelled: | cancelled:      | cancelled:| cancelled: | cancelled: | cancelled: | cancelled:    | cancelled:
		timed out | timed-out:     | timed-out: | timed-out:      | timed-out:| timed-out: | timed-out: | timed-out: | timed-out:    | timed-out:`
	pressed := map[string]Key{"5": Digit(5), "correct": Correct, "confirm": Confirm, "cancel": Cancel, "up": Up, "f3": F1 + 2, "none": None, "gap": Gap}
	var head []string
	rows := 0
	for line := range strings.Lines(strings.TrimSpace(grid)) {
		var cells []string
		for cell := range strings.SplitSeq(line, "|") {
			cells = append(cells, strings.TrimSpace(cell))
		}
		if head == nil {
			head = cells
			continue
		}
		rows++
		require.Len(t, cells, len(head))
		for i := 1; i < len(head); i++ {
			e := reached(t, cells[0])
			if head[i] == "expire" {
				e.Expire()
			} else {
				e.Press(pressed[head[i]])
			}
			v := e.View()
			require.Equal(t, cells[i], phases[v.Phase]+":"+v.Text+notes[v.Note], "%s, then %s", cells[0], head[i])
		}
	}
	require.Equal(t, len(situations), rows)
	require.Len(t, head, 10)
}
