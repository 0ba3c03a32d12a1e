package display_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/device/display"
	"posagent/device/display/framebuffer"
	"posagent/device/qr"
)

// TestField2_D8APanelSaysThatNobodyCanScanTheCode: a code whose dots would be too small for a panel is not drawn, and the panel, before
// which the customer stands, says that it cannot be scanned. Of the other screens none is the only way to a code: a console and a picture
// file say that they are too small for it, and no more. What is no code ends no sale either.
func TestField2_D8APanelSaysThatNobodyCanScanTheCode(t *testing.T) {
	dir := t.TempDir()
	long, err := qr.New(strings.Repeat("a", qr.MaxPayload), qr.Options{})
	require.NoError(t, err)
	panel := func(w, h int) display.Screen {
		return display.NewFramebuffer(framebuffer.Config{Path: filepath.Join(dir, fmt.Sprintf("fb%d", w)), File: framebuffer.Mode{W: w, H: h, Format: framebuffer.RGB565()}})
	}
	v := display.View{Title: "Swish", Amount: "12.50 EUR", Code: long}
	err = panel(320, 240).Show(v)
	require.ErrorIs(t, err, display.ErrUnseen)
	require.ErrorIs(t, err, display.ErrTooSmall, "status and doctor name the panel")
	require.ErrorContains(t, err, "117 modules a side, at 2 dots each or more, beside the amount on a panel of 320 x 240 dots")
	require.NoError(t, panel(800, 480).Show(v))

	file, err := display.NewFile(filepath.Join(dir, "screen.png"))
	require.NoError(t, err)
	file.Width, file.Height = 240, 240
	err = file.Show(v)
	require.ErrorIs(t, err, display.ErrTooSmall)
	require.NotErrorIs(t, err, display.ErrUnseen)
	v.Code, v.Amount = nil, strings.Repeat("9", 160)+" EUR"
	err = panel(320, 240).Show(v)
	require.ErrorIs(t, err, display.ErrTooSmall)
	require.NotErrorIs(t, err, display.ErrUnseen)
}
