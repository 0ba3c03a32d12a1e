package zvt

import (
	"bytes"
	"encoding/hex"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/cross/need"
	"posagent/ecr/zvt/apdu"
	"posagent/ecr/zvt/frame"
)

// day is a whole day at the register: registration, sale, reversal, end of day.
const day = `
	< 0600 .. 123456 3e 0978 03 03 06 06 26 04 0a 02 06d3
	> 800000
	> 060f .. 19 00 29 90000001 49 0978
	< 800000
	< 0601 .. 04 000000004711
	> 800000
	> 04ff .. 0e
	< 800000
	> 04ff .. ff 02 06 0a 24 08 07 06 5363616e2021
	< 800000
	> ` + approved + `
	< 800000
	> 06d3 .. 06 1c 1f07 01 02 25 16 09 01 40 07 05 42454c4547 07 07 34372c313120e9 09 01 81
	< 800000
	> 060f 00
	< 800000
	< 0630 .. 123456 87 0815
	> 800000
	> 040f .. 27 00 04 000000004711 0b 000124 37 000123 0c 142600 0d 1121 19 60 29 90000001 87 0816
	< 800000
	> 060f 00
	< 800000
	< 0601 .. 04 000000000001
	> 800000
	> 040f .. 27 6c 29 90000001 3c f0f0f6 7a75206b75
	< 800000
	> 061e .. 6c
	< 800000
	< 0650 .. 123456
	> 800000
	> 040f .. 27 00 04 000000000000 0b 000125 0c 220000 0d 1121 60 f0f5f3 08150816 00000000000000 00000000000000 00000000000000 00000000000000 00000000000000 00000000000000 02000000004711
	< 800000
	> 060f 00
	< 800000
	< 0602 00
	> 800000`

// recordDay plays the day and returns its capture.
func recordDay(t *testing.T, serial bool) []byte {
	var file bytes.Buffer
	synctest.Test(t, func(t *testing.T) {
		capture := NewCapture(&file, time.Now)
		if serial {
			file.Reset()
			capture = NewSerialCapture(&file, time.Now)
		}
		a, b := net.Pipe()
		var near, far frame.Transport
		opt := Options{Habit: BlockPrint()}
		if serial {
			near, far = frame.New(&tapped{a, capture}, frame.Config{}), frame.New(b, frame.Config{})
		} else {
			near, far = frame.NewTCP(a, 0), frame.NewTCP(b, 0)
			opt.Tap = capture.Tap
		}
		defer far.Close()
		r, err := New(near, opt)
		require.NoError(t, err)
		defer r.Close()
		done := play(t, far, strings.Replace(day, "3c f0f0f6 7a75206b75", "3c f0f0f5 7a75206b75", 1))
		_, err = r.Register(t.Context())
		require.NoError(t, err)
		pay, err := r.Pay(t.Context(), 47_11, "", PayOptions{})
		require.NoError(t, err)
		require.True(t, pay.Approved)
		rev, err := r.Reverse(t.Context(), pay.Receipt, 0)
		require.NoError(t, err)
		require.True(t, rev.Approved)
		declined, err := r.Pay(t.Context(), 1, "", PayOptions{})
		require.NoError(t, err)
		require.False(t, declined.Approved)
		require.Equal(t, "zu ku", declined.Text)
		eod, err := r.EndOfDay(t.Context())
		require.NoError(t, err)
		require.True(t, eod.OK())
		require.Equal(t, apdu.TotalsGroup{Count: 2, Sum: 47_11}, eod.Totals.Groups[6])
		_, err = r.Command(t.Context(), apdu.New(apdu.LogOff), false)
		require.NoError(t, err)
		<-done
		require.NoError(t, capture.Err())
	})
	return file.Bytes()
}

// tapped records the bytes of a serial line.
type tapped struct {
	net.Conn
	c *Capture
}

func (l *tapped) Read(b []byte) (int, error) {
	n, err := l.Conn.Read(b)
	l.c.Tap("in", b[:n])
	return n, err
}

func (l *tapped) Write(b []byte) (int, error) {
	l.c.Tap("out", b)
	return l.Conn.Write(b)
}

// TestWiresharkUnderstandsADay has an independent dissector read what went over the line.
func TestWiresharkUnderstandsADay(t *testing.T) {
	tool := need.Tool(t, "tshark")
	for name, c := range map[string]struct {
		serial bool
		args   []string
	}{
		"tcp":    {false, []string{"-d", "tcp.port==20007,zvt"}},
		"serial": {true, []string{"-o", `uat:user_dlts:"User 0 (DLT=147)","zvt","0","","0",""`}},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), name+".pcap")
			require.NoError(t, os.WriteFile(path, recordDay(t, c.serial), 0o600))
			names := []string{"_ws.malformed", "_ws.unreassembled", "zvt.apdu_len.invalid", "tcp.analysis.flags",
				"zvt.control_field", "zvt.amount", "zvt.trace_number", "zvt.ccrc", "zvt.crc", "zvt.serial_char"}
			args := append([]string{"-r", path, "-T", "fields", "-E", "separator=;"}, c.args...)
			for _, n := range names {
				args = append(args, "-e", n)
			}
			var stderr bytes.Buffer
			cmd := exec.Command(tool, args...)
			cmd.Stderr = &stderr
			out, err := cmd.Output()
			require.NoError(t, err, stderr.String())
			got := map[string][]string{}
			for line := range strings.Lines(string(out)) {
				for i, v := range strings.Split(strings.TrimRight(line, "\n"), ";") {
					if v != "" {
						got[names[i]] = append(got[names[i]], v)
					}
				}
			}
			for _, bad := range names[:4] {
				require.Empty(t, got[bad], bad)
			}
			commands := []string{
				"0x0600", "0x060f", "0x0601", "0x04ff", "0x04ff", "0x040f", "0x06d3", "0x060f", "0x0630", "0x040f", "0x060f",
				"0x0601", "0x040f", "0x061e", "0x0650", "0x040f", "0x060f",
			}
			if c.serial { // on TCP the dissector does not know the log-off
				commands = append(commands, "0x0602")
			}
			require.Equal(t, commands, got["zvt.control_field"])
			require.Equal(t, []string{"4711", "4711", "4711", "1", "0"}, got["zvt.amount"])
			require.Equal(t, "000123", got["zvt.trace_number"][0])
			require.Len(t, got["zvt.ccrc"], 18, "every message is answered")
			if c.serial {
				require.Len(t, got["zvt.crc"], 36)
				acks := slices.DeleteFunc(got["zvt.serial_char"], func(s string) bool { return s != "0x06" })
				require.Len(t, acks, 36, "every block is acknowledged")
			}
		})
	}
}

func TestCaptureIsWellFormed(t *testing.T) {
	file := recordDay(t, false)
	require.Equal(t, "d4c3b2a1", hex.EncodeToString(file[:4]))
	require.Equal(t, byte(linkEthernet), file[20])
}
