package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// The screen's goals: a panel of 800x480 with 16 bits a pixel.
const (
	pixelGoal   = 30 * time.Millisecond // from the payload to the panel
	pictureSize = 800 * 480 * 2
	frameGoal   = 0.05 // of the picture, allocated for one second of the countdown
)

// drawn is one line of device/display's own benchmark.
type drawn struct {
	took          time.Duration
	bytes, allocs int64
}

// screen measures the way from a code's payload to the panel, here and on emulated armv7, whose times say nothing of a board.
func (b *bench) screen() error {
	native, err := b.drawn()
	if err != nil {
		return err
	}
	for _, name := range []string{"first", "next"} {
		d := native[name]
		b.table.add(row{what: "payload -> 800x480 panel, " + name + " code", ours: short(d.took), limit: short(pixelGoal), ratio: float64(d.took) / float64(pixelGoal), atMost: 1,
			note: fmt.Sprintf("%d allocations, %s", d.allocs, kib(float64(d.bytes)))})
	}
	f := native["frame"]
	b.table.add(row{what: "second of the countdown, bytes allocated", ours: kib(float64(f.bytes)), limit: kib(pictureSize), ratio: float64(f.bytes) / pictureSize, atMost: frameGoal,
		note: fmt.Sprintf("%d allocations, drawn in %s; limit = the picture, which is not made again", f.allocs, short(f.took))})
	qemu, err := exec.LookPath("qemu-arm-static")
	if err != nil {
		b.table.missing("the screen on emulated armv7 needs qemu-arm-static (install: apt-get install qemu-user-static)")
		return nil
	}
	arm, err := b.drawn("-exec", qemu)
	if err != nil {
		return err
	}
	for _, name := range []string{"first", "next"} {
		b.table.add(row{what: "payload -> 800x480 panel, " + name + " code, armv7", ours: short(arm[name].took), note: "under qemu-arm-static: told, not judged"})
	}
	return nil
}

// drawn runs the benchmark, on armv7 where there is an emulator to run it with.
func (b *bench) drawn(emulator ...string) (map[string]drawn, error) {
	args := append([]string{"test", "-count=1", "-run", "^$", "-bench", "^BenchmarkFirstPixel$", "-benchtime", fmt.Sprintf("%dx", b.frames)}, emulator...)
	cmd := exec.CommandContext(b.ctx, "go", append(args, "posagent/device/display")...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if len(emulator) > 0 {
		cmd.Env = append(cmd.Env, "GOOS=linux", "GOARCH=arm", "GOARM=7")
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("benchmark of the screen: %w\n%s", err, out)
	}
	return drawnOf(string(out))
}

// drawnOf reads what `go test -bench` prints.
func drawnOf(out string) (map[string]drawn, error) {
	found := map[string]drawn{}
	for line := range strings.Lines(out) {
		f := strings.Fields(line)
		name, ours := strings.CutPrefix(line, "BenchmarkFirstPixel/")
		if !ours || len(f) != 8 || f[3] != "ns/op" || f[5] != "B/op" || f[7] != "allocs/op" {
			continue
		}
		ns, err1 := strconv.ParseFloat(f[2], 64)
		size, err2 := strconv.ParseInt(f[4], 10, 64)
		allocs, err3 := strconv.ParseInt(f[6], 10, 64)
		if err := errors.Join(err1, err2, err3); err != nil {
			return nil, err
		}
		name, _, _ = strings.Cut(strings.Fields(name)[0], "-") // the processors
		found[name] = drawn{time.Duration(ns), size, allocs}
	}
	if len(found) != 3 {
		return nil, fmt.Errorf("benchmark of the screen: want first, next and frame in\n%s", out)
	}
	return found, nil
}
