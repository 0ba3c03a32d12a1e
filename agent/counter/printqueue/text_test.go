package printqueue_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/agent/counter/printqueue"
	"posagent/device/printer"
	"posagent/ecr"
)

// TestARegistersTextIsPrinted: what a register prints stands on a piece of paper of its own.
func TestARegistersTextIsPrinted(t *testing.T) {
	s := newShop(t)
	path := filepath.Join(t.TempDir(), "paper")
	x, stop := s.start(toFile(t, path), func(o *printqueue.Options) { o.Sandbox = true })
	require.NoError(t, x.Text(t.Context(), []ecr.PrintLine{
		{Text: "Garderobe", Centre: true}, {Text: "12", Double: true, Centre: true}, {Feed: 2}, {Text: ""}, {Text: "bis 22 Uhr"},
	}))
	s.allPrinted()
	stop()
	got := listing(t, path)
	for _, text := range []string{"SANDBOX", "Garderobe", "12", "bis 22 Uhr"} {
		require.Contains(t, got, text)
	}
	require.Less(t, strings.Index(got, "Garderobe"), strings.Index(got, "bis 22 Uhr"))
	require.NotContains(t, got, "COPY")
}

// TestTextsOfRegistersAreBounded: they push no receipt out that waits.
func TestTextsOfRegistersAreBounded(t *testing.T) {
	s := newShop(t)
	x := printqueue.New(printqueue.Options{DB: s.db, Running: s.running, Books: s.books, Prints: everything}) // it does not run
	s.confirm(x, "k42")
	before := s.waiting()
	for range printqueue.MaxTexts {
		require.NoError(t, x.Text(t.Context(), []ecr.PrintLine{{Text: "A"}}))
	}
	require.ErrorIs(t, x.Text(t.Context(), []ecr.PrintLine{{Text: "B"}}), printqueue.ErrTexts)
	require.Equal(t, before, s.waiting()[:len(before)])
	require.Len(t, s.waiting(), len(before)+printqueue.MaxTexts)

	require.NoError(t, s.db.Write(t.Context(), printqueue.Forget))
	for i := range printqueue.MaxWaiting / 2 {
		s.confirm(x, fmt.Sprint("k", i)) // two papers each
	}
	require.ErrorIs(t, x.Text(t.Context(), []ecr.PrintLine{{Text: "B"}}), printqueue.ErrTexts)
	require.Len(t, s.waiting(), printqueue.MaxWaiting)

	require.NoError(t, s.db.Write(t.Context(), printqueue.Forget))
	require.ErrorIs(t, x.Text(t.Context(), []ecr.PrintLine{{Text: strings.Repeat("A", 17<<10)}}), printer.ErrDocument)
	require.Empty(t, s.waiting())
}
