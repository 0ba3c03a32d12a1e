package printer_test

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/cross/need"
	"posagent/device/printer"
	"posagent/device/printer/printertest"
)

// rig is a printer at a cable in memory, in virtual time.
type rig struct {
	*printertest.Printer
	p     *printer.Printer
	prof  printer.Profile
	cable net.Conn // the far end
	opens int
	gone  bool           // the device is not there
	ends  sync.WaitGroup // of the cables
}

const torn = "*** CUT OFF ***"

func newRig(t *testing.T, status printer.Status, change func(*printer.Config, *printertest.Config)) *rig {
	t.Helper()
	r := &rig{prof: profile(t, 48)}
	r.prof.Status = status
	is := printertest.Config{Columns: r.prof.Columns, Dots: r.prof.Dots, RealTime: status&printer.RealTime != 0,
		InOrder: status&printer.InOrder != 0, AutoBack: status&printer.AutoBack != 0, Stops: true}
	cfg := printer.Config{Profile: r.prof, Torn: torn, Open: r.open}
	if change != nil {
		change(&cfg, &is)
	}
	r.Printer = printertest.New(is)
	var err error
	r.p, err = printer.New(cfg)
	require.NoError(t, err)
	t.Cleanup(func() { // in the bubble
		r.Set(printertest.PaperOut, false)
		r.Set(printertest.CoverOpen, false)
		_ = r.p.Close()
		r.ends.Wait() // until the printer has printed what it has
	})
	return r
}

func (r *rig) open(ctx context.Context) (printer.Conn, error) {
	if r.gone {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	r.opens++
	near, far := net.Pipe()
	r.cable = far
	r.ends.Go(func() {
		r.Serve(far)
		_ = far.Close()
	})
	return near, nil
}

// whole is the listing of a document that stands alone.
func (r *rig) whole(t *testing.T, d printer.Document) string {
	t.Helper()
	return printed(t, r.prof, d).Listing()
}

// slip is a document of several pieces: text, a code, text, a cut.
func slip(name string) printer.Document {
	lines := []printer.Line{{Text: name, Align: printer.Centre, Bold: true}}
	for range 30 {
		lines = append(lines, text("Nothing was charged; please pay another way. "))
	}
	return printer.Document{Lines: append(lines, printer.Line{Kind: printer.Code, Text: "https://pay.example/q/1"}, pair("TOTAL", "12.50 EUR"), text("end of "+name), cut)}
}

var everyStatus = map[string]printer.Status{
	"none": printer.NoStatus, "realtime": printer.RealTime, "inorder": printer.InOrder, "asb": printer.AutoBack, "full": printer.RealTime | printer.InOrder,
	"all": printer.RealTime | printer.InOrder | printer.AutoBack,
}

func TestPrint(t *testing.T) {
	for name, status := range everyStatus {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, status, nil)
				for _, d := range []printer.Document{slip("one"), examples["letters"], {}, slip("two")} {
					require.NoError(t, r.p.Print(t.Context(), d))
				}
				synctest.Wait()
				require.Equal(t, r.whole(t, slip("one"))+r.whole(t, examples["letters"])+r.whole(t, slip("two")), r.Listing())
				require.Empty(t, r.Strange())
				require.Equal(t, 1, r.opens)
				require.Equal(t, printer.Stats{Open: true, Printed: 4, Blind: status&(printer.InOrder|printer.AutoBack) == 0}, r.p.Stats())
				require.NoError(t, r.p.Close())
				require.ErrorIs(t, r.p.Print(t.Context(), slip("late")), os.ErrClosed)
			})
		})
	}
}

// TestPaperOutBefore: nothing is printed, and the same document is printed when there is paper.
func TestPaperOutBefore(t *testing.T) {
	for name, want := range map[string]error{"realtime": printer.ErrPaperOut, "full": printer.ErrPaperOut, "all": printer.ErrPaperOut, "inorder": printer.ErrOffline, "asb": printer.ErrOffline} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, everyStatus[name], nil)
				r.Set(printertest.PaperOut, true)
				for range 2 {
					err := r.p.Print(t.Context(), slip("one"))
					require.ErrorIs(t, err, want)
					require.NotErrorIs(t, err, printer.ErrUnknownEnd)
					require.ErrorIs(t, r.p.Check(t.Context()), want)
				}
				require.Empty(t, r.Listing())
				r.Set(printertest.PaperOut, false)
				require.NoError(t, r.p.Check(t.Context()))
				require.NoError(t, r.p.Print(t.Context(), slip("one")))
				require.Equal(t, r.whole(t, slip("one")), r.Listing())
				require.Empty(t, r.Strange())

				r.Set(printertest.PaperOut, true) // told by itself, where it tells
				err := r.p.Print(t.Context(), slip("two"))
				if name == "asb" {
					want = printer.ErrPaperOut
				}
				require.ErrorIs(t, err, want)
				require.NotErrorIs(t, err, printer.ErrUnknownEnd)
				r.Set(printertest.PaperOut, false)
				require.NoError(t, r.p.Print(t.Context(), slip("two")))
				require.Equal(t, r.whole(t, slip("one"))+r.whole(t, slip("two")), r.Listing())
			})
		})
	}
}

// TestPaperOutInTheMiddle ends the paper after each so many bytes. A document is reported as printed only if it is there from its first
// line to its last; where it is not known how much is there, the next document stands apart from what is left.
func TestPaperOutInTheMiddle(t *testing.T) {
	all, err := printer.Encode(profile(t, 48), slip("one"))
	require.NoError(t, err)
	for _, name := range []string{"full", "all", "realtime"} {
		t.Run(name, func(t *testing.T) {
			cutOff := 0
			for n := 1; n < len(all)+1200; n += 307 {
				synctest.Test(t, func(t *testing.T) {
					r := newRig(t, everyStatus[name], nil)
					r.PaperOutAfter(n)
					err := r.p.Print(t.Context(), slip("one"))
					synctest.Wait()
					left := r.Listing()
					switch {
					case err == nil && name != "realtime":
						require.Equal(t, r.whole(t, slip("one")), left, "after %d bytes", n)
					case err == nil:
					case errors.Is(err, printer.ErrUnknownEnd) && name == "realtime" && errors.Is(err, printer.ErrStuck):
						cutOff++ // it was behind, and its memory is full
					case errors.Is(err, printer.ErrUnknownEnd):
						require.ErrorIs(t, err, printer.ErrPaperOut)
						cutOff++
					default:
						require.ErrorIs(t, err, printer.ErrPaperOut)
						require.Empty(t, left, "after %d bytes: %v", n, err)
					}
					wasTorn := errors.Is(err, printer.ErrUnknownEnd)
					r.PaperOutAfter(-1)
					r.Set(printertest.PaperOut, false)
					require.NoError(t, r.p.Print(t.Context(), slip("two")))
					synctest.Wait()
					got := r.Listing()
					require.True(t, strings.HasPrefix(got, left))
					require.True(t, strings.HasSuffix(got, "=== cut\n"+r.whole(t, slip("two"))) || left == "", "after %d bytes:\n%s", n, got)
					require.Equal(t, wasTorn, strings.Contains(got, torn))
					require.Empty(t, r.Strange())
				})
			}
			require.Greater(t, cutOff, 10)
		})
	}
}

func TestCoverOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, everyStatus["full"], nil)
		r.Set(printertest.CoverOpen, true)
		r.Set(printertest.PaperOut, true) // the sensor of an open printer
		err := r.p.Print(t.Context(), slip("one"))
		require.ErrorIs(t, err, printer.ErrOffline)
		require.EqualError(t, err, "printer is offline: cover open")
		r.Set(printertest.PaperOut, false)
		r.Set(printertest.CoverOpen, false)
		r.Set(printertest.CutterStuck, true)
		require.EqualError(t, r.p.Check(t.Context()), "printer is offline: the knife is stuck, error")
		require.Equal(t, "printer is offline: the knife is stuck, error", r.p.Stats().Reason.Error())
		r.Set(printertest.CutterStuck, false)
		require.NoError(t, r.p.Print(t.Context(), slip("one")))
		require.Equal(t, 1, r.opens, "a printer that says what is wrong is not opened again")
	})
	synctest.Test(t, func(t *testing.T) { // within a document
		r := newRig(t, everyStatus["full"], func(_ *printer.Config, is *printertest.Config) { is.Rate = 1000 })
		done := make(chan error, 1)
		began := time.Now()
		go func() { done <- r.p.Print(t.Context(), slip("one")) }()
		time.Sleep(4 * time.Second)
		r.Set(printertest.CoverOpen, true)
		err := <-done
		require.ErrorIs(t, err, printer.ErrUnknownEnd)
		require.ErrorIs(t, err, printer.ErrOffline)
		require.ErrorContains(t, err, "cover open")
		require.Less(t, time.Since(began), 6*time.Second)
		require.Contains(t, r.Listing(), "one")
		require.NotContains(t, r.Listing(), "end of one")
	})
}

// TestMute: a printer that does not answer is named, with the remedy, within one answer's time for each opening.
func TestMute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, everyStatus["full"], nil)
		r.Mute(true)
		began := time.Now()
		err := r.p.Print(t.Context(), slip("one"))
		require.ErrorIs(t, err, printer.ErrOffline)
		require.NotErrorIs(t, err, printer.ErrUnknownEnd)
		require.ErrorContains(t, err, "where a printer never answers, its status is none")
		require.Less(t, time.Since(began), 6*time.Second)
		require.Empty(t, r.Listing())
		r.Mute(false)
		require.NoError(t, r.p.Print(t.Context(), slip("one")))

		r.Mute(true) // from now on, with the device open: it is opened again once
		require.ErrorIs(t, r.p.Print(t.Context(), slip("two")), printer.ErrOffline)
		require.Equal(t, 3, r.opens)
		r.Mute(false)
		require.NoError(t, r.p.Print(t.Context(), slip("two")))
		require.Equal(t, r.whole(t, slip("one"))+r.whole(t, slip("two")), r.Listing())
	})
}

// TestMarksThatDoNotCome: a printer that answers at once but never in order is no printer of status full.
func TestMarksThatDoNotCome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, everyStatus["full"], func(_ *printer.Config, is *printertest.Config) { is.InOrder = false })
		err := r.p.Print(t.Context(), slip("one"))
		require.ErrorIs(t, err, printer.ErrOffline)
		require.NotErrorIs(t, err, printer.ErrUnknownEnd)
		require.Empty(t, r.Listing())
	})
}

// TestStopped: a printer without status commands that takes no more is noticed by that alone.
func TestStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, printer.NoStatus, func(_ *printer.Config, is *printertest.Config) { is.Buffer = 64 })
		require.NoError(t, r.p.Print(t.Context(), slip("one")))
		r.Set(printertest.PaperOut, true)
		began := time.Now()
		err := r.p.Print(t.Context(), slip("two"))
		require.ErrorIs(t, err, printer.ErrStuck)
		require.Less(t, time.Since(began), 11*time.Second)
		r.Set(printertest.PaperOut, false)
		synctest.Wait()
		require.NoError(t, r.p.Print(t.Context(), slip("three")))
		synctest.Wait()
		require.True(t, strings.HasSuffix(r.Listing(), "=== cut\n"+r.whole(t, slip("three"))), r.Listing())
		require.Empty(t, r.Strange())
	})
}

// hung is a device whose calls do not come back until they are let go, and that knows no deadlines.
type hung struct {
	write, close chan struct{}
	mu           sync.Mutex
	got          []byte
	calls        int
}

func (h *hung) Write(b []byte) (int, error) {
	h.mu.Lock()
	h.calls++
	hang := h.calls > 1
	h.mu.Unlock()
	if hang {
		<-h.write
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.got = append(h.got, b...)
	return len(b), nil
}
func (h *hung) Read([]byte) (int, error)        { return 0, io.ErrUnexpectedEOF }
func (h *hung) SetReadDeadline(time.Time) error { return nil }
func (h *hung) Close() error                    { <-h.close; return nil }

// TestADeviceThatHangs: Print ends at its bound although no call of the device comes back; the next one fails at once, and what was left
// behind prints nothing more when it is let go.
func TestADeviceThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &hung{write: make(chan struct{}), close: make(chan struct{})}
		r := newRig(t, printer.NoStatus, func(cfg *printer.Config, _ *printertest.Config) {
			cfg.Bound = 7 * time.Second
			cfg.Open = func(context.Context) (printer.Conn, error) { return h, nil }
		})
		began := time.Now()
		err := r.p.Print(t.Context(), slip("one"))
		require.ErrorIs(t, err, printer.ErrStuck)
		require.ErrorIs(t, err, printer.ErrUnknownEnd, "the second write is the document's first")
		require.Equal(t, 7500*time.Millisecond, time.Since(began))
		began = time.Now()
		for range 3 {
			err = r.p.Print(t.Context(), slip("two"))
			require.ErrorIs(t, err, printer.ErrStuck)
			require.NotErrorIs(t, err, printer.ErrUnknownEnd)
			require.ErrorIs(t, r.p.Check(t.Context()), printer.ErrStuck)
			require.ErrorIs(t, r.p.Close(), printer.ErrStuck)
		}
		require.Zero(t, time.Since(began))
		close(h.close)
		close(h.write)
		synctest.Wait()
		require.NotContains(t, string(h.got), "end of one")
		require.NoError(t, r.p.Print(t.Context(), slip("two")), "it has come back")
		require.NotContains(t, string(h.got), "end of one")
		require.Contains(t, string(h.got), torn)
		require.Contains(t, string(h.got), "end of two")
		require.NoError(t, r.p.Close())
	})
}

// TestBound: a slow printer may take its time, up to the bound.
func TestBound(t *testing.T) {
	for name, tc := range map[string]struct {
		bound time.Duration
		whole bool
	}{"enough": {time.Minute, true}, "too short": {10 * time.Second, false}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, everyStatus["full"], func(cfg *printer.Config, is *printertest.Config) { cfg.Bound, is.Rate = tc.bound, 500 })
				began := time.Now()
				err := r.p.Print(t.Context(), slip("one"))
				require.LessOrEqual(t, time.Since(began), tc.bound+500*time.Millisecond)
				if tc.whole {
					require.NoError(t, err)
					require.Equal(t, r.whole(t, slip("one")), r.Listing())
				} else {
					require.ErrorIs(t, err, printer.ErrUnknownEnd)
					require.ErrorIs(t, err, printer.ErrStuck)
					require.ErrorContains(t, err, "not done within 10s")
				}
			})
		})
	}
}

// TestAnAnswerToAnEarlierMarkEndsNothing: documents that were given up leave marks in a slow printer. Their answers do not end the next
// one, which has ended when it is on the paper; also where the program was started again meanwhile.
func TestAnAnswerToAnEarlierMarkEndsNothing(t *testing.T) {
	givenUp := 0
	for _, rate := range []int{300, 1000, 4000} {
		for wait := 1200 * time.Millisecond; wait < 7*time.Second; wait += time.Duration(need.Size(2100, 700)) * time.Millisecond {
			for _, restarted := range []bool{false, true} {
				synctest.Test(t, func(t *testing.T) {
					cfg := printer.Config{}
					r := newRig(t, everyStatus["full"], func(c *printer.Config, is *printertest.Config) {
						c.Bound, c.Answer, is.Rate = 5*time.Minute, time.Minute, rate
						cfg = *c
					})
					for range 2 {
						ctx, cancel := context.WithTimeout(t.Context(), wait)
						err := r.p.Print(ctx, slip("one"))
						cancel()
						if err != nil {
							givenUp++
						}
						if restarted {
							require.NoError(t, r.p.Close())
							var err error
							r.p, err = printer.New(cfg)
							require.NoError(t, err)
						}
					}
					require.NoError(t, r.p.Print(t.Context(), slip("two")))
					require.True(t, strings.HasSuffix(r.Listing(), r.whole(t, slip("two"))), "%d bytes a second, given up after %v:\n%s", rate, wait, r.Listing())
				})
			}
		}
	}
	require.Greater(t, givenUp, need.Size(20, 60))
}

func TestACallerThatGoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, everyStatus["full"], nil)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		err := r.p.Print(ctx, slip("one"))
		require.ErrorIs(t, err, context.Canceled)
		require.NotErrorIs(t, err, printer.ErrUnknownEnd)
		require.Empty(t, r.Listing())
		require.NoError(t, r.p.Print(t.Context(), slip("one")))
		require.Equal(t, r.whole(t, slip("one")), r.Listing())
	})
}

// TestOneAfterTheOther: documents of several callers do not mix.
func TestOneAfterTheOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, everyStatus["full"], func(_ *printer.Config, is *printertest.Config) { is.Rate = 4000 })
		done := make(chan error)
		for range 5 {
			go func() { done <- r.p.Print(t.Context(), slip("one")) }()
		}
		for range 5 {
			require.NoError(t, <-done)
		}
		require.Equal(t, strings.Repeat(r.whole(t, slip("one")), 5), r.Listing())
	})
}

// TestTheDeviceIsOpenedAgain: what is lost between two documents is opened again, and each document is there once.
func TestTheDeviceIsOpenedAgain(t *testing.T) {
	for name, status := range everyStatus {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, status, nil)
				require.NoError(t, r.p.Print(t.Context(), slip("one")))
				synctest.Wait()
				require.NoError(t, r.cable.Close())
				require.NoError(t, r.p.Print(t.Context(), slip("two")))
				synctest.Wait()
				require.Equal(t, 2, r.opens)
				require.Equal(t, r.whole(t, slip("one"))+r.whole(t, slip("two")), r.Listing())

				require.NoError(t, r.cable.Close())
				r.gone = true
				began := time.Now()
				err := r.p.Print(t.Context(), slip("three"))
				require.ErrorIs(t, err, printer.ErrOffline)
				require.NotErrorIs(t, err, printer.ErrUnknownEnd)
				require.Equal(t, 5*time.Second, time.Since(began), "the time for a device to be there")
				require.False(t, r.p.Stats().Open)
				r.gone = false
				require.NoError(t, r.p.Print(t.Context(), slip("three")))
				synctest.Wait()
				require.True(t, strings.HasSuffix(r.Listing(), r.whole(t, slip("two"))+r.whole(t, slip("three"))))
			})
		})
	}
}

// cutting is a device that is lost after so many bytes.
type cutting struct {
	net.Conn
	left int
}

var errPulled = errors.New("pulled")

func (c *cutting) Write(b []byte) (int, error) {
	if len(b) <= c.left {
		c.left -= len(b)
		return c.Conn.Write(b)
	}
	n, _ := c.Conn.Write(b[:c.left])
	_ = c.Conn.Close()
	return n, errPulled
}

// TestTheCableIsPulled after each so many bytes, also within a picture: what the printer has not got of it is taken for dots. The next
// document is whole, with the printer switched off meanwhile or not.
func TestTheCableIsPulled(t *testing.T) {
	all, err := printer.Encode(profile(t, 48), slip("one"))
	require.NoError(t, err)
	for _, name := range []string{"none", "full"} {
		for _, off := range []bool{false, true} {
			for n := 0; n < len(all)+1024; n += need.Size(991, 331) {
				synctest.Test(t, func(t *testing.T) {
					var r *rig
					r = newRig(t, everyStatus[name], func(cfg *printer.Config, _ *printertest.Config) {
						cfg.Open = func(ctx context.Context) (printer.Conn, error) {
							c, err := r.open(ctx)
							if err != nil || r.opens > 1 {
								return c, err
							}
							return &cutting{c.(net.Conn), n}, nil
						}
					})
					err := r.p.Print(t.Context(), slip("one"))
					synctest.Wait()
					require.ErrorIs(t, err, printer.ErrOffline)
					require.ErrorIs(t, err, errPulled)
					left := r.Listing()
					if !errors.Is(err, printer.ErrUnknownEnd) {
						require.Empty(t, left, "after %d bytes", n)
					}
					if off {
						r.PowerCycle()
					}
					require.NoError(t, r.p.Print(t.Context(), slip("two")))
					synctest.Wait()
					got := r.Listing()
					require.True(t, strings.HasSuffix(got, r.whole(t, slip("two"))), "after %d bytes:\n%s", n, got)
					require.Equal(t, errors.Is(err, printer.ErrUnknownEnd), strings.Contains(got, torn+"\n=== cut\n"), "after %d bytes:\n%s", n, got)
					require.Empty(t, r.Strange())
				})
			}
		}
	}
}

// TestARestartWithinAPicture: a program that was killed leaves a picture unended, which the next one knows nothing of.
func TestARestartWithinAPicture(t *testing.T) {
	all, err := printer.Encode(profile(t, 48), slip("one"))
	require.NoError(t, err)
	for n := 100; n < len(all); n += need.Size(389, 97) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, everyStatus["full"], nil)
			r.Take(all[:n])
			require.NoError(t, r.p.Print(t.Context(), slip("two")))
			require.True(t, strings.HasSuffix(r.Listing(), r.whole(t, slip("two"))), "killed after %d bytes:\n%s", n, r.Listing())
			const picture = "1D 76 30 00"
			for _, s := range r.Strange() { // the beginning of a picture, and a zero: a command that is none, or a picture of no size
				require.True(t, strings.HasPrefix(s, picture) || strings.HasPrefix(picture, strings.TrimSuffix(s, " 00")), s)
			}
		})
	}
}

// babbler is a device that takes everything and says the same byte for ever.
type babbler byte

func (b babbler) Write(p []byte) (int, error) { return len(p), nil }
func (b babbler) Read(p []byte) (int, error) {
	<-time.After(10 * time.Millisecond)
	for i := range p {
		p[i] = byte(b)
	}
	return len(p), nil
}
func (b babbler) SetReadDeadline(time.Time) error { return nil }
func (b babbler) Close() error                    { return nil }

// TestADeviceThatSaysAnything: whatever byte comes without end, Print ends within its bound.
func TestADeviceThatSaysAnything(t *testing.T) {
	for name, status := range everyStatus {
		t.Run(name, func(t *testing.T) {
			for b := 0; b < 256; b += need.Size(2, 1) { // a status is an even number
				synctest.Test(t, func(t *testing.T) {
					r := newRig(t, status, func(cfg *printer.Config, _ *printertest.Config) {
						cfg.Open = func(context.Context) (printer.Conn, error) { return babbler(b), nil }
					})
					began := time.Now()
					_ = r.p.Print(t.Context(), slip("one"))
					require.LessOrEqual(t, time.Since(began), 30500*time.Millisecond, "%02X", b)
					require.NoError(t, r.p.Close())
				})
			}
		})
	}
}

func TestNearEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, everyStatus["full"], nil)
		require.NoError(t, r.p.Print(t.Context(), slip("one")))
		require.False(t, r.p.Stats().NearEnd)
		r.NearEnd(true)
		require.NoError(t, r.p.Print(t.Context(), slip("two")), "there is paper")
		require.True(t, r.p.Stats().NearEnd)
	})
}

func TestANewPrinterHasASoundProfile(t *testing.T) {
	_, err := printer.New(printer.Config{})
	require.ErrorContains(t, err, "printer profile: columns: 0, want 24 to 64")
}

func TestTornIsOneLine(t *testing.T) {
	_, err := printer.New(printer.Config{Profile: profile(t, 48), Torn: strings.Repeat("cut off ", 400)})
	require.EqualError(t, err, "torn: 3200 bytes, want one line")
}
