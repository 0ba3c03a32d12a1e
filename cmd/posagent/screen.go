package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"posagent/agent/config"
	"posagent/agent/ready"
	"posagent/device/display"
	"posagent/device/display/framebuffer"
)

// screenWithin is how long a sale waits for its screen.
const screenWithin = 500 * time.Millisecond

// watchedScreen is a screen for the customer, and where it is.
type watchedScreen struct {
	*display.Watched
	path string
	kind screenKind
}

type screenKind uint8

const (
	consoleScreen screenKind = iota
	fileScreen
	panelScreen
)

// screen is all that the configuration shows pictures on; watched are those whose faults are told.
func screen(c *call, cfg config.Config) (all display.Screen, watched []watchedScreen, err error) {
	var screens []display.Screen
	watch := func(s display.Lasting, path string, kind screenKind) {
		w := watchedScreen{display.Watch(s, path, screenWithin), path, kind}
		screens, watched = append(screens, w), append(watched, w)
	}
	if cfg.Display.Console {
		tty := onTerminal(c.out)
		watch(display.NewConsole(c.out, display.Options{Color: tty, Plain: !tty, Size: func() (int, int) { return windowSize(c.out) }}), "console", consoleScreen)
	}
	if path := cfg.Display.File; path != "" {
		f, err := display.NewFile(path)
		if err == nil {
			f.Width, f.Height, err = config.Size(cfg.Display.FileSize)
		}
		if err != nil {
			return nil, nil, fmt.Errorf("config: display.file: %w", err)
		}
		watch(f, path, fileScreen)
	}
	if cfg.Display.Framebuffer != "" {
		to, err := panel(cfg)
		if err != nil {
			return nil, nil, err
		}
		watch(display.NewFramebuffer(to), to.Path, panelScreen)
	}
	return display.Fan(screens...), watched, nil
}

// panel is the framebuffer of the configuration.
func panel(cfg config.Config) (framebuffer.Config, error) {
	d := cfg.Display
	to := framebuffer.Config{Path: d.Framebuffer, Rotate: d.Rotate}
	if d.FramebufferSize != "" {
		w, h, err := config.Size(d.FramebufferSize)
		if err != nil {
			return to, fmt.Errorf("config: display.framebuffer_size: %w", err)
		}
		to.File = framebuffer.Mode{W: w, H: h, Stride: d.FramebufferStride, Format: framebuffer.Formats()[d.FramebufferPixels]}
	}
	return to, nil
}

// doctorScreens looks at the screens of a terminal that does not run, on which it draws nothing.
func doctorScreens(cfg config.Config) (list []ready.Trouble) {
	look := func(s watchedScreen, err error) {
		if t := s.trouble(err); t != nil {
			list = append(list, *t)
		}
	}
	if path := cfg.Display.File; path != "" {
		look(watchedScreen{path: path, kind: fileScreen}, unix.Access(filepath.Dir(path), unix.W_OK|unix.X_OK))
	}
	if cfg.Display.Framebuffer != "" {
		to, err := panel(cfg)
		if err == nil {
			err = to.Look()
		}
		look(watchedScreen{path: to.Path, kind: panelScreen}, err)
	}
	return list
}

// trouble names what keeps a picture from the customer, nil = nothing.
func (s watchedScreen) trouble(err error) *ready.Trouble {
	t := &ready.Trouble{Where: s.path}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, display.ErrTooSmall):
		t.Cause = ready.ScreenSmall
		return t
	case errors.Is(err, display.ErrStuck):
		t.Cause = ready.ScreenStuck
		switch s.kind {
		case consoleScreen:
			t.Remedy = "press Ctrl-Q on it, for Ctrl-S stops it; or set [display] console = false in {config}"
		case fileScreen:
			t.Remedy = "df -h {where} and dmesg | tail show what its file system waits for; or set [display] file in {config} to another path"
		}
		return t
	case s.kind == consoleScreen:
		t.Cause, t.Remedy = ready.ScreenFailed, "start it where its output is read, or set [display] console = false in {config}"
	case s.kind == fileScreen:
		t.Cause = ready.ScreenFile
		switch dir := filepath.Dir(s.path); {
		case errors.Is(err, unix.ENOSPC), errors.Is(err, unix.EDQUOT):
			t.Remedy = "df -h " + dir + " shows it; free space there, or set [display] file in {config} to another disk, best a tmpfs like /run"
		case errors.Is(err, unix.EROFS):
			t.Remedy = "dmesg | tail says why; mount -o remount,rw makes it writable again; or set [display] file in {config} to another disk, best a tmpfs like /run"
		}
	case errors.Is(err, os.ErrNotExist):
		t.Cause = ready.ScreenGone
		return t
	case errors.Is(err, os.ErrPermission):
		t.Cause, t.Remedy = ready.ScreenDenied, grant(s.path)
		return t
	default:
		t.Cause = ready.ScreenFailed
	}
	t.Detail = err.Error()
	for _, named := range []string{"framebuffer " + s.path + ": ", "show on " + s.path + ": "} { // it is already
		t.Detail = strings.TrimPrefix(t.Detail, named)
	}
	if errno := unix.Errno(0); s.kind == panelScreen && errors.As(err, &errno) {
		t.Detail = errno.Error()
	}
	return t
}
