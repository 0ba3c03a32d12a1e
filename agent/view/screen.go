package view

import (
	"context"

	"posagent/schemes/wire"
)

// Screen is everything that a page for people shows of the terminal. A part that could not be read
// has an error: wire.Forbidden where the caller may not see it.
type Screen struct {
	Status  Status
	Day     Day
	Waiting []Waiting
	Methods Methods
	Checks  Checks
	Audit   []Deed

	NoStatus, NoDay, NoWaiting, NoMethods, NoChecks, NoAudit error
}

// deedsShown is how many lines of the audit log a screen has.
const deedsShown = 20

// Screen reads all that the caller may see.
func (h *Daemon) Screen(ctx context.Context) (s Screen) {
	s.Status, s.NoStatus = h.Status(ctx)
	s.Day, s.NoDay = h.Day(ctx)
	s.Waiting, s.NoWaiting = h.Waiting(ctx)
	s.Methods, s.NoMethods = h.Methods(ctx)
	s.Checks, s.NoChecks = h.Checks(ctx)
	s.Audit, s.NoAudit = h.Audit(ctx, deedsShown)
	return s
}

// Denied says that a part is not shown because the caller may not see it.
func Denied(err error) bool { return wire.CodeOf(err) == wire.Forbidden }

// Faults are the errors of the parts that could not be read, for the log.
func (s *Screen) Faults() (list []error) {
	for _, err := range []error{s.NoStatus, s.NoDay, s.NoWaiting, s.NoMethods, s.NoChecks, s.NoAudit} {
		if err != nil && !Denied(err) {
			list = append(list, err)
		}
	}
	return list
}
