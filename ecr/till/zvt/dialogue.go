package zvt

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"posagent/ecr/zvt/apdu"
	"posagent/ecr/zvt/frame"
)

// Command sends any message and, if completes, follows the dialogue to its completion. Result.Refused: the terminal
// answered 84 xx. Errors: ErrNoAnswer, ErrNoCompletion, ErrDisconnected, ErrUnknown, frame.ErrTransmit,
// frame.ErrClosed, a failed connection, ctx.Err(); the Result then holds what was said before.
func (r *Register) Command(ctx context.Context, m apdu.Message, completes bool) (Result, error) {
	res := Result{Command: m.Cmd.Name()}
	select {
	case <-r.turn:
		defer func() { r.turn <- struct{}{} }()
	case <-ctx.Done():
		return res, ctx.Err()
	}
	if r.habit.NewConnection {
		r.Disconnect()
		defer r.Disconnect()
	}
	line, err := r.connect(ctx)
	if err == nil && !drop(line.Recv()) { // it was closed between two commands
		r.Disconnect()
		line, err = r.connect(ctx)
	}
	if err != nil {
		return res, err
	}
	d := dialogue{r: r, line: line, res: &res, completes: completes}
	err = d.run(ctx, m)
	res.finish()
	if err != nil {
		r.opt.Log.Info("command failed", "command", res.Command, "error", err)
		if errors.Is(err, frame.ErrClosed) {
			r.Disconnect()
		}
	}
	return res, err
}

// dialogue is one command while it runs.
type dialogue struct {
	r         *Register
	line      frame.Transport
	res       *Result
	completes bool

	replied bool
	done    bool
	until   time.Time // T3 or T4
}

func (d *dialogue) run(ctx context.Context, m apdu.Message) error {
	r := d.r
	mine := make(chan apdu.Message, 1)
	r.mu.Lock()
	r.running, r.waiting = true, []chan apdu.Message{mine}
	r.mu.Unlock()
	defer func() {
		r.mu.Lock()
		r.running, r.waiting = false, nil
		r.mu.Unlock()
	}()
	err := r.send(ctx, d.line, m)
	if err != nil {
		return err
	}
	d.until = time.Now().Add(r.opt.T3)
	timer := time.NewTimer(r.opt.T3)
	defer timer.Stop()
	for {
		if d.replied && (d.done || !d.completes) && r.ended() {
			return nil
		}
		timer.Reset(time.Until(d.until))
		select {
		case data, ok := <-d.line.Recv():
			if !ok {
				_, err := d.line.Receive(ctx)
				return err
			}
			r.tap("in", data)
			if err := d.receive(ctx, data); err != nil {
				return err
			}
		case reply := <-mine:
			mine = nil
			if err := d.reply(reply); err != nil {
				return err
			}
		case <-timer.C:
			switch {
			case !d.replied:
				return ErrNoAnswer
			case d.done || !d.completes:
				return nil // only the answer to an abort is missing
			}
			return ErrNoCompletion
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// drop discards messages that arrived before the command: no command waits for them. false: the line is closed.
func drop(queue <-chan []byte) bool {
	for {
		select {
		case _, ok := <-queue:
			if !ok {
				return false
			}
		default:
			return true
		}
	}
}

// send sends a command.
func (r *Register) send(ctx context.Context, line frame.Transport, m apdu.Message) error {
	data, err := apdu.Encode(r.sequenced(m))
	if err != nil {
		return err
	}
	r.tap("out", data)
	return line.Send(ctx, data)
}

// join asks for the answer to a command sent beside the running one; false if none runs.
func (r *Register) join() (reply chan apdu.Message, line frame.Transport, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.running || r.line == nil {
		return nil, nil, false
	}
	reply = make(chan apdu.Message, 1)
	r.waiting = append(r.waiting, reply)
	return reply, r.line, true
}

// leave takes join back.
func (r *Register) leave(reply chan apdu.Message) {
	r.mu.Lock()
	r.waiting = slices.DeleteFunc(r.waiting, func(c chan apdu.Message) bool { return c == reply })
	r.mu.Unlock()
}

// ended ends the running command unless a caller still waits for an answer.
func (r *Register) ended() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.waiting) > 0 {
		return false
	}
	r.running = false
	return true
}

// sequenced adds the next message sequence id, if they are in use and m has none.
func (r *Register) sequenced(m apdu.Message) apdu.Message {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, has := m.FindTLV(tagSequence); !r.useSeq || has || m.Raw != nil {
		return m
	}
	r.sequence = r.sequence%999_999 + 1
	return withSequence(m, r.sequence)
}

const tagSequence = 0x1F73

func withSequence(m apdu.Message, n int) apdu.Message {
	id := apdu.PrimitiveBCD(tagSequence, int64(n), 3)
	fields := append([]apdu.Field(nil), m.Fields...)
	for i, f := range fields {
		if f.BMP == 0x06 {
			fields[i].TLV = append(append([]apdu.TLV{}, f.TLV...), id)
			m.Fields = fields
			return m
		}
	}
	m.Fields = append(fields, apdu.Container(id))
	return m
}

// reply takes the terminal's answer to the command itself.
func (d *dialogue) reply(m apdu.Message) error {
	d.replied = true
	if !m.Cmd.IsOK() {
		d.res.Refused, d.res.Code = true, m.Cmd.Code()
		d.done = true
	}
	d.until = time.Now().Add(d.r.opt.T4)
	if d.done || !d.completes {
		d.until = time.Now().Add(d.r.opt.T3)
	}
	return nil
}

// receive handles one APDU of the terminal.
func (d *dialogue) receive(ctx context.Context, data []byte) error {
	r := d.r
	m, err := apdu.Decode(data)
	if err != nil {
		r.opt.Log.Warn("terminal sent a malformed message", "error", err)
		if r.habit.Unknown == FailUnknown {
			return fmt.Errorf("%w: %w", ErrUnknown, err)
		}
		return d.answer(ctx, apdu.Refuse(0x9A))
	}
	if m.Cmd.IsReply() {
		r.mu.Lock()
		var first chan apdu.Message
		if len(r.waiting) > 0 {
			first, r.waiting = r.waiting[0], r.waiting[1:]
		}
		r.mu.Unlock()
		if first != nil {
			first <- m // has room for the one answer
		}
		return nil
	}
	if t, ok := m.FindTLV(tagSequence); ok {
		if n, err := apdu.UnpackBCD(t.Value); err == nil {
			d.res.Sequence = int(n)
		}
	}
	known := d.take(m)
	switch {
	case !known && r.habit.Unknown == FailUnknown:
		return fmt.Errorf("%w: %s", ErrUnknown, m.Cmd)
	case m.Cmd == apdu.SetTime && r.habit.NoSetTime:
		return nil
	case m.Cmd == apdu.StatusInfo && r.habit.RefusesTag41:
		if _, has := m.FindTLV(0x41); has {
			return fmt.Errorf("%w: tag 41 in %s", ErrUnknown, m.Cmd)
		}
	}
	r.mu.Lock()
	react := r.react
	r.mu.Unlock()
	var how Reaction
	if react != nil {
		how = react(m)
	}
	return d.perform(ctx, m, how)
}

// take copies what a message says into the result; false if the register does not know the command.
func (d *dialogue) take(m apdu.Message) bool {
	r, res := d.r, d.res
	switch m.Cmd {
	case apdu.Intermediate:
		line := res.intermediate(m, r.charset)
		wait := r.opt.T4
		if _, minutes, ok := m.IntermediateStatus(); ok && minutes > 0 {
			wait = time.Duration(minutes) * time.Minute
		}
		d.until = time.Now().Add(wait)
		if r.opt.Note != nil {
			r.opt.Note(line)
		}
	case apdu.StatusInfo:
		res.status(m, r.charset)
		d.until = time.Now().Add(r.opt.T4)
	case apdu.PrintLine, apdu.PrintBlock:
		res.printed(m, r.charset)
	case apdu.Completion:
		d.complete(m)
	case apdu.AbortPT:
		res.Aborted = true
		if code, ok := m.Result(); ok {
			res.Code = code
		} else if res.Code == CodeOK {
			res.Code = CodeAborted
		}
	case apdu.SetTime:
	default:
		return false
	}
	return true
}

// complete takes over 06 0F.
func (d *dialogue) complete(m apdu.Message) {
	r, res := d.r, d.res
	res.Completed = true
	res.terminal(m)
	if version, status, ok := m.TerminalStatus(r.charset); ok {
		res.Version, res.Status = version, status
	}
	if code, ok := m.Result(); ok {
		res.Code = code
	}
	if t, ok := m.FindTLV(0x27, 0x14); ok && len(t.Value) == 1 {
		if cs, ok := apdu.CharsetOfTag(t.Value[0]); ok {
			r.charset = cs
		}
	}
	if res.Command == apdu.Registration.Name() {
		_, echoed := m.FindTLV(tagSequence)
		r.mu.Lock()
		r.useSeq, r.sequence = echoed && r.opt.Sequence, 0
		r.mu.Unlock()
	}
}

// perform answers a message as told. Only an answer ends the dialogue at a completion: an unanswered one is sent
// again.
func (d *dialogue) perform(ctx context.Context, m apdu.Message, how Reaction) error {
	if how.After > 0 {
		select {
		case <-time.After(how.After):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if how.Disconnect {
		d.r.Disconnect()
		return ErrDisconnected
	}
	last := m.Cmd == apdu.Completion || m.Cmd == apdu.AbortPT
	if how.Silent {
		d.done = d.done || last
		return nil
	}
	reply := apdu.OK(how.Fields...)
	if how.Code != 0 {
		reply = apdu.Refuse(how.Code, how.Fields...)
	}
	if t, ok := m.FindTLV(tagSequence); ok {
		if n, err := apdu.UnpackBCD(t.Value); err == nil {
			reply = withSequence(reply, int(n))
		}
	}
	if err := d.answer(ctx, reply); err != nil {
		return err
	}
	if m.Cmd == apdu.StatusInfo {
		d.res.Told = how.Code == 0
	}
	d.done = d.done || last
	if d.done {
		d.until = time.Now().Add(d.r.opt.T3)
	}
	return nil
}

func (d *dialogue) answer(ctx context.Context, m apdu.Message) error {
	data, err := apdu.Encode(m)
	if err != nil {
		return err
	}
	d.r.tap("out", data)
	return d.line.Send(ctx, data)
}
