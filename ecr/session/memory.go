package session

import (
	"bytes"
	"context"

	"posagent/ecr"
)

// memory is what a line remembers over a restart, and whether Memory holds it.
type memory struct {
	loaded  bool
	profile []byte
	stored  bool // the profile is what Memory holds
}

// remember takes a profile as the line's and returns the memory before it.
func (s *Session) remember(a ecr.Save) (was memory) {
	s.mu.Lock()
	defer s.mu.Unlock()
	was = s.memory
	same := bytes.Equal(was.profile, a.Profile)
	s.memory = memory{loaded: true, profile: a.Profile, stored: was.stored && same}
	return was
}

// save stores a profile and tells the line's other connections. One that is stored already is not
// written again: registers register for every command, and strangers as often as they like. A
// profile that must be stored and cannot be is forgotten: was counts again, unless another one came
// since.
func (d *dialog) save(ctx context.Context, a ecr.Save, was memory) {
	s := d.s
	err := s.store(ctx)
	failed := err != nil
	if failed && a.Must {
		s.mu.Lock()
		if bytes.Equal(s.memory.profile, a.Profile) {
			s.memory = was
		}
		s.mu.Unlock()
	}
	if !bytes.Equal(was.profile, a.Profile) && !(failed && a.Must) {
		d.others(ecr.Learned{Profile: a.Profile})
	}
	if a.Gen != 0 {
		d.post(ecr.Saved{Gen: a.Gen, Failed: failed})
	}
}

// store writes what the line remembers, unless it is stored. It fails where Memory does.
func (s *Session) store(ctx context.Context) error {
	s.saving.Lock()
	defer s.saving.Unlock()
	s.mu.Lock()
	m := s.memory
	s.mu.Unlock()
	if s.o.Memory == nil || !m.loaded || m.stored {
		return nil
	}
	err := s.o.Memory.Save(ctx, s.o.Line, m.profile)
	if err != nil {
		if ctx.Err() == nil {
			s.log.Error("registration not stored", "err", err)
		}
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if bytes.Equal(s.memory.profile, m.profile) {
		s.memory.stored = true
	}
	return nil
}

// remembered refuses a sale while what the line remembers cannot be stored: the number that the
// register gave it, or what it is asked for by, means something else after a restart then.
func (s *Session) remembered(ctx context.Context) error {
	if err := s.store(ctx); err != nil {
		return &ecr.Refusal{Code: ecr.NotStored, Text: "the journal cannot be written"}
	}
	return nil
}
