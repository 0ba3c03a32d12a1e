package session

import (
	"cmp"
	"context"
	"errors"
	"net/netip"
	"sync"
	"time"

	"posagent/ecr"
)

const (
	recordWithin  = 15 * time.Second // the register waits this long for the desk to record a delivery
	recordForever = 10 * time.Minute // after that it is given up, loudly
	recordOnce    = 5 * time.Second
	answerLead    = 4 * time.Second // before the end of a register's patience the desk ends
)

// dialog is one connection: a dialogue of the protocol, and the goroutines that perform its
// actions.
type dialog struct {
	s         *Session
	number    int
	send      func(ctx context.Context, data []byte) error
	closeLine func()
	from      netip.Addr // of the peer, invalid on a serial line
	shown     bool       // the password; the reader's
	offered   bool       // one that was wrong; likewise
	rank      rank       // under Session.mu
	heard     bool       // likewise: it has sent something
	since     time.Time  // when it came

	dialogue ecr.Dialogue // stepped under Session.mu
	lost     bool         // under Session.mu: the connection is gone
	follows  string       // likewise: the sale whose outcome it waits for

	events chan ecr.Event
	ended  chan struct{}
	out    chan ecr.Send
	own    []ecr.Event // events the loop made itself
	late   late
	notice context.CancelFunc // of the one that waits for its answer; the loop's
	timers map[ecr.Timer]*time.Timer
	jobs   sync.WaitGroup
}

func (s *Session) dialog(cable bool, send func(context.Context, []byte) error) *dialog {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.opened++
	d := &dialog{
		s: s, number: s.opened, since: time.Now(), send: send, closeLine: func() {}, late: late{repeats: cable},
		dialogue: s.o.Protocol.Dialogue(ecr.Start{Line: s.o.Line, Cable: cable, Saved: s.memory.profile}),
		events:   make(chan ecr.Event), ended: make(chan struct{}),
		out: make(chan ecr.Send, maxOut), timers: map[ecr.Timer]*time.Timer{},
	}
	d.shown = d.dialogue.Shown()
	s.dialogs[d] = true
	return d
}

// post hands an event to the loop, unless that has ended.
func (d *dialog) post(ev ecr.Event) {
	select {
	case d.events <- ev:
	case <-d.ended:
	}
}

// read takes messages from a transport until it is gone.
func (d *dialog) read(ctx context.Context, link ecr.Transport) error {
	there := link.While(ctx) // after that no password is checked
	for {
		data, err := link.Receive(ctx)
		if err != nil {
			return err
		}
		var claim ecr.Claim
		if read := d.s.o.Protocol.Claim; read != nil {
			claim = read(data)
		}
		d.knocks(claim)
		if err := d.turn(ctx); err != nil {
			return err
		}
		if err := d.judge(there, claim); err != nil {
			return err
		}
		d.s.passes(FromRegister, data)
		d.s.count(func(st *Stats) {
			st.Received, st.LastContact = st.Received+1, time.Now()
			d.rank, d.heard = max(d.rank, d.rankOf(claim)), true
		})
		d.post(ecr.Received{Data: data})
	}
}

// judge holds a wrong password back until it may be answered, and takes note of it; so it does a right one that follows a wrong one on
// the same connection, which else could try any number. The dialogue answers it.
func (d *dialog) judge(ctx context.Context, claim ecr.Claim) error {
	s := d.s
	if d.shown || !claim.Password {
		return nil
	}
	from := s.o.Line
	if d.from.IsValid() {
		from = d.from.String()
	}
	if !claim.Right {
		s.count(func(st *Stats) { st.WrongPasswords, st.WrongFrom, st.WrongAt = st.WrongPasswords+1, from, time.Now() })
		s.warn("wrong password", "from", from)
		s.o.Refused(from)
	}
	if d.from.IsValid() && (d.offered || !claim.Right) {
		waited, err := s.guard.wrong(ctx)
		if err != nil {
			return err
		}
		if waited && !claim.Right {
			time.AfterFunc(lastWord, d.closeLine)
		}
	}
	d.shown, d.offered = claim.Right, true
	return nil
}

// gone tells the loop that the connection is lost.
func (d *dialog) gone() {
	d.s.mu.Lock()
	d.lost = true
	sale := d.follows
	d.s.mu.Unlock()
	if sale != "" {
		d.s.listens(sale, false)
	}
	d.post(ecr.Gone{})
}

// run steps the dialogue until ctx ends, or until the connection is lost and everything it began is
// settled.
func (d *dialog) run(ctx context.Context) {
	// Writing ends with the loop; calls of the desk end with ctx, so that a delivery is recorded
	// after that.
	writing, cancel := context.WithCancel(ctx)
	d.jobs.Go(func() { d.write(writing) })
	defer d.jobs.Wait()
	defer cancel()
	defer d.leave()
	for {
		var ev ecr.Event
		if len(d.own) > 0 {
			ev, d.own = d.own[0], d.own[1:]
		} else {
			select {
			case <-ctx.Done():
				return
			case ev = <-d.events:
			}
		}
		actions, finished := d.step(ev)
		for _, a := range actions {
			d.perform(ctx, a)
		}
		if finished && len(d.own) == 0 {
			return
		}
	}
}

func (d *dialog) step(ev ecr.Event) (actions []ecr.Action, finished bool) {
	s := d.s
	s.mu.Lock()
	defer s.mu.Unlock()
	switch e := ev.(type) {
	case ecr.Received:
		e.Elsewhere, e.OpenSale = s.owner != nil && s.owner != d, s.sale
		ev = e
	case ecr.Begun:
		s.sale = e.Sale
	case ecr.Ended:
		if s.sale == e.Outcome.Sale {
			s.sale = ""
		}
	case ecr.Freed:
		if s.owner != d { // it was given to another meanwhile
			return nil, false
		}
	}
	actions = d.dialogue.Step(ev)
	switch {
	case d.dialogue.Holds() && (s.owner == nil || s.owner == d):
		s.owner = d
	case s.owner == d && !d.dialogue.Holds():
		s.handOver()
	}
	return actions, d.lost && d.dialogue.Settled()
}

// handOver gives the line to the connection that has waited longest, or to none; with mu held.
func (s *Session) handOver() {
	s.owner = nil
	for d := range s.dialogs {
		if d.dialogue.Waits() && (s.owner == nil || d.number < s.owner.number) {
			s.owner = d
		}
	}
	if d := s.owner; d != nil {
		go d.post(ecr.Freed{})
	}
}

// leave ends what belongs to the loop.
func (d *dialog) leave() {
	close(d.ended)
	for _, t := range d.timers {
		t.Stop()
	}
	d.s.mu.Lock()
	defer d.s.mu.Unlock()
	delete(d.s.dialogs, d)
	if d.s.owner == d {
		d.s.handOver()
	}
}

// write sends what the dialogue wants sent, in order.
func (d *dialog) write(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case one := <-d.out:
			way, ok := d.late.leave(ctx, one.Seq)
			if !ok {
				d.post(ecr.Sent{Seq: one.Seq})
				continue
			}
			d.s.passes(ToRegister, one.Data)
			err := d.send(way, one.Data)
			d.late.left()
			d.s.count(func(st *Stats) {
				if err == nil {
					st.Sent++
				} else {
					st.Unsent++
				}
			})
			if err != nil && ctx.Err() == nil && !errors.Is(err, context.Canceled) { // neither closing nor taken back
				d.s.warn("message not acknowledged", "err", err)
			}
			d.post(ecr.Sent{Seq: one.Seq, OK: err == nil})
		}
	}
}

// perform starts one action; none of them holds the loop up.
func (d *dialog) perform(ctx context.Context, a ecr.Action) {
	s := d.s
	switch a := a.(type) {
	case ecr.Send:
		select {
		case d.out <- a:
		default:
			d.own = append(d.own, ecr.Sent{Seq: a.Seq})
		}
	case ecr.StartTimer:
		if t := d.timers[a.Timer]; t != nil {
			t.Stop()
		}
		d.timers[a.Timer] = time.AfterFunc(a.After, func() { d.post(ecr.Fired{Timer: a.Timer, Seq: a.Seq}) })
	case ecr.StopTimer:
		if t := d.timers[a.Timer]; t != nil {
			t.Stop()
		}
	case ecr.Begin:
		over := s.takings.Take(a.Request.Line, a.Request.Sequence)
		d.jobs.Go(func() {
			defer over()
			d.sale(ctx, a.Gen, over, func() (ecr.Sale, error) {
				if err := s.remembered(ctx); err != nil {
					return ecr.Sale{}, err
				}
				return s.o.Desk.Begin(ctx, s.asLine(a.Request))
			})
		})
	case ecr.Last:
		d.jobs.Go(func() { d.sale(ctx, a.Gen, func() {}, func() (ecr.Sale, error) { return s.last(ctx, a) }) })
	case ecr.Abort:
		d.jobs.Go(func() {
			err := s.o.Desk.Abort(ctx, a.Sale)
			if err != nil && !errors.Is(err, ecr.ErrTooLate) {
				s.log.Error("sale not aborted", "sale", a.Sale, "err", err)
			}
			d.post(ecr.AbortDecided{Gen: a.Gen, Done: err == nil})
		})
	case ecr.Waits:
		if w, ok := s.o.Desk.(ecr.Waiter); ok {
			w.Waits(a.Sale)
		}
	case ecr.Deliver:
		d.jobs.Go(func() { d.deliver(ctx, a) })
	case ecr.CloseBatch:
		d.jobs.Go(func() { d.total(ctx, a.Gen, s.closing(cmp.Or(a.Patience, s.o.Patience), a.By)) })
	case ecr.Warn:
		s.warn(a.Text)
	case ecr.ClosedDay:
		d.jobs.Go(func() { d.closedDay(ctx, a) })
	case ecr.DayTold:
		d.jobs.Go(func() { s.dayTold(ctx, a) })
	case ecr.Turnover:
		d.jobs.Go(func() { d.total(ctx, a.Gen, s.o.Till.Turnover) })
	case ecr.Check:
		d.jobs.Go(func() {
			h, err := s.o.Till.Check(ctx)
			if err != nil {
				s.warn("check failed", "err", err)
			}
			d.post(ecr.Checked{Gen: a.Gen, Health: h, OK: err == nil})
		})
	case ecr.Report:
		d.jobs.Go(func() { d.post(ecr.Checked{Gen: a.Gen, Health: s.o.Till.Health(ctx), OK: true}) })
	case ecr.Save:
		was := s.remember(a) // before a sale that follows it can ask
		d.jobs.Go(func() { d.save(ctx, a, was) })
	case ecr.Unsend:
		d.late.takeBack(a.Through)
	default:
		d.onPanel(ctx, a)
	}
}

// asLine fills in what the line says of each request.
func (s *Session) asLine(req ecr.Request) ecr.Request {
	req.Patience, req.Grace = cmp.Or(req.Patience, s.o.Patience), cmp.Or(req.Grace, s.o.Grace)
	req.Keep, req.RefundLast = req.Keep || s.o.Keep, req.RefundLast || s.o.RefundLast
	return req
}

// decided waits until no request is being taken that a question for a line's sale with an id may mean.
func (s *Session) decided(ctx context.Context, line, sequence string) error {
	for _, over := range s.takings.Open(line, sequence) {
		select {
		case <-over:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// last returns a line's last sale, its sale with an id, or the newest payment with a receipt number. What
// the line has asked for before is begun or refused by then.
func (s *Session) last(ctx context.Context, a ecr.Last) (ecr.Sale, error) {
	line := cmp.Or(a.Line, s.o.Line)
	if a.Receipt == 0 {
		if err := s.decided(ctx, line, a.Sequence); err != nil {
			return ecr.Sale{}, err
		}
	}
	switch {
	case a.Sequence != "":
		if f, ok := s.o.Desk.(ecr.Finder); ok {
			return f.Find(ctx, line, a.Sequence)
		}
	case a.Receipt != 0:
		if c, ok := s.o.Desk.(ecr.Copier); ok {
			if a.Listed {
				return c.Listed(ctx, a.Receipt)
			}
			return c.Copy(ctx, a.Receipt, a.Transaction)
		}
	default:
		return s.o.Desk.Last(ctx, line)
	}
	return ecr.Sale{}, ecr.ErrNone
}

// others posts an event to the line's other connections.
func (d *dialog) others(ev ecr.Event) {
	d.s.mu.Lock()
	defer d.s.mu.Unlock()
	for other := range d.s.dialogs {
		if other != d {
			d.jobs.Go(func() { other.post(ev) })
		}
	}
}

// sale begins or repeats a sale and follows it to its outcome. over is called once the desk has decided.
func (d *dialog) sale(ctx context.Context, gen int, over func(), begin func() (ecr.Sale, error)) {
	sale, err := begin()
	for held := false; isResuming(err) && ctx.Err() == nil; sale, err = begin() {
		if !held {
			held = true
			d.post(ecr.Held{Gen: gen})
		}
		pause(ctx, 20*time.Millisecond) // the desk itself waits for a while
	}
	over()
	if err != nil {
		refused := ecr.NotBegun{Gen: gen, Code: ecr.SystemError}
		var r *ecr.Refusal
		switch {
		case errors.As(err, &r):
			refused.Code, refused.Text = r.Code, r.Text
		case errors.Is(err, ecr.ErrNone):
			refused.Code = ""
		case ctx.Err() == nil:
			d.s.log.Error("sale not begun", "err", err)
		}
		d.post(refused)
		return
	}
	d.s.mu.Lock()
	d.follows = sale.ID
	lost := d.lost
	d.s.mu.Unlock()
	d.s.listens(sale.ID, !lost)
	d.post(ecr.Begun{Gen: gen, Sale: sale.ID})
	progress := sale.Progress
	for {
		select {
		case <-ctx.Done():
			return
		case p, ok := <-progress:
			if !ok {
				progress = nil
				continue
			}
			d.post(ecr.Progressed{Gen: gen, Progress: p})
		case out, ok := <-sale.Outcome:
			if !ok { // the desk is closing; the sale is settled when it opens again
				d.post(ecr.NotBegun{Gen: gen, Code: ecr.SystemError})
				return
			}
			d.post(ecr.Ended{Gen: gen, Outcome: out})
			return
		}
	}
}

// listens tells the desk whether a connection waits for the outcome of a sale.
func (s *Session) listens(sale string, yes bool) {
	if l, ok := s.o.Desk.(ecr.Listener); ok {
		l.Listens(sale, yes)
	}
}

// isResuming says that a desk has not taken its journal up yet.
func isResuming(err error) bool {
	var r *ecr.Refusal
	return errors.As(err, &r) && r.Code == ecr.Resuming
}

// deliver reports a delivery until the desk has recorded it. A desk that is closing still gets one
// try.
func (d *dialog) deliver(ctx context.Context, a ecr.Deliver) {
	began := time.Now()
	late := time.AfterFunc(recordWithin, func() { d.recorded(ecr.Recorded{Gen: a.Gen}) }) // also where the desk hangs
	defer late.Stop()
	for wait := 200 * time.Millisecond; ; wait = min(2*wait, 20*time.Second) {
		once, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordOnce)
		out, err := d.s.o.Desk.Delivered(once, a.Sale, a.Delivery)
		cancel()
		if err == nil {
			if late.Stop() {
				d.recorded(ecr.Recorded{Gen: a.Gen, Outcome: out, OK: true})
			}
			return
		}
		if ctx.Err() != nil || time.Since(began) > recordForever {
			d.s.log.Error("delivery not recorded", "sale", a.Sale, "delivery", a.Delivery, "err", err)
			return
		}
		pause(ctx, wait)
	}
}

func (d *dialog) recorded(ev ecr.Recorded) {
	if ev.Gen != 0 {
		d.post(ev)
	}
}

// rankOf is what a message says of its connection. Where a password is set, a command without it
// shows nothing.
func (d *dialog) rankOf(claim ecr.Claim) rank {
	switch {
	case !d.shown:
		return silent
	case claim.Register:
		return registered
	}
	return speaking
}
