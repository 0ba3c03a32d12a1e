package port

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// A client may ask as often as its rate says, whenever it asks, and gets a pause that is worth waiting for.
func TestPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPace(10, 100)
		ask := func() bool {
			wait, ok := p.begin()
			if ok {
				p.end()
			}
			require.Equal(t, ok, wait == 0)
			return ok
		}
		count := func(n int) (served int) {
			for range n {
				if ask() {
					served++
				}
			}
			return served
		}
		require.Equal(t, 10, count(50), "a burst of one second")
		wait, ok := p.begin()
		require.False(t, ok)
		time.Sleep(wait)
		require.Equal(t, 1, count(5), "after the pause that was named")
		time.Sleep(time.Hour)
		require.Equal(t, 10, count(50), "what was not used is not saved up")
		served := 0
		for range 1000 {
			time.Sleep(10 * time.Millisecond)
			served += count(1)
		}
		require.InDelta(t, 100, served, 1, "ten a second for ten seconds")
	})
}

// As many may be in flight as the limit says, and each that ends makes room for one.
func TestParallel(t *testing.T) {
	p := newPace(1000, 2)
	for range 2 {
		_, ok := p.begin()
		require.True(t, ok)
	}
	wait, ok := p.begin()
	require.False(t, ok)
	require.Positive(t, wait)
	p.end()
	_, ok = p.begin()
	require.True(t, ok)
}
