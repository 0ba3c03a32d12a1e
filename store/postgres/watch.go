package postgres

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"posagent/store"
)

// durableWithin bounds a commit of its own that has no answer.
const durableWithin = 2 * time.Minute

// unanswered is how long a commit may take before the process leaves the balancer: whoever is sent here meanwhile waits, and may be told
// that his outcome is unknown.
const unanswered = 5 * time.Second

// hangs says so of a commit that takes longer, until it is stopped.
func (s *Store) hangs() *time.Timer {
	return time.AfterFunc(unanswered, func() { s.saw(fmt.Errorf("%w: a commit has had no answer for %v", store.ErrIO, unanswered)) })
}

// watch asks the server every few seconds, so that its end and its return are noticed without a caller, and remembers how far it has
// confirmed.
func (s *Store) watch(ctx context.Context) {
	defer close(s.watched)
	if s.opt.Beat < 0 {
		return
	}
	s.look(ctx)
	last := time.Now()
	for {
		select {
		case <-ctx.Done():
			if s.asked != nil {
				<-s.asked // it ends with ctx
				s.asked = nil
			}
			end, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeWithin)
			defer cancel()
			_ = s.confirm(end, closeWithin) // whoever closes it may have lost the server
			return
		case <-time.After(min(s.opt.Beat, soon)):
		}
		if s.works() && time.Since(last) < s.opt.Beat {
			continue
		}
		s.look(ctx)
		last = time.Now()
	}
}

// soon is from one look to the next at a server that does not work: a process that is out of the balancer has no caller who notices that
// it is back.
const soon = time.Second

// works says whether nothing is known to be wrong.
func (s *Store) works() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state == store.Ready
}

// look judges the server again and asks it to confirm what it has. What is wrong shows in Health.
func (s *Store) look(ctx context.Context) {
	err := s.judge(ctx)
	if err == nil {
		err = s.present(ctx)
	}
	if err == nil {
		err = s.here(ctx)
	}
	s.bar(err)
	if err == nil {
		err = s.confirm(ctx, s.opt.CommitWithin)
	}
	s.tell(ctx, err)
}

func (s *Store) tell(ctx context.Context, err error) {
	if err != nil && ctx.Err() == nil {
		s.log.Warn("the server does not confirm what it has", "err", err)
	}
}

// judge chooses the primary again, as a new connection does: settings change, and servers.
func (s *Store) judge(ctx context.Context) error {
	one, at, err := s.by.choose(ctx)
	if err == nil {
		if err = s.memory.meet(at.Primary); err == nil {
			err = s.rights(ctx, one.pg)
		}
		err = errors.Join(err, one.Close())
	}
	if err != nil {
		return s.met(ctx, err)
	}
	return nil
}

// bar keeps all work from a server that a new connection would refuse, until it is mended: sessions that are there already would go on.
func (s *Store) bar(err error) {
	switch {
	case err == nil:
		s.barred.Store(nil)
	case refuses(err):
		s.barred.Store(&err)
	}
}

var errFirst = fmt.Errorf("%w: the server has confirmed nothing yet", store.ErrIO)

// confirm waits until the server has confirmed a commit of its own, and fails where that takes longer. One that has no answer yet is
// asked for again, instead of beginning another one: each would keep a process of the server.
func (s *Store) confirm(ctx context.Context, within time.Duration) (err error) {
	if s.asked == nil {
		s.asked = make(chan error, 1)
		go func(told chan<- error) { told <- s.durable(ctx) }(s.asked)
	}
	select {
	case err = <-s.asked:
		s.asked = nil
	case <-time.After(within):
		err = fmt.Errorf("%w: no commit was confirmed within %v", store.ErrIO, within)
	}
	if err != nil {
		s.saw(err)
		return err
	}
	s.answers()
	return nil
}

// durable commits something: up to where the log was before it, all is as durable as the server makes it.
func (s *Store) durable(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, durableWithin)
	defer cancel()
	of, err := s.take(ctx)
	if err != nil {
		return err
	}
	defer s.give(of)
	defer s.hangs().Stop()
	var at seen
	err = of.Raw(func(c any) (err error) {
		one := c.(*conn)
		if at, err = look(ctx, one.pg, Primary{}); err != nil {
			return err
		}
		one.alone = false
		at.beats, err = beat(ctx, one.pg, s.memory.process())
		if err == nil && one.alone {
			err = errors.New("the standbys did not confirm it")
		}
		one.alone = false
		return err
	})
	if err != nil {
		return fmt.Errorf("%w: %w", store.ErrIO, classify(err))
	}
	return s.memory.confirm(at)
}

// timeline is that of a segment of the log, by its name.
func timeline(segment string) (uint32, error) {
	n, err := strconv.ParseUint(segment[:min(8, len(segment))], 16, 32)
	return uint32(n), err
}

// fullFor is how long a server that had no space is not asked for some: where no caller comes, none would find out.
const fullFor = 10 * time.Second

// answers ends the state of a server that did not answer, and after a while of one without space, which has not shown that it has some.
func (s *Store) answers() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.state == store.Broken || s.state == store.Full && time.Since(s.lastAt) > fullFor {
		s.state = store.Ready
	}
}
