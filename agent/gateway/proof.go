package gateway

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"posagent/schemes/paylinks"
	"posagent/schemes/wire"
	"posagent/store"
)

// askEvery is the pause between two questions to a service that was never proven, or does not answer.
const askEvery = 15 * time.Second

// Run asks the services that were never proven, or did not answer last time and have no operation that would find out that they
// do again, until ctx ends.
func (f *Front) Run(ctx context.Context) error {
	for {
		for _, service := range f.services() {
			ask, cancel := context.WithTimeout(ctx, f.o.Patience)
			if err := f.prove(ask, service); err == nil && f.box.Down(service) {
				f.answersAgain(ask, service)
			}
			cancel()
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(askEvery):
		}
	}
}

// answersAgain asks whether a service answers again, and tells the outbox.
func (f *Front) answersAgain(ctx context.Context, service string) bool {
	if err := f.askService(ctx, service); err != nil {
		return false
	}
	f.box.Up(service)
	return true
}

func (f *Front) services() (list []string) {
	for _, k := range f.kinds {
		if len(list) == 0 || list[len(list)-1] != k.Service {
			list = append(list, k.Service)
		}
	}
	return list
}

// prove makes sure that a service was reached once, as itself: by an answer that only it gives. An address with a
// misprint would otherwise take everything and never do anything.
func (f *Front) prove(ctx context.Context, service string) error {
	if f.isProven(service) {
		return nil
	}
	endpoint, was := f.o.Endpoints[service], ""
	err := f.o.DB.Read(ctx, func(r store.Reader) error {
		err := r.QueryRow(`SELECT endpoint FROM offline_proven WHERE service = ?`, service).Scan(&was)
		if errors.Is(err, sql.ErrNoRows) {
			was, err = endpoint+"?", nil
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("proof of %s: %w", service, err)
	}
	if was != endpoint {
		if err := f.askService(ctx, service); err != nil {
			return err
		}
		err := f.o.DB.Write(ctx, func(tx store.Tx) error {
			_, err := tx.Exec(`INSERT INTO offline_proven (service, endpoint, at_ms) VALUES (?, ?, ?)
				ON CONFLICT (service) DO UPDATE SET endpoint = excluded.endpoint, at_ms = excluded.at_ms`, service, endpoint, f.o.Now().UnixMilli())
			return err
		})
		if err != nil {
			return fmt.Errorf("proof of %s: %w", service, err)
		}
		f.o.Log.Info("service proven, its writes are stored when it is away", "service", service)
	}
	f.mu.Lock()
	f.proven[service] = true
	f.mu.Unlock()
	return nil
}

// isProven says that a service was proven since the start.
func (f *Front) isProven(service string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.proven[service]
}

// nobody is an id that no service gives.
const nobody = "posagent-is-this-the-service"

// askService reads something that is not there: only the service itself says so in its own words.
func (f *Front) askService(ctx context.Context, service string) error {
	var err error
	switch service {
	case Payments:
		_, err = f.o.Payments.Read(ctx, nobody)
	case Tokens:
		_, err = f.o.Tokens.Token(ctx, nobody)
	case Paylinks:
		_, err = f.o.Links.Read(ctx, paylinks.FirstLocalID-1)
	default:
		return nil
	}
	switch wire.CodeOf(err) {
	case wire.NotFound, wire.Invalid, wire.Conflict:
		return nil
	}
	return err
}
