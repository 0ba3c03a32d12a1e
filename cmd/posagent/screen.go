package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
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
	file bool // a picture file
}

// screen is all that the configuration shows pictures on; watched are those whose faults are told.
func screen(c *call, cfg config.Config) (all display.Screen, watched []watchedScreen, err error) {
	var screens []display.Screen
	if cfg.Display.Console {
		tty := onTerminal(c.out)
		screens = append(screens, display.NewConsole(c.out, display.Options{Color: tty, Plain: !tty, Size: func() (int, int) { return windowSize(c.out) }}))
	}
	if path := cfg.Display.File; path != "" {
		f, err := display.NewFile(path)
		if err == nil {
			f.Width, f.Height, err = config.Size(cfg.Display.FileSize)
		}
		if err != nil {
			return nil, nil, fmt.Errorf("config: display.file: %w", err)
		}
		watched = append(watched, watchedScreen{display.Watch(f), path, true})
	}
	if cfg.Display.Framebuffer != "" {
		to, err := panel(cfg)
		if err != nil {
			return nil, nil, err
		}
		watched = append(watched, watchedScreen{display.Watch(display.NewFramebuffer(to)), to.Path, false})
	}
	for _, w := range watched {
		screens = append(screens, w)
	}
	return display.Bounded(display.Fan(screens...), screenWithin), watched, nil
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
		look(watchedScreen{path: path, file: true}, unix.Access(filepath.Dir(path), unix.W_OK|unix.X_OK))
	}
	if cfg.Display.Framebuffer != "" {
		to, err := panel(cfg)
		if err == nil {
			err = to.Look()
		}
		look(watchedScreen{path: to.Path}, err)
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
	case s.file:
		t.Cause = ready.ScreenFile
	case errors.Is(err, os.ErrNotExist):
		t.Cause = ready.ScreenGone
		return t
	case errors.Is(err, os.ErrPermission):
		t.Cause, t.Remedy = ready.ScreenDenied, grant(s.path)
		return t
	default:
		t.Cause = ready.ScreenFailed
	}
	t.Detail = strings.TrimPrefix(err.Error(), "framebuffer "+s.path+": ")
	if errno := syscall.Errno(0); errors.As(err, &errno) {
		t.Detail = errno.Error() // the path is named already
	}
	return t
}
