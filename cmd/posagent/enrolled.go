package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"posagent/agent"
	"posagent/agent/checkout/drive/journal"
	"posagent/agent/config"
	"posagent/agent/lifecycle/enrol"
	"posagent/agent/ready"
	"posagent/agent/upstream"
	"posagent/device"
	"posagent/schemes/fleet"
	"posagent/store"
)

// enrolment is what the terminal was enrolled with; it makes and reads nothing yet.
func enrolment(c *call) *enrol.Box {
	return enrol.At(filepath.Join(c.stateDir(), "enrolment"), time.Now)
}

// unenrolled says whether this box waits for its enrolment: it has none, nothing names a backend, and no sandbox has run here. A sandbox
// that was reset is none any more on a box whose package starts no other.
func unenrolled(c *call, cfg config.Config) bool {
	if !cfg.Sandbox() {
		return false
	}
	if _, err := enrolment(c).Active(); !errors.Is(err, enrol.ErrNone) {
		return false
	}
	_, err := os.Stat(backendDir(c, cfg))
	if err == nil && c.packaged() != "" {
		_, err = os.Stat(agentDB(c))
	}
	return errors.Is(err, os.ErrNotExist)
}

// notEnrolled is the error of a verb that has nothing to work with on such a box.
func notEnrolled(c *call) error {
	said := ready.Say(ready.Trouble{Cause: ready.Unenrolled}, placeOf(c))
	return fail(exitNotEnrolled, "%s: %s (%s)", c.path, said.Words, said.Remedy)
}

// unreadEnrolment is the error of every verb where the record of the enrolment cannot be read. The record has the operator's address,
// so the remedy asks for it.
func unreadEnrolment(c *call, err error) error {
	said := ready.Say(ready.Trouble{Cause: ready.NoRecord}, ready.Place{Flags: c.flags()})
	return fail(exitDamaged, "%w (%s)", err, said.Remedy)
}

// unreadBecause is why the record of the enrolment cannot be read.
func unreadBecause(err error) string {
	why, _, _ := strings.Cut(err.Error(), " (")
	return strings.TrimPrefix(why, enrol.ErrDamaged.Error()+": ")
}

// driver takes the enrolment of a terminal on. local is the configuration of the box: the way out of its network.
func driver(c *call, local config.Config, log *slog.Logger, said func(enrol.State)) enrol.Driver {
	var last *upstream.Client // one connection serves what is asked together
	var at string
	return enrol.Driver{
		Version: version, Said: said,
		Time: func() (time.Time, bool) {
			if last == nil {
				return time.Time{}, false
			}
			return last.Time()
		},
		Service: func(url string) (fleet.Service, error) {
			if last != nil && at == url {
				return &fleet.Client{BaseURL: strings.TrimSuffix(url, "/"), Doer: last.Once()}, nil
			}
			client, err := upstream.New(upstream.Config{
				Base: url, Timeout: local.Upstream.Timeout, Proxy: local.Upstream.Proxy, ProxyAuth: local.Upstream.ProxyAuth,
				RootsFile: local.Upstream.RootsFile, UserAgent: "posagent/" + version, Log: log, Route: routes(), Shared: upstream.NewShared(), KeepIdle: keepFleet,
			})
			if err != nil {
				return nil, fail(exitConfig, "%w", err)
			}
			c.way, last, at = client, client, url
			return &fleet.Client{BaseURL: strings.TrimSuffix(url, "/"), Doer: client.Once()}, nil
		},
		Try: func(ctx context.Context, t enrol.Trial) error {
			err := tryConfiguration(ctx, c, t)
			var e *exit
			if errors.As(err, &e) && e.Code == exitNoBackend && !local.Sandbox() && reached(ctx, c, local) != nil {
				return &enrol.AwayError{Err: err} // what the terminal works with does not reach it either
			}
			return err
		},
	}
}

// usable returns a configuration that is to be tried with what the box itself sets. It fails where no terminal could run on it here.
func usable(ctx context.Context, c *call, t enrol.Trial) (config.Config, error) {
	cfg, err := configWith(c, t.Revision, t.Text, t.Certificate)
	switch {
	case err != nil:
		return cfg, exitWith(exitConfig, err)
	case cfg.Sandbox():
		return cfg, fail(exitConfig, "revision %d has no [upstream]: ask the operator for another", t.Revision)
	}
	if err := connectable(c, cfg); err != nil {
		return cfg, exitWith(exitConfig, err)
	}
	if err := fitsJournal(ctx, c, cfg); err != nil {
		return cfg, err
	}
	return cfg, nil
}

// tryConfiguration returns nil once the backend has answered with a configuration that fits the journal of this box.
func tryConfiguration(ctx context.Context, c *call, t enrol.Trial) error {
	cfg, err := usable(ctx, c, t)
	if err != nil {
		return err
	}
	if s := reached(ctx, c, cfg); s != nil {
		code := exitFailed
		switch {
		case s.Cause == "credentials":
			code = exitAuth
		case s.Cause.Passes():
			code = exitNoBackend
		}
		return fail(code, "revision %d is not used: %s (%s; or ask the operator for another revision)", t.Revision, s.Words, s.Remedy)
	}
	return nil
}

// reached returns nil where the backend answers with a configuration what a sale needs, else the service that does not.
func reached(ctx context.Context, c *call, cfg config.Config) *netService {
	for _, service := range []string{"methods", "schemes"} {
		if s := askService(ctx, c, cfg, service); !s.OK {
			return &s
		}
	}
	return nil
}

// fitsJournal refuses a configuration under which the journal of this box could not be used.
func fitsJournal(ctx context.Context, c *call, cfg config.Config) error {
	if _, err := os.Stat(agentDB(c)); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return readJournal(ctx, c, func(r store.Reader) error {
		err := fits(r, cfg)
		var other *agent.OtherBackendError
		switch {
		case errors.As(err, &other) && other.Foreign() && other.Sales+other.Ops > 0:
			return fail(exitRefused, "%w: %w (the terminal has to end them first: posagent status%s)", enrol.ErrNotHere, err, c.flags())
		case errors.As(err, &other) && other.Foreign():
			return fail(exitRefused, "%w: %w (%s)", enrol.ErrNotHere, err, beginsAnew(c, other.Was))
		case other != nil && other.Sales+other.Ops == 0 && other.FromSandbox():
			return ofPlay(c, other)
		case other != nil && other.Replaced != "": // the verb takes the address from the configuration, which the revision is not yet
			return fail(exitRefused, "a person at the box decides first: stop it, set [upstream] of %s to the new address, and say what stands there: %w", configPath(c), unknownBefore(c, other))
		case err != nil && other != nil:
			return fail(exitRefused, "%w (the terminal has to end them first: posagent status%s)", err, c.flags())
		}
		return err
	})
}

// errReload ends a run of the terminal that is to begin again with another configuration.
var errReload = errors.New("the configuration has changed")

// keepFleet is how long the connection to the fleet may lie idle: until the next minute's questions.
const keepFleet = 90 * time.Second

const (
	lookAgain   = time.Second      // between two looks at whether there is another configuration, or the box is not the terminal any more
	resumeAgain = 10 * time.Second // after a step that has failed; twice as long each time, up to resumeMost
	resumeMost  = 5 * time.Minute
	waitAgain   = 10 * time.Second // between two looks at whether a configuration still has to wait
	proveWithin = 10 * time.Minute // for a new configuration to make the terminal ready, where the one before would
	lastsFor    = 30 * time.Second // of a start that is not ready, before its end counts whatever ends it; and between two such looks
	quietFor    = 3 * time.Second  // without a write, before the terminal begins again
	quietWithin = 30 * time.Minute // a counter that never rests
)

// codeFile is where an unattended box finds its code: a credential that its init system hands over.
func codeFile() string {
	if dir := os.Getenv("CREDENTIALS_DIRECTORY"); dir != "" {
		return filepath.Join(dir, "posagent.enroll")
	}
	return ""
}

// resumer goes on with an enrolment that was begun, from time to time.
type resumer struct {
	box    *enrol.Box
	driver enrol.Driver
	log    *slog.Logger
	next   time.Time
	pause  time.Duration
	at     string // the service that the last step failed at
	cause  ready.Cause
	why    string
}

// step goes on where something was begun, and it is time. It returns whether something still waits.
func (r *resumer) step(ctx context.Context) (waits bool) {
	if time.Now().Before(r.next) {
		return true
	}
	s, err := r.box.Summary()
	if err == nil && (s.State == enrol.Fresh || s.State == enrol.Confirmed) {
		return false
	}
	if err == nil {
		err = r.box.Resume(ctx, r.driver)
	}
	var refused *enrol.RefusedError
	switch {
	case err == nil, errors.Is(err, enrol.ErrNone), ctx.Err() != nil:
		return false
	case errors.Is(err, enrol.ErrBusy):
		return true
	}
	r.log.Warn("enrolment", "state", s.State, "err", err)
	r.at, r.cause, r.why = s.URL, ready.Enrolling, shortly(err)
	if why, yes := untrusted(err); yes {
		r.cause, r.why = ready.NotTrusted, why
	}
	if errors.As(err, &refused) {
		return false
	}
	r.pause = min(max(2*r.pause, resumeAgain), resumeMost)
	r.next = time.Now().Add(spread(r.pause))
	return true
}

// wait keeps a terminal that must not sell from selling, until a configuration lets it: it says why, goes on with an enrolment that
// was begun, and begins one for which a code was handed over. It ends with errReload once the configuration is not that of the digest, or
// with ctx.
func wait(ctx context.Context, c *call, local config.Config, digest string, why ready.Trouble, log *slog.Logger) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	release, err := lockWaiting(c)
	if err != nil {
		return err
	}
	defer release()
	sayWaiting(c, why, log)
	said := why
	progress := func(context.Context) error { return nil }
	go func() { _ = feedWatchdog(ctx, watchdogTime(), progress, log) }() // it ends with ctx, and has no other error
	box := enrolment(c)
	resume := &resumer{box: box, driver: driver(c, local, log, nil), log: log}
	if err := beginHandedOver(c, box); err != nil {
		log.Warn("the code that was handed over is not used", "err", err)
	}
	tick := time.NewTicker(lookAgain)
	defer tick.Stop()
	for {
		if configDigest(c) != digest {
			return errReload
		}
		now := why
		if resume.step(ctx) && resume.at != "" && why.Cause != ready.NotConfirmed {
			now = ready.Trouble{Cause: resume.cause, Where: resume.at, Detail: resume.why}
		}
		if now != said && ctx.Err() == nil {
			sayWaiting(c, now, log)
			said = now
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// beginHandedOver takes up the code that the init system hands over, where the terminal is not enrolled yet and nothing was begun.
func beginHandedOver(c *call, box *enrol.Box) error {
	path := codeFile()
	if path == "" {
		return nil
	}
	text, err := readPlain(path, maxToken)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	s, err := box.Summary()
	if err != nil || s.Enrolled || s.State != enrol.Fresh {
		return err
	}
	ticket, err := fleet.ParseTicket(string(text))
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if refused, err := box.Refused(ticket.Code); err != nil || refused {
		return cmp.Or(err, fmt.Errorf("%s: the service has refused this code", path))
	}
	return box.Begin(ticket, device.SerialNumber())
}

// ends returns whether a terminal that was revoked has something to end, and makes it one that can do nothing else: no register and no
// local program can ask it for anything.
func ends(ctx context.Context, c *call, cfg *config.Config) (open bool) {
	if _, err := os.Stat(agentDB(c)); err != nil {
		return false
	}
	err := readJournal(ctx, c, func(r store.Reader) (err error) { open, err = unended(r); return err })
	cfg.NoRegisters()
	cfg.Port.Listen, cfg.Compare.File = "", ""
	return err == nil && open
}

// settleFirst lets the terminal run on what it ran on before, where money is open in its journal that what was chosen since could not
// end.
func settleFirst(ctx context.Context, c *call, box *enrol.Box) error {
	chosen, err := box.Chosen()
	if err != nil {
		return err
	}
	cfg, err := configWith(c, chosen.Revision, chosen.Text, nil)
	if err != nil {
		return nil // it is told where it is used
	}
	waits := false
	if _, err := os.Stat(agentDB(c)); err == nil {
		err := readJournal(ctx, c, func(r store.Reader) (err error) { waits, err = owes(r, cfg); return err })
		if err != nil {
			return nil // the journal itself is opened next, and tells
		}
	}
	return patiently(ctx, func() error { return box.Hold(waits) })
}

// running is a terminal on one configuration.
type running struct {
	c      *call
	cfg    config.Config
	digest string       // of the configuration
	files  *inUse       // that it was read from
	on     enrol.Active // the zero value: it was never enrolled
	stamp  string       // of the enrolment, when it was read
	db     store.Journal
	rest   func(context.Context) (bool, error) // agent.Rest
	judged func() *ready.Report                // the last judgement, nil = there is none yet
	missed func(error)                         // is told what the operator's service was not reached for
	log    *slog.Logger
	looked time.Time                     // when a switch that waits was looked at last
	bar    atomic.Pointer[ready.Trouble] // why nothing new is sold; nil = nothing forbids it
}

// follow ends the run of a terminal with errReload when it is to run on another configuration: one that was enrolled or chosen since,
// a newer one of the operator, or the one before a new one that does not make it ready. It waits until the journal is settled.
func (r *running) follow(ctx context.Context) error {
	box := enrolment(r.c)
	d := driver(r.c, r.cfg, r.log, nil)
	seen, resume, begun := r.stamp, &resumer{box: box, driver: d, log: r.log}, true
	ask := newRounds()
	proof := &proving{box: box, on: r.on, better: r.better, log: r.log, looked: time.Now(), done: r.on.ID == "" || r.on.Unconfirmed}
	certificate, report := &renewal{box: box, driver: d, look: poll{every: refreshEvery}}, newReporter(r.c, box, d, &ask.report)
	tick := time.NewTicker(lookAgain)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		ask.look(time.Now(), r.db.Commits(), box.Stamp(), !proof.done)
		proof.step(ctx, time.Now(), r.judged())
		if r.on.ID != "" && !r.on.Unconfirmed {
			switch until, err := certificate.step(ctx); {
			case err != nil && ctx.Err() == nil && !errors.Is(err, enrol.ErrBusy):
				r.log.Warn("the certificate is due, and is not renewed yet", "err", err)
			case until != "":
				r.log.Info("the certificate is renewed", "until", until)
			}
		}
		if r.on.ID != "" && !r.on.Unconfirmed && ask.refresh.due(time.Now()) {
			number, err := box.Refresh(ctx, d)
			ask.refreshed(time.Now(), err)
			r.missed(err)
			switch {
			case err != nil && ctx.Err() == nil && !errors.Is(err, enrol.ErrBusy):
				r.log.Debug("no newer configuration", "err", err)
			case number > 0:
				r.log.Warn("a newer configuration becomes active", "revision", number)
			}
		}
		if r.on.ID != "" && !r.on.Unconfirmed {
			if err := report.step(ctx); err != nil && ctx.Err() == nil {
				r.log.Debug("the fleet is not told which program runs", "err", err)
			}
		}
		if begun {
			begun = resume.step(ctx)
		}
		stamp := box.Stamp()
		if stamp != seen || r.on.Unconfirmed { // a bundle is overdue without a change of the record
			r.forbid(box)
		}
		if stamp == seen && time.Since(r.looked) < waitAgain {
			continue
		}
		begun = begun || stamp != seen
		seen, r.looked = stamp, time.Now()
		if r.again(ctx, box) {
			return r.reload(ctx)
		}
	}
}

// forbid takes what forbids sales into account at once, as soon as the box knows it: no new sale, while what is open goes on
// (MONEY E.4). Only a newer configuration waits until the counter rests.
func (r *running) forbid(box *enrol.Box) {
	now, err := box.Chosen()
	if err != nil || now.Revoked == "" || now.ID != r.on.ID || r.on.Revoked != "" || r.bar.Load() != nil && r.bar.Load().Cause == ready.Replaced {
		return
	}
	r.bar.Store(barred(now))
	r.log.Warn("nothing new is sold: this box is not the terminal any more", "why", now.Revoked)
}

// again returns whether the terminal is to begin again: another configuration was chosen, and nothing is open that it could not end.
func (r *running) again(ctx context.Context, box *enrol.Box) bool {
	now, err := box.Chosen()
	if err == nil && r.on.Revoked != "" && now.ID == r.on.ID && now.Revoked != "" { // it ends what is open, and nothing else
		open, err := true, error(nil)
		err = r.db.Read(ctx, func(rd store.Reader) (err error) { open, err = unended(rd); return err })
		return err == nil && !open
	}
	same := now.ID == r.on.ID && now.Revision == r.on.Revision && now.Revoked == r.on.Revoked && now.Unconfirmed == r.on.Unconfirmed
	if err != nil || same && sameCertificate(now.Certificate, r.on.Certificate) {
		return false // a record that cannot be read is told by doctor; the terminal runs on what it has
	}
	cfg, err := configWith(r.c, now.Revision, now.Text, nil)
	if err != nil || now.Revoked != "" {
		return true // the next start tells
	}
	open := false
	err = r.db.Read(ctx, func(rd store.Reader) (err error) { open, err = owes(rd, cfg); return err })
	return err == nil && !open
}

// sameCertificate compares the certificates of two enrolments; nil is none.
func sameCertificate(a, b *tls.Certificate) bool {
	if a == nil || b == nil {
		return a == b
	}
	return slices.EqualFunc(a.Certificate, b.Certificate, bytes.Equal)
}

// reload returns errReload once no sale is open and nothing was written for quietFor, or quietWithin has passed; nil when ctx ends. A
// sale that is cut off by it goes on after the start, as after a power cut.
func (r *running) reload(ctx context.Context) error {
	until := time.Now().Add(quietWithin)
	for last := int64(-1); ; {
		open := 0
		err := r.db.Read(ctx, func(rd store.Reader) (err error) { open, err = journal.Unsettled(rd); return err })
		now := r.db.Commits()
		if now == last && open == 0 && err == nil {
			if rests, err := r.rest(ctx); rests && err == nil {
				return errReload
			}
		}
		if time.Now().After(until) {
			return errReload
		}
		last = now
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(quietFor):
		}
	}
}

// serialOf is the serial number of this box as a verb takes it.
func serialOf(c *call) string {
	if o, ok := c.opts.(*enrollOptions); ok {
		return cmp.Or(o.serial, device.SerialNumber())
	}
	return device.SerialNumber()
}
