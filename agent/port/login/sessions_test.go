package login

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/port/pages"
)

// A session ends 10 minutes after the last look of a person, after 2 hours in any case, when it is left, and when the PIN changes.
func TestSessionsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s sessions
		alive := func(path, cookie string) bool { return s.known(path, cookie, "p1") }
		look := func(path, cookie string) bool {
			_, _, ok := s.look(path, cookie, "p1")
			return ok
		}
		path, cookie := s.begin("p1")
		require.Len(t, path, 26)
		require.Len(t, cookie, 26)
		require.NotEqual(t, path, cookie)
		time.Sleep(10 * time.Minute)
		require.True(t, look(path, cookie))
		for range 10 {
			time.Sleep(time.Minute)
			require.True(t, alive(path, cookie), "this is no look")
		}
		time.Sleep(time.Nanosecond)
		require.False(t, alive(path, cookie))
		require.False(t, look(path, cookie), "10 minutes without a look")

		path, cookie = s.begin("p1")
		for range 2*60/5 - 1 {
			time.Sleep(5 * time.Minute)
			require.True(t, look(path, cookie))
		}
		time.Sleep(5*time.Minute + time.Nanosecond)
		require.False(t, look(path, cookie), "2 hours")

		path, cookie = s.begin("p1")
		s.leave(path)
		require.False(t, look(path, cookie))

		path, cookie = s.begin("p1")
		require.False(t, s.known(path, cookie, "p2"), "the PIN was changed")
		require.False(t, look(path, cookie), "and the session stays ended")

		first, its := s.begin("p1")
		for range maxSessions {
			time.Sleep(time.Second)
			s.begin("p1")
		}
		require.False(t, look(first, its), "the one that was not used for longest makes room")
		require.Len(t, s.all, maxSessions)
	})
}

// A session is its path and its cookie together.
func TestASessionNeedsBoth(t *testing.T) {
	var s sessions
	path, cookie := s.begin("p1")
	other, its := s.begin("p1")
	for _, tc := range [][2]string{{"", ""}, {path, ""}, {"", cookie}, {path, path}, {cookie, cookie}, {path, its}, {other, cookie}, {path, cookie[:25]}, {path + "A", cookie}} {
		require.False(t, s.known(tc[0], tc[1], "p1"), tc)
	}
	require.True(t, s.known(path, cookie, "p1"))
	require.True(t, s.known(other, its, "p1"))
}

// The word of a page is good for one form of its session. The oldest of many pages are forgotten.
func TestAFormCountsOnce(t *testing.T) {
	var s sessions
	path, cookie := s.begin("p1")
	other, its := s.begin("p1")
	word, _, ok := s.look(path, cookie, "p1")
	require.True(t, ok)
	for _, wrong := range []string{"", "AAAA", word[:25], path, cookie} {
		require.False(t, s.spend(path, cookie, "p1", wrong), wrong)
	}
	require.False(t, s.spend(other, its, "p1", word), "another session's")
	require.False(t, s.spend(path, its, "p1", word), "without the session")
	require.True(t, s.spend(path, cookie, "p1", word))
	require.False(t, s.spend(path, cookie, "p1", word), "a second time")
	words := []string{}
	for range maxForms + 1 {
		word, _, _ := s.look(path, cookie, "p1")
		words = append(words, word)
	}
	require.False(t, s.spend(path, cookie, "p1", words[0]))
	require.True(t, s.spend(path, cookie, "p1", words[1]))
	require.True(t, s.spend(path, cookie, "p1", words[maxForms]))
}

// What is said of a deed is said once.
func TestSaidOnce(t *testing.T) {
	var s sessions
	path, cookie := s.begin("p1")
	s.say(path, pages.Said{Do: pages.DoAck})
	s.say("none", pages.Said{Do: pages.DoAck})
	_, said, _ := s.look(path, cookie, "p1")
	require.Equal(t, pages.DoAck, said.Do)
	_, said, _ = s.look(path, cookie, "p1")
	require.Zero(t, said)
}
