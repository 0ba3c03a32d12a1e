package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"posagent/agent/control"
	"posagent/agent/support/bundle"
	"posagent/agent/support/record"
	"posagent/agent/view"
	"posagent/device/file"
)

// The parts of a recording, by their names in the archive. Each has one JSON text a line.
const (
	ofLog      = "log.jsonl"
	ofRegister = "register.jsonl"
	ofRequests = "requests.jsonl"
	ofEvents   = "events.jsonl"
	ofFigures  = "figures.jsonl"
)

// tapeMost bounds a part of a recording in bytes, missingMost what is said of what could not be recorded.
const (
	tapeMost    = 2 << 20
	missingMost = 50
)

// tape takes a recording up.
type tape struct {
	c       *call
	control control.Client

	mu      sync.Mutex
	data    map[string]*bytes.Buffer
	lines   map[string]int
	left    map[string]int // for which there was no room
	missing []string
	heard   time.Time // when the terminal told its figures last; zero = it tells none
}

func newTape(c *call) *tape {
	return &tape{c: c, control: control.Client{Path: controlSocket(c)}, data: map[string]*bytes.Buffer{}, lines: map[string]int{}, left: map[string]int{}}
}

// add takes a line of a part.
func (t *tape) add(part string, v any) {
	line, err := json.Marshal(v)
	t.mu.Lock()
	defer t.mu.Unlock()
	to := t.data[part]
	if to == nil {
		to = &bytes.Buffer{}
		t.data[part] = to
	}
	if err != nil || to.Len()+len(line) >= tapeMost {
		t.left[part]++
		return
	}
	to.Write(append(line, '\n'))
	t.lines[part]++
}

// hear notes that the terminal tells its figures.
func (t *tape) hear() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.heard = time.Now()
}

// miss says what could not be recorded.
func (t *tape) miss(why string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.missing) < missingMost {
		t.missing = append(t.missing, why)
	}
}

// parts are what was recorded, for the archive.
func (t *tape) parts() (list []bundle.Part) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, p := range []struct{ name, how string }{
		{ofLog, "what the terminal logged, at every level"}, {ofRegister, "the registers' messages: name, length, result; no values"},
		{ofRequests, "requests to the backend: method, route, reply, time"}, {ofEvents, "changes of sales and operations"}, {ofFigures, "each second"},
	} {
		part := bundle.Part{Name: p.name, How: p.how}
		if data := t.data[p.name]; data != nil {
			part.Data = data.Bytes()
		}
		if n := t.left[p.name]; n > 0 {
			part.Err = fmt.Sprintf("%d lines more, for which there was no room", n)
		}
		list = append(list, part)
	}
	return list
}

// The lines of the parts.
type (
	logLine struct {
		Schema string          `json:"schema"` // posagent.record.log/1
		Line   json.RawMessage `json:"line"`
	}
	messageLine struct {
		Schema string    `json:"schema"` // posagent.record.message/1
		At     time.Time `json:"at"`
		Line   string    `json:"line"`
		From   string    `json:"from"` // register, terminal
		What   string    `json:"what"`
		Bytes  int       `json:"bytes"`
	}
	requestLine struct {
		Schema string    `json:"schema"` // posagent.record.request/1
		At     time.Time `json:"at"`     // the end of it
		Method string    `json:"method"`
		Route  string    `json:"route"`
		Status int       `json:"status,omitempty"`
		MS     int64     `json:"ms"`
		Fault  string    `json:"fault,omitempty"`
	}
	eventLine struct {
		Schema   string    `json:"schema"` // posagent.record.event/1
		At       time.Time `json:"at"`
		Event    string    `json:"event"`
		Source   string    `json:"source"`
		Ref      string    `json:"ref"`
		Kind     string    `json:"kind,omitempty"`
		State    string    `json:"state,omitempty"`
		Phase    string    `json:"phase,omitempty"`
		Result   string    `json:"result,omitempty"`
		Attempts int       `json:"attempts,omitempty"`
		Reason   string    `json:"reason,omitempty"`
	}
	figuresLine struct {
		Schema string `json:"schema"` // posagent.record.figures/1
		record.Figures
	}
)

// item takes what the terminal tells of itself. Of what registers and the backend are told only the fields that are named here are taken.
func (t *tape) item(it record.Item) (stop bool) {
	switch {
	case it.Figures != nil:
		t.hear()
		t.add(ofFigures, figuresLine{"posagent.record.figures/1", *it.Figures})
	case it.Lost > 0:
		t.miss(fmt.Sprintf("%d lines of the log at %s: too many at a time, or too long", it.Lost, time.Now().UTC().Format(time.TimeOnly)))
	case len(it.Log) > 0:
		var l struct {
			Time                                             time.Time
			Sys, Msg, Line, From, What, Method, Route, Fault string
			Bytes, Status                                    int
			MS                                               int64
		}
		err := json.Unmarshal(it.Log, &l)
		switch {
		case err == nil && l.Sys == "ecr" && l.Msg == "message":
			t.add(ofRegister, messageLine{"posagent.record.message/1", l.Time.UTC(), l.Line, l.From, l.What, l.Bytes})
		case err == nil && l.Sys == "upstream" && l.Msg == "request":
			t.add(ofRequests, requestLine{"posagent.record.request/1", l.Time.UTC(), l.Method, l.Route, l.Status, l.MS, l.Fault})
		default:
			t.add(ofLog, logLine{"posagent.record.log/1", it.Log})
		}
	}
	return false
}

// event takes a change of a sale or an operation, and that something arrived: not what it says.
func (t *tape) event(e view.Event) (stop bool) {
	line := eventLine{Schema: "posagent.record.event/1", At: e.Received, Event: e.Event, Source: e.Source, Ref: e.Ref}
	if e.Source == view.OfOperation || e.Source == view.OfSale {
		var body struct {
			Kind, State, Phase, Result, Reason string
			Attempts                           int
		}
		if json.Unmarshal(e.Body, &body) == nil {
			line.Kind, line.State, line.Phase, line.Result, line.Attempts, line.Reason = body.Kind, body.State, body.Phase, body.Result, body.Attempts, body.Reason
		}
	}
	t.add(ofEvents, line)
	return false
}

// listen follows one stream of the terminal until ctx ends, over its restarts. It closes tried once the stream has begun, or could not.
func (t *tape) listen(ctx context.Context, what string, stream func(begun func()) error, tried chan<- struct{}) {
	once := sync.OnceFunc(func() { close(tried) })
	defer once()
	said := ""
	for ctx.Err() == nil {
		began := false
		err := stream(func() { began = true; said = ""; once() })
		if ctx.Err() != nil {
			return
		}
		why := what + ": " + t.plain(err)
		if began {
			why = what + ": the terminal ended, or stopped answering, at " + time.Now().UTC().Format(time.TimeOnly) + " UTC"
		}
		if why != said {
			said = why
			t.miss(why)
		}
		once()
		select {
		case <-ctx.Done():
		case <-time.After(listenAgain):
		}
	}
}

// listenAgain is how long a recording waits for a terminal that starts again.
const listenAgain = 300 * time.Millisecond

// plain says why a stream did not begin.
func (t *tape) plain(err error) string {
	switch {
	case errors.Is(err, control.ErrNoDaemon):
		return "the terminal does not run, or waits for its enrolment"
	case errors.Is(err, os.ErrPermission):
		return "this user may not ask the terminal (run it as root, or as the account of " + t.c.stateDir() + ")"
	case err == nil:
		return "the terminal ended"
	}
	return err.Error()
}

// outside are the figures that can be seen without the terminal.
func (t *tape) outside() {
	t.mu.Lock()
	heard, silent := t.heard, time.Since(t.heard)
	if silent > silentFor {
		t.heard = time.Time{}
	}
	t.mu.Unlock()
	if silent < silentFor {
		return
	}
	if !heard.IsZero() {
		t.miss("the terminal has told nothing since " + heard.UTC().Format(time.TimeOnly) + " UTC")
	}
	size := func(path string) int64 {
		if info, err := os.Lstat(path); err == nil {
			return info.Size()
		}
		return 0
	}
	f := record.Figures{At: time.Now().UTC(), WAL: size(agentDB(t.c) + "-wal"), Journal: size(agentDB(t.c))}
	f.Free, _ = file.Free(t.c.stateDir()) // 0 where it is not told
	t.add(ofFigures, figuresLine{"posagent.record.figures/1", f})
}

// The pace of a recording.
const (
	recordTick = time.Second
	sayEvery   = 10               // ticks
	recordTail = time.Second      // behind the end of a command: what it has caused arrives
	firstHeard = 10 * time.Second // for the streams to begin
	silentFor  = 4 * time.Second  // without figures, of which there are some each second
)

// record takes up what happens for span, and while the command runs, until both are over or ctx ends. interrupted: ctx has ended.
func (t *tape) record(ctx context.Context, span time.Duration, argv []string, clean *bundle.Cleaner) (interrupted bool, out ran) {
	listening, stop := context.WithCancel(context.WithoutCancel(ctx))
	var streams sync.WaitGroup
	begun := []chan struct{}{make(chan struct{}), make(chan struct{})}
	streams.Go(func() {
		stream := func(begun func()) error {
			return t.control.Record(listening, func() { t.hear(); begun() }, t.item)
		}
		t.listen(listening, "log, registers and requests", stream, begun[0])
	})
	streams.Go(func() {
		t.listen(listening, "events", func(begun func()) error { return t.control.Events(listening, begun, t.event) }, begun[1])
	})
	defer streams.Wait()
	defer stop()
	late, cancel := context.WithTimeout(listening, firstHeard)
	defer cancel()
	for _, one := range begun {
		select {
		case <-one:
		case <-late.Done():
		}
	}
	if late.Err() != nil {
		t.miss("the terminal does not answer in " + firstHeard.String())
	}
	t.say(span, argv)
	timeUp, ended := (<-chan time.Time)(nil), make(chan ran, 1)
	if span > 0 {
		timeUp = time.After(span)
	}
	runs := len(argv) > 0
	if runs {
		go func() { ended <- t.run(ctx, argv, clean) }()
	}
	tick := time.NewTicker(recordTick)
	defer tick.Stop()
	began := time.Now()
	t.outside()
	for n := 1; timeUp != nil || runs; {
		select {
		case <-ctx.Done():
			if runs {
				out = <-ended // it was told to end
			}
			return true, out
		case out = <-ended:
			if runs = false; timeUp == nil {
				timeUp = time.After(recordTail)
			}
		case <-timeUp:
			timeUp = nil
		case <-tick.C:
			t.outside()
			if n++; n%sayEvery == 0 {
				t.mu.Lock()
				fmt.Fprintf(t.c.err, "%.0f s: %s\n", time.Since(began).Seconds(), recordView{Lines: t.lines}.counted())
				t.mu.Unlock()
			}
		}
	}
	return false, out
}

// say tells the person that the recording has begun, and without what.
func (t *tape) say(span time.Duration, argv []string) {
	t.mu.Lock()
	missing := slices.Clone(t.missing)
	t.mu.Unlock()
	for _, why := range missing {
		fmt.Fprintln(t.c.err, "without", shown(why))
	}
	switch {
	case len(argv) > 0 && span > 0:
		fmt.Fprintf(t.c.err, "recording for %s, and while the command runs; Ctrl-C ends it\n", span)
	case len(argv) > 0:
		fmt.Fprintln(t.c.err, "recording while the command runs; Ctrl-C ends it")
	default:
		fmt.Fprintf(t.c.err, "recording for %s: reproduce the fault now; Ctrl-C ends it\n", span)
	}
}
