package main

import (
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// A thousand terminals start in one moment, and their fleet does not answer for three minutes: each question hangs until the same
// moment. They do not come back together, neither at first nor later.
func TestPollsAreSpread(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const terminals = 1000
		began := time.Now()
		back := began.Add(5 * time.Minute)
		until := back.Add(5 * time.Minute)
		var mu sync.Mutex
		early, late := map[int]int{}, map[int]int{} // questions by the second since the start, and since the fleet is back
		var wg sync.WaitGroup
		for range terminals {
			wg.Go(func() {
				p := poll{every: refreshEvery}
				for now := time.Now(); now.Before(until); now = time.Now() {
					if p.due(now) {
						mu.Lock()
						if now.Before(back) {
							early[int(now.Sub(began)/time.Second)]++
						} else {
							late[int(now.Sub(back)/time.Second)]++
						}
						mu.Unlock()
						var failed error
						if now.After(began.Add(2*time.Minute)) && now.Before(back) {
							time.Sleep(back.Sub(now))
							failed = errors.New("the fleet does not answer")
						}
						p.asked(time.Now(), failed)
					}
					time.Sleep(lookAgain)
				}
			})
		}
		wg.Wait()
		sum := 0
		for name, seconds := range map[string]map[int]int{"start": early, "outage": late} {
			for second, asked := range seconds {
				require.Less(t, asked, terminals/10, "%s, second %d", name, second)
				sum += asked
			}
		}
		require.Greater(t, sum, 5*terminals, "they go on asking: for two minutes, and for five")
		for second := 2; second < 60; second += 2 { // they look every two seconds
			require.NotZero(t, early[second], "second %d after the start", second)
		}
	})
}

// A pause is a fifth longer or shorter at most, and drawn anew each time.
func TestPausesDiffer(t *testing.T) {
	seen := map[time.Duration]bool{}
	for range 100 {
		d := spread(time.Minute)
		require.GreaterOrEqual(t, d, 48*time.Second)
		require.LessOrEqual(t, d, 72*time.Second)
		seen[d] = true
	}
	require.Greater(t, len(seen), 90)
	require.Equal(t, time.Duration(3), spread(3), "too short to be spread")
}
