package display

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// gate is a screen that takes a picture only when somebody lets it, and outlives the program.
type gate struct {
	open  chan struct{}
	shown []string
	at    time.Time // of the last one
	ended int
}

func newGate() *gate { return &gate{open: make(chan struct{})} }

func (g *gate) Show(v View) error {
	<-g.open
	g.shown, g.at = append(g.shown, v.Text), time.Now()
	return nil
}

func (g *gate) Refresh() error { return nil }

func (g *gate) End() error {
	g.ended++
	return ErrTooSmall
}

func TestAScreenThatDoesNotTakePicturesHoldsNobodyUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		w := Watch(g, "/dev/fb0", 500*time.Millisecond)
		start := time.Now()
		require.ErrorIs(t, w.Show(View{Text: "code"}), ErrStuck)
		require.Equal(t, 500*time.Millisecond, time.Since(start))
		require.ErrorIs(t, w.Show(View{Text: "paid"}), ErrStuck, "stuck is not waited for twice")
		require.ErrorIs(t, w.Show(View{Text: "idle"}), ErrStuck)
		require.ErrorIs(t, w.Refresh(), ErrStuck)
		require.Equal(t, 500*time.Millisecond, time.Since(start))
		require.EqualError(t, w.Fault(), "/dev/fb0: screen does not take pictures")

		close(g.open) // somebody reads again: what was under way, then the newest only
		synctest.Wait()
		require.Equal(t, []string{"code", "idle"}, g.shown)
		require.NoError(t, w.Fault())
		require.NoError(t, w.Show(View{Text: "next"}))
		require.Equal(t, []string{"code", "idle", "next"}, g.shown)
	})
}

func TestAWatchedScreenGivesItsOwnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := Watch(failing{newGate()}, "", time.Second)
		require.ErrorIs(t, w.Show(View{}), ErrTooSmall)
		require.ErrorIs(t, w.Fault(), ErrTooSmall)
		require.NoError(t, w.Refresh())
	})
}

type failing struct{ *gate }

func (failing) Show(View) error { return ErrTooSmall }

// TestAStuckScreenIsEndedOnceItTakesPictures: what waited for it is not shown before.
func TestAStuckScreenIsEndedOnceItTakesPictures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		w := Watch(g, "", time.Second)
		require.ErrorIs(t, w.Show(View{Text: "code"}), ErrStuck)
		require.ErrorIs(t, w.Show(View{Text: "paid"}), ErrStuck)
		start := time.Now()
		require.ErrorIs(t, w.End(), ErrStuck)
		require.Equal(t, 10*time.Second, time.Since(start))
		require.Zero(t, g.ended)
		close(g.open)
		synctest.Wait()
		require.Equal(t, 1, g.ended)
		require.Equal(t, []string{"code"}, g.shown)
		require.ErrorIs(t, w.End(), ErrTooSmall)
	})
}

// TestASlowScreenIsEnded: the program waits for the picture that says that it has ended, though the one before is not drawn yet.
func TestASlowScreenIsEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		w := Watch(g, "", time.Second)
		require.ErrorIs(t, w.Show(View{Text: "ready"}), ErrStuck)
		time.AfterFunc(6*time.Second, func() { close(g.open) })
		require.ErrorIs(t, w.End(), ErrTooSmall, "the screen's own error")
		require.Equal(t, 1, g.ended)
	})
}

// stopped is a console on which somebody pressed Ctrl-S.
type stopped struct{ open chan struct{} }

func (s stopped) Write(b []byte) (int, error) {
	<-s.open
	return len(b), nil
}

// One screen that hangs stops no other, and is named. The kind: a console, a picture file and a panel, each stuck beside the other
// two; each call of a sale (show, refresh, end); the first in the list and the last.
func TestField2_P1OneStuckScreenStopsNoOther(t *testing.T) {
	for stuck := range 3 {
		synctest.Test(t, func(t *testing.T) {
			const limit = 500 * time.Millisecond
			open := make(chan struct{})
			defer synctest.Wait()
			defer close(open)
			gates := []*gate{newGate(), newGate(), newGate()}
			var all []*Watched
			var screens []Screen
			for i, g := range gates {
				var s Lasting = g
				switch {
				case i != stuck:
					close(g.open)
				case i == 0: // what a person stops is the real console
					s = NewConsole(stopped{open}, Options{Plain: true})
				default:
					go func() { <-open; close(g.open) }()
				}
				all = append(all, Watch(s, "a screen", limit))
				screens = append(screens, all[i])
			}
			shows := Fan(screens...)
			for _, text := range []string{"code", "paid", "code of the next"} {
				start := time.Now()
				require.ErrorIs(t, shows.Show(View{Text: text}), ErrStuck)
				require.LessOrEqual(t, time.Since(start), limit)
				for i, w := range all {
					if i == stuck {
						require.ErrorIs(t, w.Fault(), ErrStuck)
						continue
					}
					require.NoError(t, w.Fault())
					require.Equal(t, text, gates[i].shown[len(gates[i].shown)-1], "screen %d beside a stuck %d", i, stuck)
					require.Equal(t, start, gates[i].at, "at once")
				}
				require.ErrorIs(t, shows.(Refresher).Refresh(), ErrStuck)
			}
			require.ErrorIs(t, shows.(Ender).End(), ErrStuck)
			for i, g := range gates {
				require.Equal(t, i != stuck, g.ended == 1)
			}
		})
	}
}
