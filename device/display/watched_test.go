package display_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/cross/need"
	"posagent/device/display"
	"posagent/device/display/framebuffer"
)

// TestAWatchedScreenTellsWhatNobodySees: the fault of the last drawing is known until a drawing succeeds, and that a code had no room
// until one has.
func TestAWatchedScreenTellsWhatNobodySees(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "later")
	path := filepath.Join(dir, "fb")
	panel := func(w, h int) *display.Watched {
		return display.Watch(display.NewFramebuffer(framebuffer.Config{Path: path, File: framebuffer.Mode{W: w, H: h, Format: framebuffer.RGB565()}}), path, need.Limit())
	}
	s := panel(480, 800)
	require.NoError(t, s.Fault(), "nothing was drawn yet")
	require.ErrorIs(t, s.Show(display.View{Text: "welcome"}), os.ErrNotExist)
	require.ErrorIs(t, s.Fault(), os.ErrNotExist)
	require.ErrorIs(t, s.Refresh(), os.ErrNotExist)
	require.NoError(t, os.Mkdir(dir, 0o755))
	require.NoError(t, s.Refresh())
	require.NoError(t, s.Fault(), "it is there by now")

	require.NoError(t, os.Remove(path))
	s = panel(64, 64)
	v := sale(t)
	require.ErrorIs(t, s.Show(v), display.ErrTooSmall)
	require.ErrorIs(t, s.Fault(), display.ErrTooSmall)
	require.NoError(t, s.Refresh())
	require.ErrorIs(t, s.Fault(), display.ErrTooSmall, "the sale's screen was refreshed, and has no more room")
	_ = s.Show(display.View{})
	require.ErrorIs(t, s.Fault(), display.ErrTooSmall, "until a code has room")
}
