package control

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"posagent/agent/httpd"
	"posagent/agent/outbox"
	"posagent/agent/ready"
	"posagent/agent/records/audit"
	"posagent/agent/view"
	"posagent/ecr/receipt"
	"posagent/schemes/wire"
)

// Ops are the verbs; an outbox has them.
type Ops interface {
	SendNow(ctx context.Context, key wire.Key) error
	SendAll(ctx context.Context) (due int, err error)
	Hold(ctx context.Context, key wire.Key, reason string) error
	HoldEach(ctx context.Context, reason string) (held int, err error)
	Release(ctx context.Context, key wire.Key) error
	ReleaseEach(ctx context.Context) (released int, err error)
	Resolve(ctx context.Context, key wire.Key, state outbox.State, note string) error
	Acknowledge(ctx context.Context, key wire.Key) error
}

var _ Ops = (*outbox.Outbox)(nil)

// House is the stream of events that the server shows; a view.Daemon is one.
type House interface {
	Newest(ctx context.Context) (view.Cursor, error)
	Events(from view.Cursor) func(ctx context.Context) (view.Event, error)
}

var _ House = (*view.Daemon)(nil)

// Options of a server. All are required besides Record, Own, Missing, Health, Ready, Live, Restart, Print, PrintDay,
// PrintTest, CloseDay, Refused and Log.
type Options struct {
	Path  string
	Ops   Ops
	House House
	// Record is what a person may record; nil = nothing.
	Record *Recording
	// Note notes a deed that a verb of the command line did itself, in a commit of its own; ctx says who.
	Note    func(ctx context.Context, d audit.Deed) error
	Own     func(ctx context.Context, key wire.Key, owner string) error // gives an operation to a local client; nil = none is given
	Missing func(ctx context.Context) error                             // is the answer to a key that is not in the journal; nil = it is not asked
	Health  func(ctx context.Context) (Health, error)                   // how the terminal is; nil = it is not asked
	Ready   func(ctx context.Context) ready.Report                      // whether a register may ask now; nil = it is not asked
	Live    func(ctx context.Context) view.Live                         // all that only the running terminal knows; nil = it is not asked
	Restart func(ctx context.Context) error                             // ends the run where no sale is open; nil = it is not ended
	// Print prints a copy of a sale's receipt, and says why that waits; nil = none is printed.
	Print func(ctx context.Context, sale wire.Key, which receipt.Copy) (waits string, err error)
	// PrintDay is Print of the slip of a closed batch; nil = none is printed.
	PrintDay func(ctx context.Context, batch int) (waits string, err error)
	// PrintTest is Print of a page that tells which settings the printer needs; nil = none is printed.
	PrintTest func(ctx context.Context) (waits string, err error)
	// CloseDay closes the open batch, and returns its number; nil = none is closed.
	CloseDay func(ctx context.Context) (batch int, err error)
	Refused  func(uid uint32) // is told of an account that was not let in; it must not block
	Log      *slog.Logger
}

// Server is the terminal's end.
type Server struct {
	o     Options
	srv   *http.Server
	ended chan struct{} // closed when it stops: streams end
}

// New makes a server; it starts nothing.
func New(o Options) *Server {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	s := &Server{o: o, ended: make(chan struct{})}
	mux := http.NewServeMux()
	one := func(verb string, act func(r *http.Request, key wire.Key, a asked) error) {
		mux.HandleFunc("POST /ops/{key}/"+verb, s.verb(func(r *http.Request, a asked) (int, error) { return 1, act(r, wire.Key(r.PathValue("key")), a) }))
	}
	one("send", func(r *http.Request, key wire.Key, _ asked) error { return o.Ops.SendNow(r.Context(), key) })
	one("hold", func(r *http.Request, key wire.Key, a asked) error { return o.Ops.Hold(r.Context(), key, a.Reason) })
	one("release", func(r *http.Request, key wire.Key, _ asked) error { return o.Ops.Release(r.Context(), key) })
	one("resolve", func(r *http.Request, key wire.Key, a asked) error {
		if a.Note == "" || a.State != outbox.Done && a.State != outbox.Failed {
			return wire.Errorf(wire.Invalid, "", "want a state, DONE or FAILED, and a note")
		}
		return o.Ops.Resolve(r.Context(), key, a.State, a.Note)
	})
	one("own", func(r *http.Request, key wire.Key, a asked) error {
		if o.Own == nil {
			return outbox.ErrUnknown
		}
		return o.Own(r.Context(), key, a.Owner)
	})
	one("ack", func(r *http.Request, key wire.Key, _ asked) error { return o.Ops.Acknowledge(r.Context(), key) })
	mux.HandleFunc("POST /ops/send", s.verb(func(r *http.Request, _ asked) (int, error) { return o.Ops.SendAll(r.Context()) }))
	mux.HandleFunc("POST /ops/hold", s.verb(func(r *http.Request, a asked) (int, error) { return o.Ops.HoldEach(r.Context(), a.Reason) }))
	mux.HandleFunc("POST /ops/release", s.verb(func(r *http.Request, _ asked) (int, error) { return o.Ops.ReleaseEach(r.Context()) }))
	mux.HandleFunc("POST /audit", s.verb(func(r *http.Request, a asked) (int, error) {
		d := audit.Deed{Deed: a.Deed, Subject: a.Subject, Detail: a.Reason}
		if !slices.Contains(noted, d.Deed) {
			return 0, wire.Errorf(wire.Invalid, "", "the deed %q is not one of the command line's: %s", d.Deed, strings.Join(noted, ", "))
		}
		return 1, o.Note(r.Context(), d)
	}))
	if o.Print != nil {
		mux.HandleFunc("POST /sales/{key}/print", s.answered(func(r *http.Request, a asked) (v answer, err error) {
			v.Waits, err = o.Print(r.Context(), wire.Key(r.PathValue("key")), a.Copy)
			return v, err
		}))
	}
	if o.PrintDay != nil {
		mux.HandleFunc("POST /batches/{number}/print", s.answered(func(r *http.Request, _ asked) (v answer, err error) {
			batch, err := strconv.Atoi(r.PathValue("number"))
			if err != nil || batch < 1 {
				return v, wire.Errorf(wire.Invalid, "print", "the batch %q is not a number", r.PathValue("number"))
			}
			v.Waits, err = o.PrintDay(r.Context(), batch)
			return v, err
		}))
	}
	if o.PrintTest != nil {
		mux.HandleFunc("POST /print-test", s.answered(func(r *http.Request, _ asked) (v answer, err error) {
			v.Waits, err = o.PrintTest(r.Context())
			return v, err
		}))
	}
	if o.CloseDay != nil {
		mux.HandleFunc("POST /batches/close", s.answered(func(r *http.Request, _ asked) (v answer, err error) {
			v.Batch, err = o.CloseDay(r.Context())
			return v, err
		}))
	}
	if o.Restart != nil {
		mux.HandleFunc("POST /restart", s.verb(func(r *http.Request, _ asked) (int, error) { return 1, o.Restart(r.Context()) }))
	}
	if o.Health != nil {
		mux.HandleFunc("GET /health", s.health)
	}
	if o.Live != nil {
		mux.HandleFunc("GET /live", func(w http.ResponseWriter, r *http.Request) {
			_ = wire.WriteJSON(w, http.StatusOK, "application/json", o.Live(r.Context())) // a lost connection has no reader
		})
	}
	if o.Ready != nil {
		mux.HandleFunc("GET /ready", func(w http.ResponseWriter, r *http.Request) {
			_ = wire.WriteJSON(w, http.StatusOK, "application/json", o.Ready(r.Context())) // a lost connection has no reader
		})
	}
	mux.HandleFunc("GET /events", s.events)
	if o.Record != nil {
		mux.HandleFunc("GET /record", s.record)
	}
	s.srv = &http.Server{
		Handler: mux, ReadTimeout: 10 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10,
		ErrorLog: log.New(io.Discard, "", 0), // what a client does wrong is the client's
		ConnContext: func(ctx context.Context, conn net.Conn) context.Context {
			return audit.With(ctx, audit.Uid(int(conn.(peer).uid)))
		},
	}
	s.srv.RegisterOnShutdown(func() { close(s.ended) })
	return s
}

// Run serves until ctx ends, then finishes what is in flight within 3 s. A socket that is removed or replaced meanwhile is made again:
// by it the command line finds a terminal that runs.
func (s *Server) Run(ctx context.Context) error {
	ln, err := listen(s.o.Path)
	if err != nil {
		return err
	}
	ln.refused = s.o.Refused
	mine, err := os.Lstat(s.o.Path)
	if err != nil {
		return errors.Join(fmt.Errorf("control socket: %w", err), ln.Close())
	}
	var again sync.WaitGroup
	keeping, stop := context.WithCancel(ctx)
	again.Go(func() { s.keep(keeping, &mine, &again) })
	err = httpd.Until(ctx, s.srv, ln, func() {})
	stop()
	again.Wait()
	if s.lies(mine) {
		_ = os.Remove(s.o.Path)
	}
	if !errors.Is(err, http.ErrServerClosed) && !errors.Is(err, net.ErrClosed) {
		return fmt.Errorf("control socket: %w", err)
	}
	return nil
}

// keepEvery is the time between two looks whether the socket is still there.
const keepEvery = 2 * time.Second

// keep serves at a new socket wherever mine is not at its path any more, until ctx ends.
func (s *Server) keep(ctx context.Context, mine *os.FileInfo, serving *sync.WaitGroup) {
	look := time.NewTicker(keepEvery)
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-look.C:
		}
		if s.lies(*mine) {
			continue
		}
		ln, err := listen(s.o.Path)
		if err != nil { // the directory is gone, or another terminal answers there
			s.o.Log.Debug("control socket not made again", "err", err)
			continue
		}
		ln.refused = s.o.Refused
		info, err := os.Lstat(s.o.Path)
		if err != nil {
			_ = ln.Close()
			continue
		}
		*mine = info
		s.o.Log.Warn("the control socket was removed, and made again", "path", s.o.Path)
		serving.Go(func() { _ = s.srv.Serve(ln) }) // until the server is shut down
	}
}

// lies reports whether a socket is still the one at the path.
func (s *Server) lies(mine os.FileInfo) bool {
	now, err := os.Lstat(s.o.Path)
	return err == nil && os.SameFile(mine, now)
}

// asked is the body of a request.
type asked struct {
	Reason string       `json:"reason,omitempty"` // of hold
	State  outbox.State `json:"state,omitempty"`  // of resolve
	Note   string       `json:"note,omitempty"`   // of resolve
	Owner  string       `json:"owner,omitempty"`  // of own
	Copy   receipt.Copy `json:"copy,omitempty"`   // of print

	Deed    string `json:"deed,omitempty"`    // of audit
	Subject string `json:"subject,omitempty"` // of audit
}

// noted are the deeds that verbs do beside the running terminal.
var noted = []string{Backup, Export, PIN}

// Deeds of verbs that run beside the terminal.
const (
	Backup = "journal.backup"
	Export = "journal.export"
	PIN    = "pin.change"
)

// answer is the body of every answer.
type answer struct {
	Count   int       `json:"count"`             // operations that the verb was for
	Code    wire.Code `json:"code,omitempty"`    // what was wrong, "" = nothing
	Message string    `json:"message,omitempty"` // for people
	Waits   string    `json:"waits,omitempty"`   // of print: why it is not on paper yet
	Batch   int       `json:"batch,omitempty"`   // of close: the batch that was closed
}

const maxBody = 16 << 10

// verb answers one verb that is for operations.
func (s *Server) verb(act func(r *http.Request, a asked) (int, error)) http.HandlerFunc {
	return s.answered(func(r *http.Request, a asked) (v answer, err error) {
		v.Count, err = act(r, a)
		return v, err
	})
}

// answered answers one verb.
func (s *Server) answered(act func(r *http.Request, a asked) (answer, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var a asked
		data, err := wire.ReadBody(r, maxBody)
		if err == nil && len(data) > 0 {
			if bad := wire.Decode(data, &a); bad != nil {
				err = wire.Errorf(wire.Invalid, "", "%v", bad)
			}
		}
		v, status := answer{}, http.StatusOK
		if err == nil {
			v, err = act(r, a)
		}
		if errors.Is(err, outbox.ErrUnknown) {
			err = s.missing(r.Context(), err)
		}
		if err != nil {
			v = answer{Code: outbox.CodeOf(err), Message: err.Error()}
			status = v.Code.Status()
			if v.Code == wire.Internal {
				s.o.Log.Error("verb of the command line failed", "path", r.URL.Path, "err", err)
			}
		}
		_ = wire.WriteJSON(w, status, "application/json", v) // a lost connection has no reader
	}
}

// missing is err, or the answer of a journal that took a lost one's place.
func (s *Server) missing(ctx context.Context, err error) error {
	if s.o.Missing == nil {
		return err
	}
	if e := s.o.Missing(ctx); wire.CodeOf(e) == wire.UnknownOutcome {
		return e
	}
	return err
}

// beat is how often a stream without events shows that it lives.
const beat = 5 * time.Second

// events streams what happens from now on, one JSON text a line; an empty line is a sign of life, and the first one says that
// the stream has begun.
func (s *Server) events(w http.ResponseWriter, r *http.Request) {
	from, err := s.o.House.Newest(r.Context())
	if err != nil {
		_ = wire.WriteJSON(w, http.StatusInternalServerError, "application/json", answer{Code: wire.Internal, Message: err.Error()})
		return
	}
	httpd.Stream[view.Event]{
		Type: "application/x-ndjson", First: "\n", Alive: "\n", Beat: beat, Within: 2 * beat, Ended: s.ended, Log: s.o.Log,
		Text: func(_ view.Event, data []byte) string { return string(data) + "\n" },
	}.Send(w, r, s.o.House.Events(from))
}
