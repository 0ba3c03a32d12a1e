package stacktest

import (
	"context"
	"os"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"posagent/cross/stack"
	"posagent/store/crashfs"
	"posagent/store/storetest"
)

// Scratch gives f options for a new directory, which is removed then: keys that hide nothing, and no
// reserve.
func Scratch(t *testing.T, o stack.Options, f func(o stack.Options)) {
	t.Helper()
	dir, err := crashfs.Scratch()
	require.NoError(t, err)
	defer func() { require.NoError(t, os.RemoveAll(dir)) }()
	o.Dir, o.Wrapper, o.Ballast = dir, storetest.Wrapper{}, -1
	f(o)
}

// Life starts a terminal of a new directory in a bubble, plays, and ends it.
func Life(t *testing.T, o stack.Options, play func(ctx context.Context, t *testing.T, s *stack.Stack)) {
	t.Helper()
	Scratch(t, o, func(o stack.Options) { Play(t, o, play) })
}

// Play starts a terminal of o's directory in a bubble, plays, and ends it.
func Play(t *testing.T, o stack.Options, play func(ctx context.Context, t *testing.T, s *stack.Stack)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ctx := context.Background()
		s, err := stack.Open(ctx, o)
		require.NoError(t, err)
		defer func() { require.NoError(t, s.Close()) }()
		require.NoError(t, s.Start(ctx))
		play(ctx, t, s)
	})
}

// Content fails the test for what the referee holds against the terminal and the backend.
func Content(ctx context.Context, t *testing.T, s *stack.Stack) {
	t.Helper()
	verdict, err := s.Verdict(ctx)
	require.NoError(t, err)
	require.Empty(t, verdict)
}
