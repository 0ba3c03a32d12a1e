package outbox

import (
	"context"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/schemes/wire"
	"posagent/store"
	"posagent/store/storetest"
)

// matrix is what the table has to say, written by hand from what an operation is promised, not from the table.
//
// A column is a state; the letter behind a stroke is where a HELD one goes on (P = PENDING, S = SENT). A doubtful one was sent.
// A cell is the state that follows and what belongs to the move: "." nothing happens, "!" refused. A final state keeps the letter
// it had where the cell says none. An EXPIRED one goes on there where it is revived (S = it stood in a journal that was restored). The letters behind the plus sign:
//
//	w the row is written     n the Key's age counts from now      f the payload's key is destroyed
//	r rests by the back-off  o it counts from the last saved time h Settled runs, and After
//	s by the short one       u it does not count: nothing was sent b the unsent ones behind it fail too
//	d tried at once
const matrix = `
event                 absent     PENDING        SENT           HELD/P         HELD/S         DOUBT          DONE      FAILED    EXPIRED      EXPIRED/S
accept                PENDING+w  .              .              .              .              .              .         .         .            .
revive                !          !              !              !              !              !              !         !         PENDING+wd   SENT+wd
leave                 !          SENT+wn        SENT+wn        .              .              .              .         .         .            .
expire                !          EXPIRED+wfhb   !              !              !              !              !         !         !            !
withdraw              !          EXPIRED+wfhb   !              !              !              !              !         !         !            !
fail                  !          FAILED+wfhb    !              !              !              !              !         !         !            !
forget                !          !              DOUBT+wh       !              !              !              !         !         !            !
distrust              !          HELD/P+w       HELD/S+w       !              !              !              HELD/S+w  HELD/S+w  HELD/S+w     HELD/S+w
distrust away         !          HELD/S+w       HELD/S+w       HELD/P+w       HELD/S+w       HELD/S+w       .         .         .            .
hold                  !          HELD/P+w       HELD/S+w       !              !              !              !         !         !            !
hold restored         !          HELD/S+wo      HELD/S+wo      HELD/S+wo      HELD/S+wo            !              !         !         EXPIRED/S+wo  EXPIRED/S+wo
release               !          !              !              PENDING+wd     SENT+wd        !              !         !         !            !
send now              !          PENDING+wd     SENT+wd        !              !              !              !         !         !            !
ask now               !          PENDING+wd     SENT+wd        !              !              SENT+wd        !         !         !            !
resolve done          !          !              !              DONE+wfh       DONE+wfh       DONE+wfh       !         !         !            !
resolve failed        !          !              !              FAILED+wfhb    FAILED+wfhb    FAILED+wfhb    !         !         !            !

reading says DONE     !          DONE+wfh       DONE+wfh       DONE+wfh       DONE+wfh       DONE+wfh       .         .         .            .
reading says FAILED   !          FAILED+wfhb    FAILED+wfhb    FAILED+wfhb    FAILED+wfhb    FAILED+wfhb    .         .         .            .
reading says EXPIRED  !          EXPIRED/P+uwfhb   EXPIRED/P+uwfhb   EXPIRED/P+uwfhb   EXPIRED/P+uwfhb   EXPIRED/P+uwfhb   .         .         .            .
reading says DOUBT    !          PENDING+wus    PENDING+wus    HELD/P+wus     HELD/P+wus     PENDING+wus    .         .         .            .
reading says PENDING  !          PENDING+wus    PENDING+wus    HELD/P+wus     HELD/P+wus     PENDING+wus    .         .         .            .
reading says SENT     !          PENDING+wr     SENT+wr        HELD/P+wr      HELD/S+wr      SENT+wr        .         .         .            .
reading says nothing  !          PENDING+wr     SENT+wr        HELD/P+wr      HELD/S+wr      SENT+wr        .         .         .            .
reading says HELD     !          HELD/P+w       HELD/S+w       HELD/P+w       HELD/S+w       HELD/S+w       .         .         .            .

first says DONE       !          DONE+wfh       DONE+wfh       DONE+wfh       DONE+wfh       DONE+wfh       .         .         .            .
first says FAILED     !          FAILED+wfhb    FAILED+wfhb    FAILED+wfhb    FAILED+wfhb    FAILED+wfhb    .         .         .            .
first says EXPIRED    !          EXPIRED/P+uwfhb   EXPIRED/P+uwfhb   EXPIRED/P+uwfhb   EXPIRED/P+uwfhb   EXPIRED/P+uwfhb   .         .         .            .
first says DOUBT      !          DOUBT+wh       DOUBT+wh       DOUBT+wh       DOUBT+wh       DOUBT+wh       .         .         .            .
first says PENDING    !          PENDING+wus    PENDING+wus    HELD/P+wus     HELD/P+wus     PENDING+wus    .         .         .            .
first says SENT       !          PENDING+wr     SENT+wr        HELD/P+wr      HELD/S+wr      SENT+wr        .         .         .            .
first says nothing    !          PENDING+wr     SENT+wr        HELD/P+wr      HELD/S+wr      SENT+wr        .         .         .            .
first says HELD       !          HELD/P+w       HELD/S+w       HELD/P+w       HELD/S+w       HELD/S+w       .         .         .            .

only says DONE        !          DONE+wfh       DONE+wfh       DONE+wfh       DONE+wfh       DONE+wfh       .         .         .            .
only says FAILED      !          FAILED+wfhb    FAILED+wfhb    FAILED+wfhb    FAILED+wfhb    FAILED+wfhb    .         .         .            .
only says EXPIRED     !          EXPIRED/P+uwfhb   EXPIRED/P+uwfhb   EXPIRED/P+uwfhb   EXPIRED/P+uwfhb   EXPIRED/P+uwfhb   .         .         .            .
only says DOUBT       !          DOUBT+wh       DOUBT+wh       DOUBT+wh       DOUBT+wh       DOUBT+wh       .         .         .            .
only says PENDING     !          PENDING+wus    PENDING+wus    HELD/P+wus     HELD/P+wus     PENDING+wus    .         .         .            .
only says SENT        !          DOUBT+wh       DOUBT+wh       DOUBT+wh       DOUBT+wh       DOUBT+wh       .         .         .            .
only says nothing     !          PENDING+wr     SENT+wr        HELD/P+wr      HELD/S+wr      SENT+wr        .         .         .            .
only says HELD        !          HELD/P+w       HELD/S+w       HELD/P+w       HELD/S+w       HELD/S+w       .         .         .            .

again says DONE       !          DONE+wfh       DONE+wfh       DONE+wfh       DONE+wfh       DONE+wfh       .         .         .            .
again says FAILED     !          FAILED+wfhb    FAILED+wfhb    FAILED+wfhb    FAILED+wfhb    FAILED+wfhb    .         .         .            .
again says EXPIRED    !          PENDING+wr     SENT+wr        HELD/P+wr      HELD/S+wr      SENT+wr        .         .         .            .
again says DOUBT      !          DOUBT+wh       DOUBT+wh       DOUBT+wh       DOUBT+wh       DOUBT+wh       .         .         .            .
again says PENDING    !          PENDING+ws     SENT+ws        HELD/P+ws      HELD/S+ws      SENT+ws        .         .         .            .
again says SENT       !          PENDING+wr     SENT+wr        HELD/P+wr      HELD/S+wr      SENT+wr        .         .         .            .
again says nothing    !          PENDING+wr     SENT+wr        HELD/P+wr      HELD/S+wr      SENT+wr        .         .         .            .
again says HELD       !          HELD/P+w       HELD/S+w       HELD/P+w       HELD/S+w       HELD/S+w       .         .         .            .
`

// letters are the effects as the matrix writes them.
var letters = map[effect]string{
	write: "w", sentNow: "n", sentSince: "o", unsent: "u", rest: "r", restShort: "s", due: "d", finish: "f", settle: "h", breaks: "b",
}

// cellsOf splits a line of the matrix at its runs of two and more spaces.
func cellsOf(line string) []string {
	return regexp.MustCompile(` {2,}`).Split(strings.TrimSpace(line), -1)
}

// eventNamed reads the first column: a verb, or "<attempt> says <verdict>".
func eventNamed(s string) event {
	if a, v, ok := strings.Cut(s, " says "); ok {
		return answered(State(v), attempt(a))
	}
	return event{verb: verb(s)}
}

// positionsOf are the positions that a column stands for.
func positionsOf(column string) []position {
	state, letter, _ := strings.Cut(column, "/")
	switch s := State(state); {
	case state == "absent":
		return []position{{}}
	case letter != "":
		return []position{{s, map[string]State{"P": Pending, "S": Sent}[letter]}}
	case s == Pending:
		return []position{{Pending, Pending}}
	case s == Sent, s == Doubt:
		return []position{{s, Sent}}
	case s == Expired:
		return []position{{s, Pending}}
	default: // final: it may have come from either
		return []position{{s, Pending}, {s, Sent}}
	}
}

func TestMatrixOfStatesAndEvents(t *testing.T) {
	var lines []string
	for line := range strings.SplitSeq(matrix, "\n") {
		if line != "" {
			lines = append(lines, line)
		}
	}
	columns := cellsOf(lines[0])[1:]
	seen := map[event]bool{}
	for _, line := range lines[1:] {
		cells := cellsOf(line)
		require.Len(t, cells, len(columns)+1, line)
		e := eventNamed(cells[0])
		require.False(t, seen[e], "%s stands twice in the matrix", cells[0])
		seen[e] = true
		for i, want := range cells[1:] {
			for _, p := range positionsOf(columns[i]) {
				to, do, err := next(p, e)
				where := cells[0] + " in " + columns[i]
				switch want {
				case "!":
					require.ErrorIs(t, err, ErrState, where)
					require.Equal(t, p, to, where)
					require.Empty(t, do, where)
				case ".":
					require.NoError(t, err, where)
					require.Equal(t, p, to, where)
					require.Empty(t, do, where)
				default:
					require.NoError(t, err, where)
					column, effects, _ := strings.Cut(want, "+")
					state := positionsOf(column)[0]
					if state.State.Final() && !strings.Contains(column, "/") {
						state.Resume = p.Resume
					}
					require.Equal(t, state, to, where)
					require.ElementsMatch(t, strings.Split(effects, ""), short(do), where)
				}
			}
		}
	}
	for _, r := range moves { // the table says nothing of what the matrix does not know
		for _, e := range r.on {
			require.True(t, seen[e], "%+v is not in the matrix", e)
		}
	}
}

func short(do []effect) (out []string) {
	for _, f := range do {
		out = append(out, letters[f])
	}
	return out
}

// TestOnePairOneRule: no rule of the table hides another.
func TestOnePairOneRule(t *testing.T) {
	type pair struct {
		in State
		on event
	}
	seen := map[pair]bool{}
	for _, r := range moves {
		for _, in := range r.in {
			for _, on := range r.on {
				require.False(t, seen[pair{in, on}], "%+v in %s", on, in)
				seen[pair{in, on}] = true
			}
		}
	}
}

// TestWhatWasSentIsNeverUnsent: only the verdict of the first attempt says that nothing has left. Whatever else happens, in whatever
// order, an operation that may have had an effect does not become one that was never sent.
func TestWhatWasSentIsNeverUnsent(t *testing.T) {
	for _, p := range []position{{Sent, Sent}, {Held, Sent}, {Doubt, Sent}} {
		for _, r := range moves {
			for _, e := range r.on {
				if e.attempt == reading || e.attempt == first || e.attempt == only {
					continue
				}
				to, do, err := next(p, e)
				if err != nil {
					require.ErrorIs(t, err, ErrState)
					continue
				}
				require.NotContains(t, []State{Pending, Expired}, to.State, "%+v in %+v", e, p)
				require.NotContains(t, do, unsent, "%+v in %+v", e, p)
				if !to.State.Final() {
					require.Equal(t, Sent, to.Resume, "%+v in %+v", e, p)
				}
			}
		}
	}
}

// TestOnlyTheTableMovesAnOperation: one function writes the state of a row that was read, and it is given the table's answer.
func TestOnlyTheTableMovesAnOperation(t *testing.T) {
	files, err := os.ReadDir(".")
	require.NoError(t, err)
	writes := regexp.MustCompile(`\.(?:state|resume)\b[^=\n({]*[^=!<>:\n]=[^=]`)
	var found []string
	for _, f := range files {
		if name := f.Name(); strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") {
			text, err := os.ReadFile(name)
			require.NoError(t, err)
			for _, m := range writes.FindAllString(string(text), -1) {
				found = append(found, name+": "+strings.TrimSpace(m))
			}
		}
	}
	require.Equal(t, []string{"step.go: .state, r.resume ="}, found)
}

// TestTheTableDoesNoIO: it can be read, and tested, without a store, a clock or a network.
func TestTheTableDoesNoIO(t *testing.T) {
	f, err := parser.ParseFile(token.NewFileSet(), "table.go", nil, parser.ImportsOnly)
	require.NoError(t, err)
	var imports []string
	for _, i := range f.Imports {
		imports = append(imports, i.Path.Value)
	}
	require.Equal(t, []string{`"errors"`, `"fmt"`, `"slices"`}, imports)
}

// TestARowIsWrittenOnlyAsItWasRead: what decided about a row that has another state by now changes nothing.
func TestARowIsWrittenOnlyAsItWasRead(t *testing.T) {
	db := storetest.Open(t, Schema()...)
	o := NewOutbox(Options{DB: db, Kinds: []Kind{{Name: "k", Send: func(context.Context, Op) Verdict { return Verdict{} }}}})
	n := New{Key: wire.NewKey(), Kind: "k", Aggregate: "a"}
	require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error { return o.Accept(tx, n) }))
	var old row
	require.NoError(t, db.Read(t.Context(), func(r store.Reader) (err error) {
		old, err = byKey(r, n.Key)
		return err
	}))
	require.NoError(t, o.Hold(t.Context(), n.Key, "first"))
	require.NoError(t, o.Resolve(t.Context(), n.Key, Done, "second"))
	err := db.Write(t.Context(), func(tx store.Tx) error {
		_, err := o.apply(tx, &old, event{verb: hold})
		return err
	})
	require.ErrorContains(t, err, "it is not PENDING any more")
}
