package arm

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/cross/need"
)

// TestThePanelHasTheDotsOfThePNG: the terminal on armv7 writes its framebuffer, a plain file of a stated geometry, and its picture
// file; both hold the same scene dot by dot, in both kinds of pixels and turned in two ways.
func TestThePanelHasTheDotsOfThePNG(t *testing.T) {
	need.Verify(t, "builds for armv7 and emulates it")
	b := newBox(t)
	if b == nil {
		return
	}
	config, err := os.ReadFile(b.config)
	require.NoError(t, err)
	const w, h = 480, 800 // as a customer sees it
	for _, panel := range []struct {
		pixels           string
		w, h, rotate     int
		stride, dotBytes int
	}{
		{"rgb565", 800, 480, 90, 1664, 2},
		{"xrgb8888", 480, 800, 180, 1920, 4},
	} {
		dir := t.TempDir()
		fb, pic := filepath.Join(dir, "fb"), filepath.Join(dir, "screen.png")
		text := fmt.Sprintf("[terminal]\nmerchant_name = \"Corner Shop\"\n[display]\nconsole = false\nfile = %q\nfile_size = \"%dx%d\"\nframebuffer = %q\nframebuffer_size = \"%dx%d\"\n"+
			"framebuffer_pixels = %q\nframebuffer_stride = %d\nrotate = %d\n", pic, w, h, fb, panel.w, panel.h, panel.pixels, panel.stride, panel.rotate)
		require.NoError(t, os.WriteFile(b.config, append([]byte(text), config...), 0o600))
		differs := func() string { return different(fb, pic, panel.rotate, panel.w, panel.h, panel.stride, panel.dotBytes) }
		read := func() []byte {
			data, err := os.ReadFile(pic)
			require.NoError(t, err)
			return data
		}
		b.start()() // the program's last picture says that the terminal is not ready
		require.Empty(t, differs(), panel.pixels)
		closed := read()
		stop := b.start()
		seen := func() bool { return differs() == "" && !bytes.Equal(read(), closed) }
		tick := time.NewTicker(100 * time.Millisecond) // the two are not written at once, and a start shows first that it is one
		shown := seen()
		for deadline := time.Now().Add(patience); !shown && time.Now().Before(deadline); shown = seen() {
			<-tick.C
		}
		tick.Stop()
		require.True(t, shown, "%s: it never showed that it is ready: %s", panel.pixels, differs())
		stop()
		require.Empty(t, differs(), panel.pixels)
		require.True(t, bytes.Equal(closed, read()), panel.pixels)
	}
}

// different says where a framebuffer's file and a picture differ, "" = nowhere.
func different(fb, pic string, rotate, panelW, panelH, stride, size int) string {
	got, err := os.ReadFile(fb)
	if err != nil {
		return err.Error()
	}
	data, err := os.ReadFile(pic)
	if err != nil {
		return err.Error()
	}
	decoded, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		return err.Error()
	}
	want := image.NewRGBA(decoded.Bounds())
	draw.Draw(want, want.Rect, decoded, image.Point{}, draw.Src)
	w, h := want.Rect.Dx(), want.Rect.Dy()
	if len(got) != panelH*stride {
		return fmt.Sprintf("%d bytes", len(got))
	}
	colors := map[color.RGBA]bool{}
	for y := range h {
		for x := range w {
			atX, atY := h-1-y, x // turned by 90: the picture's top is at the panel's right
			if rotate == 180 {
				atX, atY = w-1-x, h-1-y
			}
			c := want.RGBAAt(x, y)
			colors[c] = true
			dot := []byte{c.B, c.G, c.R, 0}
			if size == 2 {
				of := func(v uint8, most float64) int { return int(math.Round(float64(v) / 255 * most)) }
				p := of(c.R, 31)<<11 | of(c.G, 63)<<5 | of(c.B, 31)
				dot = []byte{byte(p), byte(p >> 8)}
			}
			if have := got[atY*stride+atX*size:][:size]; !bytes.Equal(have, dot) {
				return fmt.Sprintf("%x at %d, %d for %v", have, x, y, c)
			}
		}
	}
	if len(colors) < 20 {
		return "a picture without letters"
	}
	return ""
}

// TestEveryPanelHasTheDotsOfThisMachine: the pictures of every scene that are made here are what the screen's own test finds on the
// framebuffers that it fills on armv7, codes among them.
func TestEveryPanelHasTheDotsOfThisMachine(t *testing.T) {
	need.Verify(t, "builds for armv7 and emulates it")
	qemu := need.Tool(t, "qemu-arm-static")
	dir := t.TempDir()
	compare := func(env []string, more ...string) {
		args := append([]string{"test", "-count=1", "-v", "-run", "^TestTheFramebufferHasTheDotsOfThePNG$"}, more...)
		cmd := exec.CommandContext(t.Context(), "go", append(args, "posagent/device/display")...)
		cmd.Env = append(append(os.Environ(), "CGO_ENABLED=0", "PICTURES="+dir), env...)
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		require.Contains(t, string(out), "--- PASS: TestTheFramebufferHasTheDotsOfThePNG")
	}
	compare(nil)
	made, err := filepath.Glob(filepath.Join(dir, "*.png"))
	require.NoError(t, err)
	require.Len(t, made, 21)
	var written []time.Time
	for _, path := range made {
		info, err := os.Stat(path)
		require.NoError(t, err)
		written = append(written, info.ModTime())
	}
	compare([]string{"GOOS=linux", "GOARCH=arm", "GOARM=7"}, "-exec", qemu)
	for i, path := range made {
		info, err := os.Stat(path)
		require.NoError(t, err)
		require.Equal(t, written[i], info.ModTime(), "%s was made again", path)
	}
}
