package display

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// gate is a screen that takes a picture only when somebody lets it.
type gate struct {
	open  chan struct{}
	shown []string
}

func (g *gate) Show(v View) error {
	<-g.open
	g.shown = append(g.shown, v.Text)
	return nil
}

func TestAScreenThatDoesNotTakePicturesHoldsNobodyUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &gate{open: make(chan struct{})}
		b := Bounded(g, 500*time.Millisecond)
		start := time.Now()
		require.ErrorIs(t, b.Show(View{Text: "code"}), ErrStuck)
		require.Equal(t, 500*time.Millisecond, time.Since(start))
		require.ErrorIs(t, b.Show(View{Text: "paid"}), ErrStuck, "stuck is not waited for twice")
		require.ErrorIs(t, b.Show(View{Text: "idle"}), ErrStuck)
		require.Equal(t, 500*time.Millisecond, time.Since(start))

		close(g.open) // somebody reads again: what was under way, then the newest only
		synctest.Wait()
		require.Equal(t, []string{"code", "idle"}, g.shown)
		require.NoError(t, b.Show(View{Text: "next"}))
		require.Equal(t, []string{"code", "idle", "next"}, g.shown)
	})
}

func TestBoundedGivesTheScreensOwnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := Bounded(failing{}, time.Second)
		require.ErrorIs(t, b.Show(View{}), ErrTooSmall)
		require.NoError(t, b.(Refresher).Refresh(), "a screen that does not change with time")
	})
}

type failing struct{}

func (failing) Show(View) error { return ErrTooSmall }

// panel is a screen that outlives the program.
type panel struct {
	*gate
	ended int
}

func (p *panel) End() error {
	p.ended++
	return ErrTooSmall
}

// TestAStuckScreenIsEndedOnceItTakesPictures: what waited for it is not shown before.
func TestAStuckScreenIsEndedOnceItTakesPictures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &panel{gate: &gate{open: make(chan struct{})}}
		b := Bounded(p, time.Second)
		require.ErrorIs(t, b.Show(View{Text: "code"}), ErrStuck)
		require.ErrorIs(t, b.Show(View{Text: "paid"}), ErrStuck)
		start := time.Now()
		require.ErrorIs(t, b.(Ender).End(), ErrStuck)
		require.Equal(t, 10*time.Second, time.Since(start))
		require.Zero(t, p.ended)
		close(p.open)
		synctest.Wait()
		require.Equal(t, 1, p.ended)
		require.Equal(t, []string{"code"}, p.shown)
		require.ErrorIs(t, b.(Ender).End(), ErrTooSmall)
		require.NoError(t, Bounded(p.gate, time.Second).(Ender).End(), "a screen that ends with the program")
	})
}

// TestASlowScreenIsEnded: the program waits for the picture that says that it has ended, though the one before is not drawn yet.
func TestASlowScreenIsEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &panel{gate: &gate{open: make(chan struct{})}}
		b := Bounded(p, time.Second)
		require.ErrorIs(t, b.Show(View{Text: "ready"}), ErrStuck)
		time.AfterFunc(6*time.Second, func() { close(p.open) })
		require.ErrorIs(t, b.(Ender).End(), ErrTooSmall, "the screen's own error")
		require.Equal(t, 1, p.ended)
	})
}
