package zvt

import (
	"context"
	"encoding/hex"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/ecr/zvt/apdu"
	"posagent/ecr/zvt/frame"
)

// TestHabitsSendTheirBytes holds each habit's commands against what such registers were seen to send.
func TestHabitsSendTheirBytes(t *testing.T) {
	type command func(ctx context.Context, r *Register) error
	pay := func(ctx context.Context, r *Register) error {
		_, err := r.Pay(ctx, 12_50, "EUR", PayOptions{})
		return err
	}
	registration := func(ctx context.Context, r *Register) error { _, err := r.Register(ctx); return err }
	reverse := func(ctx context.Context, r *Register) error { _, err := r.Reverse(ctx, 42, 0); return err }
	refund := func(ctx context.Context, r *Register) error {
		_, err := r.Refund(ctx, 12_50, "EUR", "R0042")
		return err
	}
	endOfDay := func(ctx context.Context, r *Register) error { _, err := r.EndOfDay(ctx); return err }
	status := func(ctx context.Context, r *Register) error { _, err := r.Status(ctx); return err }
	repeat := func(ctx context.Context, r *Register) error { _, err := r.Repeat(ctx, RepeatStatus); return err }
	for name, c := range map[string]struct {
		habit Habit
		do    command
		want  string
	}{
		"plain registers":          {Plain(), registration, "060004123456ba"},
		"plain pays":               {Plain(), pay, "06010c040000000012504909780600"},
		"plain asks":               {Plain(), status, "050103123456"},
		"plain reverses":           {Plain(), reverse, "063006123456870042"},
		"reconnecting registers":   {Reconnecting(), registration, "0600061234569e0978"},
		"reconnecting pays":        {Reconnecting(), pay, "06010a04000000001250490978"},
		"reconnecting reverses":    {Reconnecting(), reverse, "063006000000870042"},
		"reconnecting ends day":    {Reconnecting(), endOfDay, "065003000000"},
		"reconnecting repeats":     {Reconnecting(), repeat, "0620051234560301"},
		"steady registers":         {Steady(), registration, "0600060000008e0978"},
		"steady pays":              {Steady(), pay, "06010a04000000001250490978"},
		"steady refunds":           {Steady(), refund, "0631170000000400000000125049097806081f0d055230303432"},
		"blockprint registers":     {BlockPrint(), registration, "0600101234563e09780303060626040a0206d3"},
		"blockprint pays":          {BlockPrint(), pay, "06010704000000001250"},
		"blockprint asks":          {BlockPrint(), status, "0501051234560307"},
		"blockprint ends the day":  {BlockPrint(), endOfDay, "065003123456"},
		"blockprint in other coin": {BlockPrint(), func(ctx context.Context, r *Register) error { _, err := r.Pay(ctx, 5, "CHF", PayOptions{}); return err }, "06010a04000000000005490756"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, far := pair(t, Options{Habit: c.habit})
				sent := make(chan string, 1)
				go func() {
					got, _ := far.Receive(t.Context())
					sent <- hex.EncodeToString(got)
					_ = far.Send(t.Context(), []byte{0x84, 0x83, 0})
				}()
				require.NoError(t, c.do(t.Context(), r))
				require.Equal(t, c.want, <-sent)
			})
		})
	}
}

func TestHabitsAnswer(t *testing.T) {
	const tag41 = "> 040f .. 27 00 04 000000001250 06 04 41 02 0118"
	const end = "\n< 800000\n> 060f 00\n< 800000"
	for name, c := range map[string]struct {
		habit  Habit
		script string
		err    error
	}{
		"plain answers anything":             {Plain(), "> 04aa 00\n< 800000\n" + tag41 + end, nil},
		"plain gives the time":               {Plain(), "> 0401 .. aa 261121 0c 120000" + end, nil},
		"reconnecting never gives the time":  {Reconnecting(), "> 0401 .. aa 261121 0c 120000", ErrNoCompletion},
		"steady gives the time":              {Steady(), "> 0401 .. aa 261121 0c 120000" + end, nil},
		"blockprint fails on the unknown":    {BlockPrint(), "> 04aa 00", ErrUnknown},
		"blockprint fails on tag 41":         {BlockPrint(), tag41, ErrUnknown},
		"blockprint fails on malformed data": {BlockPrint(), "> 040f 02 77 00", ErrUnknown},
		"steady survives malformed data":     {Steady(), "> 040f 02 77 00\n< 849a00\n> 060f 00\n< 800000", nil},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, far := pair(t, Options{Habit: c.habit})
				done := play(t, far, "< 0670 00\n> 800000\n"+c.script)
				_, err := r.Diagnosis(t.Context())
				require.ErrorIs(t, err, c.err)
				<-done
			})
		})
	}
}

func TestHabitsOnASerialLine(t *testing.T) {
	damaged := frame.EncodeBlock([]byte{0x80, 0, 0})
	damaged[3] ^= 1
	for _, c := range []struct {
		habit Habit
		nak   bool // answers NAK to a damaged block
		sends int  // how often it sends an unacknowledged block
		after time.Duration
	}{
		{Plain(), false, 1, time.Second},
		{Reconnecting(), true, 3, 15 * time.Second},
		{Steady(), true, 3, 15 * time.Second},
		{BlockPrint(), true, 3, 15 * time.Second},
	} {
		t.Run(c.habit.Name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a, b := net.Pipe()
				defer b.Close()
				r, err := New(frame.New(a, c.habit.FrameConfig(frame.Config{})), Options{Habit: c.habit})
				require.NoError(t, err)
				defer r.Close()
				got := make(chan byte, 1000)
				go func() {
					buf := make([]byte, 100)
					for {
						n, err := b.Read(buf)
						if err != nil {
							return
						}
						for _, x := range buf[:n] {
							got <- x
						}
					}
				}()
				_, err = b.Write(damaged)
				require.NoError(t, err)
				synctest.Wait()
				require.Equal(t, c.nak, len(got) == 1)
				for len(got) > 0 {
					<-got
				}
				began := time.Now()
				_, err = r.Command(t.Context(), apdu.New(apdu.LogOff), false)
				require.ErrorIs(t, err, frame.ErrTransmit)
				require.Equal(t, c.after, time.Since(began))
				require.Len(t, got, c.sends*len(frame.EncodeBlock([]byte{6, 2, 0})))
			})
		})
	}
}

// TestConnections counts the TCP connections of each habit.
func TestConnections(t *testing.T) {
	for _, c := range []struct {
		habit                       Habit
		afterDial, afterThreeOrders int
	}{{Plain(), 1, 1}, {Steady(), 1, 1}, {BlockPrint(), 0, 1}, {Reconnecting(), 0, 3}} {
		t.Run(c.habit.Name, func(t *testing.T) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			require.NoError(t, err)
			conns := make(chan net.Conn, 10)
			go func() {
				defer close(conns)
				for {
					conn, err := l.Accept()
					if err != nil {
						return
					}
					conns <- conn
					go func() {
						line := frame.NewTCP(conn, 0)
						defer line.Close()
						for range line.Recv() {
							_ = line.Send(t.Context(), []byte{0x80, 0, 0})
						}
					}()
				}
			}()
			r, err := Dial(t.Context(), "tcp:"+l.Addr().String(), Options{Habit: c.habit})
			require.NoError(t, err)
			count := 0
			seen := func() int {
				for len(conns) > 0 {
					<-conns
					count++
				}
				return count
			}
			if c.afterDial > 0 {
				<-conns
				count++
			}
			require.Equal(t, c.afterDial, seen())
			for range 3 {
				res, err := r.Command(t.Context(), apdu.New(apdu.LogOff), false)
				require.NoError(t, err)
				require.True(t, res.OK())
			}
			require.Equal(t, c.afterThreeOrders, seen())

			// A line that was lost is opened again by the next command.
			r.Disconnect()
			res, err := r.Command(t.Context(), apdu.New(apdu.LogOff), false)
			require.NoError(t, err)
			require.True(t, res.OK())
			require.NoError(t, r.Close())
			require.NoError(t, l.Close())
			for range conns {
			}
		})
	}
}

func TestHabitNamed(t *testing.T) {
	for _, h := range Habits() {
		got, ok := HabitNamed(h.Name)
		require.True(t, ok)
		require.Equal(t, h, got)
		_, err := newRegister("", Options{Habit: h})
		require.NoError(t, err)
	}
	_, ok := HabitNamed("perfect")
	require.False(t, ok)
	cs := apdu.Latin1
	r, err := newRegister("", Options{Habit: Plain(), Password: "654321", Config: 0xDE, Charset: &cs})
	require.NoError(t, err)
	require.Equal(t, apdu.Latin1, r.charset)
	require.Equal(t, "654321", r.password(true))
}
