package paper_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/agent/paper"
	"posagent/device/printer"
	"posagent/ecr"
)

// TestARegistersTextIsPrinted: what a register prints stands on a piece of paper of its own.
func TestARegistersTextIsPrinted(t *testing.T) {
	s := newShop(t)
	path := filepath.Join(t.TempDir(), "paper")
	x, stop := s.start(toFile(t, path), func(o *paper.Options) { o.Sandbox = true })
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
	x := paper.New(paper.Options{DB: s.db, Running: s.running, Books: s.books, Prints: everything}) // it does not run
	s.confirm(x, "k42")
	before := s.waiting()
	for range paper.MaxTexts {
		require.NoError(t, x.Text(t.Context(), []ecr.PrintLine{{Text: "A"}}))
	}
	require.ErrorIs(t, x.Text(t.Context(), []ecr.PrintLine{{Text: "B"}}), paper.ErrTexts)
	require.Equal(t, before, s.waiting()[:len(before)])
	require.Len(t, s.waiting(), len(before)+paper.MaxTexts)

	require.NoError(t, s.db.Write(t.Context(), paper.Forget))
	for i := range paper.MaxWaiting / 2 {
		s.confirm(x, fmt.Sprint("k", i)) // two papers each
	}
	require.ErrorIs(t, x.Text(t.Context(), []ecr.PrintLine{{Text: "B"}}), paper.ErrTexts)
	require.Len(t, s.waiting(), paper.MaxWaiting)

	require.NoError(t, s.db.Write(t.Context(), paper.Forget))
	require.ErrorIs(t, x.Text(t.Context(), []ecr.PrintLine{{Text: strings.Repeat("A", 17<<10)}}), printer.ErrDocument)
	require.Empty(t, s.waiting())
}
