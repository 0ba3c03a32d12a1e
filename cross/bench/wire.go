package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"golang.org/x/sys/unix"

	"posagent/device/line"
	"posagent/device/qr"
	"posagent/ecr/ecrtest/lines"
	"posagent/ecr/zvt/frame"
)

const (
	serialGoal  = 0.01 // of the time on the line
	blockBytes  = 64
	frameBytes  = 6         // of a block beside its message
	bitsPerByte = 11        // 8N2 with its start bit
	wholeGoal   = 1.2       // a code drawn, beside its encoding alone
	codeGoal    = "1.50 ms" // told, not judged
)

// message is a print line of 58 bytes without anything to double; no two are the same.
func message(i int) []byte {
	text := fmt.Sprintf("%055d", i)
	return append([]byte{0x06, 0xD1, byte(len(text))}, text...)
}

// serial measures a message of 64 bytes to the terminal's line and its link, and one back: what software adds to the
// time on the line. A pseudo-terminal is as fast as it can be; its own time, measured in turns, is taken off.
func (b *bench) serial() error {
	var ours, bare []time.Duration
	for range b.turns {
		n := max(1, b.echoes/b.turns)
		some, err := overLink(b.ctx, n, b.dir)
		if err != nil {
			return err
		}
		ours = append(ours, some...)
		if some, err = overPTY(n); err != nil {
			return err
		}
		bare = append(bare, some...)
	}
	added := median(ours) - median(bare)
	for _, baud := range []int{9600, 115200} {
		onLine := time.Duration(2*blockBytes+1) * bitsPerByte * time.Second / time.Duration(baud)
		b.table.add(row{what: fmt.Sprintf("message of %d bytes and one back, %d baud", blockBytes, baud), ours: short(added), limit: short(onLine),
			ratio: float64(added) / float64(onLine), atMost: serialGoal,
			note: fmt.Sprintf("p50 of %d: %s with our software, %s through the bare pty", len(ours), short(median(ours)), short(median(bare)))})
	}
	return nil
}

// overLink sends n messages to a terminal's port and link that send them back.
func overLink(ctx context.Context, n int, dir string) (took []time.Duration, err error) {
	far, path, err := lines.PTY()
	if err != nil {
		return nil, err
	}
	defer far.Close()
	near, err := line.New(line.Config{Path: path, Baud: 115200, LockDir: dir}).Open(ctx)
	if err != nil {
		return nil, err
	}
	link := frame.New(near, frame.Config{})
	defer link.Close()
	ended := make(chan error, 1)
	go func() {
		for range n {
			data, err := link.Receive(ctx)
			if err == nil {
				err = link.Send(ctx, data)
			}
			if err != nil {
				ended <- err
				return
			}
		}
		ended <- nil
	}()
	for i := range n {
		block := frame.EncodeBlock(message(i))
		want := append([]byte{frame.ACK}, block...)
		one, err := echo(far, block, want)
		if err != nil {
			return nil, fmt.Errorf("message %d: %w", i, err)
		}
		took = append(took, one)
		if _, err := far.Write([]byte{frame.ACK}); err != nil {
			return nil, err
		}
	}
	return took, <-ended
}

// overPTY is the same without our software: the near end answers by two plain system calls.
func overPTY(n int) (took []time.Duration, err error) {
	far, path, err := lines.PTY()
	if err != nil {
		return nil, err
	}
	defer far.Close()
	near, err := unix.Open(path, unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	tio, err := unix.IoctlGetTermios(near, unix.TCGETS)
	if err == nil {
		tio.Iflag, tio.Oflag, tio.Lflag = 0, 0, 0
		tio.Cc[unix.VMIN], tio.Cc[unix.VTIME] = 1, 0
		err = unix.IoctlSetTermios(near, unix.TCSETS, tio)
	}
	if err != nil {
		return nil, errors.Join(err, unix.Close(near))
	}
	ended := make(chan error, 1)
	go func() {
		buf := make([]byte, 512)
		var err error
		for left := n * blockBytes; left > 0 && err == nil; {
			var got int
			if got, err = unix.Read(near, buf); err == nil {
				left -= got
				_, err = unix.Write(near, buf[:got])
			}
		}
		ended <- errors.Join(err, unix.Close(near))
	}()
	for i := range n {
		block := frame.EncodeBlock(message(i))
		one, err := echo(far, block, block)
		if err != nil {
			return nil, fmt.Errorf("message %d: %w", i, err)
		}
		took = append(took, one)
	}
	return took, <-ended
}

// echo writes a block and waits for an answer.
func echo(far *os.File, block, want []byte) (time.Duration, error) {
	if err := far.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
		return 0, err
	}
	buf := make([]byte, 512)
	var got []byte
	began := time.Now()
	if _, err := far.Write(block); err != nil {
		return 0, err
	}
	for len(got) < len(want) {
		n, err := far.Read(buf)
		if err != nil {
			return 0, fmt.Errorf("after %x: %w", got, err)
		}
		got = append(got, buf[:n]...)
	}
	took := time.Since(began)
	if !bytes.Equal(got, want) {
		return 0, fmt.Errorf("got %x, want %x", got, want)
	}
	return took, nil
}

// code measures a QR code from its payload to the console's half-blocks.
func (b *bench) code() error {
	var whole, encode []time.Duration
	for range b.codes {
		began := time.Now()
		c, err := qr.New(payload, qr.Options{})
		if err != nil {
			return err
		}
		encode = append(encode, time.Since(began))
		drawn := c.HalfBlocks(qr.OnDark)
		whole = append(whole, time.Since(began))
		if len(drawn) == 0 {
			return errors.New("nothing was drawn")
		}
	}
	b.table.add(row{what: fmt.Sprintf("code of %d bytes, encoded and drawn", len(payload)), ours: short(median(whole)), limit: codeGoal, note: "absolute: told, not judged"})
	b.table.add(row{what: "code encoded and drawn, beside encoded", ours: short(median(whole)), limit: short(median(encode)),
		ratio: float64(median(whole)) / float64(median(encode)), atMost: wholeGoal, note: "drawing encodes nothing again"})
	return nil
}

// size reads the binaries that `make cross` built, or builds the one that the README tells.
func (b *bench) size() error {
	const told = "armv7"
	found := false
	for _, target := range []string{"armv5", "armv6", told, "arm64", "amd64", "386"} {
		info, err := os.Stat(filepath.Join(b.sizes, "posagent-"+target))
		if err != nil {
			continue
		}
		found = found || target == told
		b.sizeRow(target, info.Size())
	}
	if !found && b.sizes != "" {
		bin, err := b.build("arm")
		if err != nil {
			return err
		}
		info, err := os.Stat(bin)
		if err != nil {
			return err
		}
		b.sizeRow(told, info.Size())
	}
	info, err := os.Stat(b.bin)
	if err == nil {
		b.table.add(row{what: "binary that was measured, " + runtime.GOARCH, ours: mib(float64(info.Size()))})
	}
	return err
}

func (b *bench) sizeRow(target string, size int64) {
	b.table.add(row{what: "binary, " + target, ours: mib(float64(size)), note: "told, not judged"})
}
