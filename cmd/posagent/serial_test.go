package main

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"posagent/cross/need"
	"posagent/ecr/zvt/frame"
)

// cable is a serial line whose other end is the test's.
func cable(t *testing.T) (register *os.File, device string) {
	register, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	require.NoError(t, err)
	t.Cleanup(func() { _ = register.Close() })
	require.NoError(t, unix.IoctlSetPointerInt(int(register.Fd()), unix.TIOCSPTLCK, 0))
	n, err := unix.IoctlGetInt(int(register.Fd()), unix.TIOCGPTN)
	require.NoError(t, err)
	device = fmt.Sprintf("/dev/pts/%d", n)
	plugged, err := os.OpenFile(device, os.O_RDWR|unix.O_NOCTTY, 0) // so that the register's end stays readable
	require.NoError(t, err)
	t.Cleanup(func() { _ = plugged.Close() })
	return register, device
}

// verbOn runs a verb of serial on a device, and gives its exit code and what it printed.
func verbOn(t *testing.T, device, verb string, flags ...string) (code int, out string) {
	var said, talk bytes.Buffer
	err := dispatch(t.Context(), append([]string{"serial", verb, device, "--json"}, flags...), std{strings.NewReader(""), &said, &talk})
	if err != nil {
		var e *exit
		require.ErrorAs(t, err, &e)
		return e.Code, said.String() + talk.String() + err.Error()
	}
	return exitOK, said.String()
}

// repeated writes the same bytes until the test ends, as a register does that hears no acknowledgement.
func repeated(t *testing.T, register io.Writer, data []byte) {
	done := make(chan struct{})
	t.Cleanup(func() { close(done) })
	go func() {
		tick := time.NewTicker(50 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				_, _ = register.Write(data)
			}
		}
	}()
}

func TestSerialProbeFindsTheSpeed(t *testing.T) {
	t.Parallel()
	register, device := cable(t)
	registration, err := hex.DecodeString("060006123456020978")
	require.NoError(t, err)
	repeated(t, register, frame.EncodeBlock(registration))
	code, out := verbOn(t, device, "probe", "--within", "2m")
	require.Equal(t, exitOK, code, out)
	var v probeView
	require.NoError(t, json.Unmarshal([]byte(out), &v), out)
	require.Equal(t, 9600, v.Baud)
	require.Contains(t, v.Rates[0].First, "06 00, 9 bytes, registration")
	require.NotContains(t, out, "123456", "the password is no one's to read")
}

// What comes at the wrong speed looks like this: bytes, and no message among them.
func TestSerialProbeOfNoiseFindsNone(t *testing.T) {
	t.Parallel()
	register, device := cable(t)
	repeated(t, register, []byte{0xf8, 0x00, 0x1c, 0xe0})
	code, out := verbOn(t, device, "probe", "--within", "3s", "--baud", "19200")
	require.Equal(t, exitFailed, code, out)
	require.Contains(t, out, `"baud": 0`)
	require.NotContains(t, out, `"bytes": 0`)
}

// A card number that a register sends is not printed, in whole or in part of it that matters.
func TestSerialMonitorShowsMessagesAndMasksCards(t *testing.T) {
	t.Parallel()
	register, device := cable(t)
	authorization, err := hex.DecodeString("060112" + "04000000001250" + "22f0f8" + "4111111111111111")
	require.NoError(t, err)
	block := frame.EncodeBlock(authorization)
	spoilt := bytes.Clone(block)
	spoilt[len(spoilt)-1] ^= 1 // of the checksum
	repeated(t, register, append(append([]byte{0x06, 0x15}, block...), spoilt...))
	ctx, cancel := context.WithTimeout(t.Context(), need.Limit())
	defer cancel()
	said := &until{wants: []string{"06 acknowledged", "15 not acknowledged", "06 01, 21 bytes, ", "amount 1250 minor units", "damaged: "}, done: cancel}
	require.NoError(t, dispatch(ctx, []string{"serial", "monitor", device, "--json"}, std{strings.NewReader(""), said, io.Discard}))
	require.Empty(t, said.wants, "%.1500s", said.all.String())
	require.NoError(t, schemaOf(" serial monitor", []byte(said.all.String())))
	for line := range strings.Lines(said.all.String()) {
		require.NotContains(t, strings.ReplaceAll(line, " ", ""), "4111111111111111")
	}
}

// until calls done when all that it wants was written.
type until struct {
	all   strings.Builder
	wants []string
	done  func()
}

func (u *until) Write(p []byte) (int, error) {
	u.all.Write(p)
	u.wants = slices.DeleteFunc(u.wants, func(s string) bool { return strings.Contains(u.all.String(), s) })
	if len(u.wants) == 0 {
		u.done()
	}
	return len(p), nil
}

func TestSerialLoopbackCountsWhatComesBack(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		plug func(n int, p []byte) []byte // of the n-th piece
		code int
		want string
	}{
		{"whole", func(_ int, p []byte) []byte { return p }, exitOK, `"back": 256,` + "\n" + `  "wrong": 0`},
		{"one byte spoilt", func(n int, p []byte) []byte {
			if n == 0 {
				p[0] ^= 0x10
			}
			return p
		}, exitFailed, `"back": 256,` + "\n" + `  "wrong": 1`},
		{"not joined", func(int, []byte) []byte { return nil }, exitFailed, `"sent": 64,` + "\n" + `  "back": 0`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			register, device := cable(t)
			go func() {
				buf := make([]byte, 512)
				for n := 0; ; n++ {
					got, err := register.Read(buf)
					if err != nil {
						return
					}
					_, _ = register.Write(tc.plug(n, bytes.Clone(buf[:got])))
				}
			}()
			code, out := verbOn(t, device, "loopback", "--bytes", "256", "--within", "1m")
			require.Equal(t, tc.code, code, out)
			require.Contains(t, out, tc.want)
		})
	}
}

// Nothing that was sent is no proof of a cable.
func TestSerialLoopbackWithoutALimitSendsAll(t *testing.T) {
	t.Parallel()
	register, device := cable(t)
	go func() { _, _ = io.Copy(register, register) }()
	code, out := verbOn(t, device, "loopback", "--bytes", "64", "--within", "0")
	require.Equal(t, exitOK, code, out)
	require.Contains(t, out, `"sent": 64,`+"\n"+`  "back": 64`)
}

func TestSerialVerbsNameWhatIsWrong(t *testing.T) {
	_, device := cable(t)
	code, out := verbOn(t, "/dev/ttyNONE", "probe")
	require.Equal(t, exitFailed, code)
	require.Contains(t, out, "there is no /dev/ttyNONE: plug it in")
	code, out = verbOn(t, "/dev/null", "monitor")
	require.Equal(t, exitFailed, code, out)
	code, out = verbOn(t, device, "loopback", "--stop-bits", "3")
	require.Equal(t, exitUsage, code)
	require.Contains(t, out, "1 or 2")
}
