package stack

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"posagent/schemes/backend"
)

// Crash ends the terminal as a kill does and starts it again: it goes on from its files as they lie there this moment, whatever the
// old process does with its own afterwards.
func (s *Stack) Crash(ctx context.Context) error {
	s.crashes++
	image := fmt.Sprintf("%s-%d", s.o.TerminalDir, s.crashes)
	if err := os.CopyFS(image, os.DirFS(s.o.TerminalDir)); err != nil {
		return fmt.Errorf("crash: %w", err)
	}
	s.o.TerminalDir = image
	return errors.Join(s.Stop(), s.Start(ctx))
}

// CutPower ends the terminal as a power cut does: it starts again, in another boot, from the files that keep leaves in a directory.
// Nothing that the old process still does reaches the backend, and every connection of a register is gone.
func (s *Stack) CutPower(ctx context.Context, keep func(dir string) error) error {
	s.crashes++
	image := fmt.Sprintf("%s-%d", filepath.Join(s.o.Dir, "cut"), s.crashes)
	if err := keep(image); err != nil {
		return fmt.Errorf("power cut: %w", err)
	}
	s.Network.Set(Refusing)
	s.o.TerminalDir, s.o.VFS = image, ""
	err := s.Stop()
	s.Wire = newWire()
	s.Network.Set(Up)
	s.Reboot()
	return errors.Join(err, s.Start(ctx))
}

// Net is what the merchant has of the payments over an amount.
func (s *Stack) Net(ctx context.Context, amount int64) (sum int64, err error) {
	list, err := s.Backend.Books(ctx)
	if err != nil {
		return 0, err
	}
	sales, err := s.Journal(ctx)
	net := backend.NetByReference(list)
	for _, x := range sales {
		if int64(x.Amount) == amount {
			sum += int64(net[x.Reference])
		}
	}
	return sum, err
}
