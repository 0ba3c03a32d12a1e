package zvt

import (
	"context"
	"encoding/hex"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/ecr/zvt/apdu"
	"posagent/ecr/zvt/frame"
)

// play is a terminal that follows a script: "< hex" must come from the register, "> hex" is sent to it, "wait 2s"
// waits, "hang up" closes the line. The length byte of an APDU is written as "..".
func play(t *testing.T, line frame.Transport, script string) <-chan struct{} {
	done := make(chan struct{})
	go func() {
		defer close(done)
		for step := range strings.Lines(script) {
			verb, rest, _ := strings.Cut(strings.TrimSpace(step), " ")
			switch verb {
			case "":
			case "<":
				got, err := line.Receive(t.Context())
				if !assertNoError(t, err, step) || !assertEqual(t, hex.EncodeToString(message(t, rest)), hex.EncodeToString(got), step) {
					line.Close()
					return
				}
			case ">":
				if !assertNoError(t, line.Send(t.Context(), message(t, rest)), step) {
					return
				}
			case "wait":
				d, err := time.ParseDuration(rest)
				assertNoError(t, err, step)
				time.Sleep(d)
			case "hang":
				line.Close()
				return
			}
		}
	}()
	return done
}

func assertNoError(t *testing.T, err error, step string) bool {
	if err != nil {
		t.Errorf("script %q: %v", strings.TrimSpace(step), err)
	}
	return err == nil
}

func assertEqual(t *testing.T, want, got, step string) bool {
	if want != got {
		t.Errorf("script %q: the register sent %s", strings.TrimSpace(step), got)
	}
	return want == got
}

// message reads an APDU whose length may be written "..".
func message(t *testing.T, s string) []byte {
	s = strings.ReplaceAll(s, " ", "")
	head, body, auto := strings.Cut(s, "..")
	b, err := hex.DecodeString(head + body)
	if err != nil {
		t.Errorf("%q: %v", s, err)
		return nil
	}
	if !auto {
		return b
	}
	if n := len(b) - 2; n < 0xFF {
		return append([]byte{b[0], b[1], byte(n)}, b[2:]...)
	}
	n := len(b) - 2
	return append([]byte{b[0], b[1], 0xFF, byte(n), byte(n >> 8)}, b[2:]...)
}

// pair is a register and the terminal's end of its line.
func pair(t *testing.T, opt Options) (*Register, frame.Transport) {
	t.Helper()
	a, b := net.Pipe()
	r, err := New(frame.NewTCP(a, 0), opt)
	require.NoError(t, err)
	far := frame.NewTCP(b, 0)
	t.Cleanup(func() {
		r.Close()
		far.Close()
	})
	return r, far
}

const approved = `040f .. 27 00 04 000000004711 0b 000123 0c 142530 0d 1121 19 60 29 90000001 87 0815 8a 7d 8b f0f6 5457494e5400`

func TestPay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var notes []string
		r, far := pair(t, Options{Note: func(s string) { notes = append(notes, s) }})
		done := play(t, far, `
			< 0601 .. 04 000000004711 49 0978 8a 7d 06 05 1f1f 02 0814
			> 800000
			> 04ff .. 0e
			< 800000
			wait 100s
			> 04ff .. ff 03 06 0a 24 08 07 06 5363616e2021
			< 800000
			wait 100s
			> `+approved+`
			< 800000
			> 06d1 .. 40 42454c4547
			< 800000
			> 06d3 .. 06 38 25 36 07 0b 5472616e73616b74696f6e 07 24 30313233343536372d383961622d636465662d303132332d343536373839616263646566 09 01 81
			< 800000
			> 060f 00
			< 800000`)
		last := []apdu.TLV{apdu.PrimitiveBCD(0x1F1F, 814, 2)}
		res, err := r.Pay(t.Context(), 47_11, "EUR", PayOptions{CardType: 0x7D, Objects: last})
		require.NoError(t, err)
		<-done
		require.Equal(t, Result{
			Command: "authorisation", Approved: true, Completed: true, Told: true, CodeText: "ok",
			Amount: 4711, Receipt: 815, Trace: 123, CardType: 0x7D, CardName: "TWINT", TerminalID: "90000001",
			Time: "11-21 14:25:30", TransactionID: "01234567-89ab-cdef-0123-456789abcdef",
			Intermediate: []string{"0E please wait", "FF Scan !"},
			Printed:      []string{"BELEG", "Transaktion", "01234567-89ab-cdef-0123-456789abcdef"},
		}, res)
		require.Equal(t, res.Intermediate, notes)
		require.True(t, res.OK())
	})
}

func TestDeclinedRefusedAborted(t *testing.T) {
	for name, c := range map[string]struct {
		script string
		want   Result
	}{
		"declined": {"> 800000\n> 040f .. 27 05 29 90000001\n< 800000\n> 061e .. 05\n< 800000",
			Result{Aborted: true, Told: true, Code: 5, CodeText: "refused by host", TerminalID: "90000001"}},
		"refused": {"> 84a000", Result{Refused: true, Code: 0xA0, CodeText: "receiver not ready"}},
		"approved, then aborted": {"> 800000\n> " + approved + "\n< 800000\n> 061e .. 6c\n< 800000",
			Result{Aborted: true, Told: true, Code: 0x6C, CodeText: "aborted", Amount: 4711, Receipt: 815, Trace: 123,
				CardType: 0x7D, CardName: "TWINT", TerminalID: "90000001", Time: "11-21 14:25:30"}},
		"abort without a code": {"> 840000\n> 061e 00\n< 800000", Result{Aborted: true, Code: 0x6C, CodeText: "aborted"}},
		"amount that is none": {"> 800000\n> 040f .. 27 00 04 00000000471a\n< 800000\n> 060f 00\n< 800000",
			Result{Completed: true, Told: true, CodeText: "ok"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, far := pair(t, Options{})
				done := play(t, far, "< 0601 .. 04 000000004711 49 0978\n"+c.script)
				c.want.Command = "authorisation"
				res, err := r.Pay(t.Context(), 47_11, "", PayOptions{})
				require.NoError(t, err)
				<-done
				require.Equal(t, c.want, res)
			})
		})
	}
}

func TestTimesAndLosses(t *testing.T) {
	for name, c := range map[string]struct {
		script string
		err    error
		after  time.Duration
	}{
		"no answer":                       {"", ErrNoAnswer, 5 * time.Second},
		"no completion":                   {"> 800000", ErrNoCompletion, 180 * time.Second},
		"status restarts the time":        {"> 800000\nwait 100s\n> 04ff .. 0e\n< 800000", ErrNoCompletion, 280 * time.Second},
		"status sets another time":        {"> 800000\nwait 1s\n> 04ff .. 0e 10\n< 800000", ErrNoCompletion, 601 * time.Second},
		"hung up":                         {"> 800000\nwait 1s\nhang up", frame.ErrClosed, time.Second},
		"no completion after an approval": {"> 800000\n> " + approved + "\n< 800000", ErrNoCompletion, 180 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, far := pair(t, Options{})
				began := time.Now()
				done := play(t, far, "< 0601 .. 04 000000004711 49 0978\n"+c.script)
				res, err := r.Pay(t.Context(), 47_11, "", PayOptions{})
				require.ErrorIs(t, err, c.err)
				require.Equal(t, c.after, time.Since(began).Round(time.Millisecond))
				require.Equal(t, strings.Contains(name, "approval"), res.Approved)
				<-done
			})
		})
	}
}

// pays plays a payment of 47.11 over a line whose far end says what the script says, in virtual time.
func pays(t *testing.T, react React, o PayOptions, script string) (res Result) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r, far := pair(t, Options{React: react})
		done := play(t, far, script)
		var err error
		res, err = r.Pay(t.Context(), 47_11, "", o)
		require.NoError(t, err)
		<-done
	})
	return res
}

func TestReactions(t *testing.T) {
	const asked = "< 0601 .. 04 000000004711 49 0978\n> 800000\n> " + approved + "\n"
	t.Run("ask again, then accept", func(t *testing.T) {
		res := pays(t, On(apdu.StatusInfo, Reaction{Code: 0x9C}, Reaction{Code: 0x9C}), PayOptions{MaxStatus: 2},
			"< 0601 .. 02 02 04 000000004711 49 0978\n> 800000\n"+
				strings.Repeat("> "+approved+"\n< 849c00\nwait 2s\n", 2)+"> "+approved+"\n< 800000\n> 060f 00\n< 800000")
		require.True(t, res.Approved)
	})
	t.Run("goods failed", func(t *testing.T) {
		res := pays(t, On(apdu.StatusInfo, Reaction{Code: CodeGoodsFailed}), PayOptions{}, asked+"< 846600\n> 040f .. 27 6c\n< 800000\n> 061e .. 6c\n< 800000")
		require.False(t, res.Approved)
		require.Equal(t, CodeAborted, res.Code)
	})
	t.Run("partial goods", func(t *testing.T) {
		res := pays(t, On(apdu.StatusInfo, Reaction{Code: CodePartialGoods, Fields: []apdu.Field{apdu.Amount(1000)}}), PayOptions{},
			asked+"< 849d .. 04 000000001000\n> 060f 00\n< 800000")
		require.False(t, res.Told)
	})
	t.Run("silent, told again", func(t *testing.T) {
		res := pays(t, On(apdu.StatusInfo, Reaction{Silent: true}), PayOptions{},
			asked+"wait 30s\n> 04ff .. 05\n< 800000\n> 040f .. 27 6c\n< 800000\n> 061e .. 6c\n< 800000")
		require.Equal(t, []string{"05 sending automatic reversal"}, res.Intermediate)
		require.False(t, res.Approved)
	})
	t.Run("disconnect at 04 0F", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r, far := pair(t, Options{React: On(apdu.StatusInfo, Reaction{Disconnect: true})})
			done := play(t, far, "< 0601 .. 04 000000004711 49 0978\n> 800000\n> "+approved)
			res, err := r.Pay(t.Context(), 47_11, "", PayOptions{})
			require.ErrorIs(t, err, ErrDisconnected)
			require.False(t, res.Approved, "not acknowledged")
			require.Equal(t, 815, res.Receipt)
			<-done
			_, err = far.Receive(t.Context())
			require.ErrorIs(t, err, frame.ErrClosed)
		})
	})
	t.Run("late", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r, far := pair(t, Options{React: On(apdu.StatusInfo, Reaction{After: 20 * time.Second})})
			began := time.Now()
			done := play(t, far, "< 0601 .. 04 000000004711 49 0978\n> 800000\n> "+approved+"\n< 800000\n> 060f 00\n< 800000")
			res, err := r.Pay(t.Context(), 47_11, "", PayOptions{})
			require.NoError(t, err)
			<-done
			require.True(t, res.Approved)
			require.Equal(t, 20*time.Second, time.Since(began))
		})
	})
}

func TestAbortBesideARunningCommand(t *testing.T) {
	for name, c := range map[string]struct {
		script  string
		refused bool
	}{
		"accepted":               {"< 06b000\n> 800000\n> 040f .. 27 6c\n< 800000\n> 061e .. 6c\n< 800000", false},
		"too late":               {"< 06b000\n> 848300\n> " + approved + "\n< 800000\n> 060f 00\n< 800000", true},
		"crossing":               {"> 04ff .. 0e\n< 06b000\n< 800000\n> 800000\n> 040f .. 27 6c\n< 800000\n> 061e .. 6c\n< 800000", false},
		"answered after the end": {"< 06b000\n> " + approved + "\n< 800000\n> 060f 00\n< 800000\n> 848300", true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				paying := make(chan struct{})
				r, far := pair(t, Options{React: func(m apdu.Message) Reaction {
					if m.Cmd == apdu.Intermediate {
						return Reaction{After: time.Second}
					}
					return Reaction{}
				}})
				done := play(t, far, "< 0601 .. 04 000000004711 49 0978\n> 800000\n"+c.script)
				var pay Result
				var payErr error
				go func() {
					defer close(paying)
					pay, payErr = r.Pay(t.Context(), 47_11, "", PayOptions{})
				}()
				synctest.Wait()
				res, err := r.Abort(t.Context())
				require.NoError(t, err)
				require.Equal(t, c.refused, res.Refused)
				<-paying
				<-done
				require.NoError(t, payErr)
				require.Equal(t, c.refused, pay.Approved)
			})
		})
	}
	t.Run("nothing runs", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r, far := pair(t, Options{})
			done := play(t, far, "< 06b000\n> 848300")
			res, err := r.Abort(t.Context())
			require.NoError(t, err)
			require.True(t, res.Refused)
			<-done
		})
	})
}

func TestCommandsWaitForEachOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, far := pair(t, Options{})
		first := make(chan struct{})
		go func() {
			defer close(first)
			_, err := r.Status(t.Context())
			assertNoError(t, err, "status")
		}()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := r.EndOfDay(ctx)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		<-play(t, far, "< 0501 .. 000000\n> 800000\n> 060f .. f0f0f3 312e30 00\n< 800000")
		<-first
	})
}

func TestSequence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, far := pair(t, Options{Sequence: true})
		done := play(t, far, `
			< 0600 .. 000000 8e 0978 06 06 1f73 03 000000
			> 800000
			> 060f .. 19 00 29 90000001 06 06 1f73 03 000000
			< 8000 .. 06 06 1f73 03 000000
			< 0601 .. 04 000000000100 49 0978 06 06 1f73 03 000001
			> 8000 .. 06 06 1f73 03 000001
			> 040f .. 27 6c 06 06 1f73 03 000002
			< 8000 .. 06 06 1f73 03 000002
			> 061e .. 6c 06 06 1f73 03 000003
			< 8000 .. 06 06 1f73 03 000003
			< 0601 .. 04 000000000100 49 0978 06 06 1f73 03 000001
			> 84a000`)
		res, err := r.Register(t.Context())
		require.NoError(t, err)
		require.True(t, res.OK())
		require.Equal(t, "90000001", res.TerminalID)
		res, err = r.Pay(t.Context(), 100, "", PayOptions{})
		require.NoError(t, err)
		require.Equal(t, 3, res.Sequence)
		_, err = r.Pay(t.Context(), 100, "", PayOptions{Sequence: 1})
		require.NoError(t, err)
		<-done
	})
}

func TestDecodeHex(t *testing.T) {
	d, err := DecodeHex("10 02 80 00 00 10 03 f5 1f", true, apdu.CP437)
	require.NoError(t, err)
	require.Equal(t, "acknowledge", d.Name)
	d, err = DecodeHex("06-01-07:04 00 00 00 00 47 11", false, apdu.CP437)
	require.NoError(t, err)
	require.Equal(t, "4711", d.Fields[0].Value)
	for _, bad := range []string{"", "zz", "060", "06010704", "0601010477"} {
		_, err = DecodeHex(bad, false, apdu.CP437)
		require.Error(t, err, bad)
		_, err = DecodeHex(bad, true, apdu.CP437)
		require.Error(t, err, bad)
	}
	_, err = DecodeHex("06 zz", false, apdu.CP437)
	require.EqualError(t, err, `register: 'z' is no hexadecimal digit: want the message in pairs of 0 to 9 and A to F, such as 06010704000000001250`)
	_, err = DecodeHex("06 0", false, apdu.CP437)
	require.EqualError(t, err, "register: 3 hexadecimal digits are no whole bytes: one is missing, or one too many")
}

func TestTransactionIDInTheText(t *testing.T) {
	res := Result{Text: "Danke\rTransaktion T-77", Approved: true, Told: true}
	res.finish()
	require.Equal(t, "T-77", res.TransactionID)
	require.True(t, res.Approved)
}

func TestDialRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		target string
		opt    Options
	}{
		"serial without an opener": {"/dev/ttyX", Options{}},
		"bad password":             {"tcp:127.0.0.1:1", Options{Password: "12345x", Habit: Reconnecting()}},
		"unknown currency":         {"tcp:127.0.0.1:1", Options{Currency: "XYZ", Habit: Reconnecting()}},
		"nobody there":             {"tcp:127.0.0.1:1", Options{}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Dial(t.Context(), c.target, c.opt)
			require.Error(t, err)
		})
	}
}
