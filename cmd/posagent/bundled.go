package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"posagent/agent"
	"posagent/agent/config"
	"posagent/agent/lifecycle/enrol"
	"posagent/agent/ready"
	"posagent/cmd/usage"
	"posagent/device"
	"posagent/device/file"
	"posagent/schemes/fleet"
	"posagent/schemes/wire"
	"posagent/store"
)

// readBundle reads a bundle file. What lies on a stick was put there by anybody: only a file that is one, and no longer than one,
// is read.
func readBundle(name string) ([]byte, error) {
	f, _, err := file.Open(name, file.NoFollow)
	switch {
	case errors.Is(err, unix.ELOOP):
		return nil, fail(exitRefused, "--bundle: %s is a symbolic link, and is not followed (name the file that it leads to)", name)
	case errors.Is(err, fs.ErrNotExist):
		return nil, fail(exitFailed, "--bundle: there is no %s (is the stick mounted? lsblk shows it)", name)
	case errors.Is(err, file.ErrIrregular):
		if info, err := os.Lstat(name); err != nil || !info.IsDir() {
			return nil, fail(exitRefused, "--bundle: %s is no regular file (name the file that posagent backend fleet bundle wrote)", name)
		}
		return nil, fail(exitRefused, "--bundle: %s is a directory (name the file in it that ends in %s)", name, fleet.BundleSuffix)
	case err != nil:
		return nil, fail(exitFailed, "--bundle: %v", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, fleet.MaxBundle+1))
	if err != nil {
		return nil, fail(exitFailed, "--bundle: %v (copy the file to the stick again)", err)
	}
	return data, nil
}

// openBundle opens the bundle file of the options with the code, and checks that it is the operator's and this box's.
func openBundle(name string, file []byte, t fleet.Ticket, serial string) (fleet.Bundle, error) {
	head, err := fleet.ReadBundleHead(file)
	if err != nil {
		return fleet.Bundle{}, bundleRefused(name, err)
	}
	if head.SerialNumber != serial { // before a person looks for the mistake in the code
		return fleet.Bundle{}, bundleRefused(name, fmt.Errorf("%w: for %s, and this is %s", enrol.ErrOtherBox, head.SerialNumber, serial))
	}
	b, err := fleet.OpenBundle(file, t.Code)
	if err == nil {
		err = b.Verify(t.Fingerprint)
	}
	return b, bundleRefused(name, err)
}

// bundleRefused gives an error of a bundle its exit code and its remedy.
func bundleRefused(name string, err error) error {
	var used *enrol.RefusedError
	switch {
	case errors.Is(err, fleet.ErrBundle):
		return fail(exitFailed, "%s: %w (copy the file that posagent backend fleet bundle wrote to the stick again)", name, err)
	case errors.Is(err, fleet.ErrBundleNewer):
		return fail(exitRefused, "%s: %w (install that program first)", name, err)
	case errors.Is(err, fleet.ErrBundleCode):
		return fail(exitAuth, "%s: %w, or the file was changed (read the code again; it is the one that the operator was shown with this bundle)", name, err)
	case errors.Is(err, fleet.ErrBundleSigner):
		return fail(exitAuth, "%s: %w (do not use it, and tell the operator; for another: posagent backend fleet bundle)", name, err)
	case errors.Is(err, enrol.ErrOtherBox):
		return fail(exitRefused, "%s: %w (take it to that box, or ask the operator for one for this box: posagent backend fleet bundle --serial-number NUMBER)", name, err)
	case errors.Is(err, enrol.ErrOlder):
		return fail(exitRefused, "%s: %w (use the newer one, or ask the operator for another)", name, err)
	case errors.Is(err, enrol.ErrExpired):
		return fail(exitRefused, "%s: %w (ask the operator for another; if the clock is wrong, set it: date -u -s 'YYYY-MM-DD hh:mm')", name, err)
	case errors.As(err, &used):
		return fail(exitAuth, "%s: %w (ask the operator for another)", name, err)
	}
	return err
}

// takeUp lets the box work with a bundle, or, where it has to hear the service first, begins the enrolment. Nothing is kept of a bundle
// whose configuration this box cannot use.
func takeUp(ctx context.Context, c *call, box *enrol.Box, name string, b fleet.Bundle, code wire.Secret) error {
	cfg, err := usable(ctx, c, enrol.Trial{Revision: b.Configuration.Number, Text: b.Configuration.Text})
	if err != nil {
		return err
	}
	if _, err := driver(c, cfg, logger(c), nil).Service(b.URL); err != nil {
		return err
	}
	j, err := journalHere(ctx, c)
	if err != nil {
		return err
	}
	if err := patiently(ctx, func() error { return box.Take(b, code, b.SerialNumber, j) }); err != nil {
		return fleetRefused(c, bundleRefused(name, err))
	}
	if s, err := box.Summary(); err == nil && !s.InUse && !s.Enrolled {
		fmt.Fprintln(c.err, "the journal of this box was there before the bundle: the terminal works once the network is there and the service has confirmed it")
	}
	return nil
}

// journalHere is what a bundle has to know of the box's journal.
func journalHere(ctx context.Context, c *call) (j enrol.Journal, err error) {
	if _, err := os.Stat(agentDB(c)); errors.Is(err, os.ErrNotExist) {
		return j, nil
	}
	db, err := readAgent(c)
	if err != nil {
		return j, err
	}
	defer db.Close()
	return bundleJournal(ctx, db)
}

func bundleJournal(ctx context.Context, db store.Journal) (j enrol.Journal, err error) {
	if j.Generation, err = db.Generation(ctx); err == nil {
		err = db.Read(ctx, func(r store.Reader) (err error) { j.Untouched, err = agent.Untouched(r); return err })
	}
	return j, storeError(err)
}

// errOtherJournal ends a run on a journal that did not begin with the bundle in use.
var errOtherJournal = errors.New("the journal of this box was there before its bundle, or was put back")

// ownJournal refuses a journal that did not begin with the bundle in use: another box may live with it until the service has confirmed.
func ownJournal(ctx context.Context, c *call, db store.Journal, on enrol.Active) error {
	if !on.Unconfirmed {
		return nil
	}
	j, err := bundleJournal(ctx, db)
	if err != nil {
		return err
	}
	own := false
	if err := patiently(ctx, func() (err error) { own, err = enrolment(c).Owns(j); return err }); err != nil {
		return fleetRefused(c, err)
	}
	if !own {
		return errOtherJournal
	}
	return nil
}

// barred is why a terminal must not be READY whatever works; nil = nothing bars it.
func barred(on enrol.Active) *ready.Trouble {
	switch {
	case on.Revoked != "":
		return &ready.Trouble{Cause: ready.Replaced, Detail: on.Revoked}
	case on.Unconfirmed:
		return &ready.Trouble{Cause: ready.NotConfirmed, Where: on.URL, Detail: "its bundle is good until " + usage.LocalTime(on.Until)}
	}
	return nil
}

// vouched are the services whose address stands in a bundle that is in use: the operator has signed it, and this box has not changed it.
func vouched(cfg config.Config, on enrol.Active) (list []string) {
	if !on.Unconfirmed {
		return nil
	}
	origin := cfg.Origin()
	for _, name := range portServices() {
		key := "upstream." + name
		if origin[key] == "" {
			key = "upstream.base"
		}
		if strings.HasPrefix(origin[key], layerName(on.Revision)+":") {
			list = append(list, name)
		}
	}
	return list
}

// confirmWithin is how long a verb tries to reach the service with a bundle that the box works with already.
const confirmWithin = 10 * time.Second

// unreached returns whether a step failed for want of a network.
func unreached(err error) bool {
	var coded *exit
	if errors.As(err, &coded) {
		return coded.Code == exitNoBackend
	}
	switch wire.CodeOf(err) {
	case wire.Unavailable, wire.UnknownOutcome, wire.Internal:
		return true
	}
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, enrol.ErrBusy)
}

// renewAgain is the pause after a renewal that failed.
const renewAgain = 10 * time.Minute

// renewal keeps the certificate of a running terminal in date.
type renewal struct {
	box    *enrol.Box
	driver enrol.Driver
	look   poll
}

// step renews the certificate where that is due, and it is time to look.
func (r *renewal) step(ctx context.Context) (until string, err error) {
	now := time.Now()
	if !r.look.due(now) || !device.ClockSane(now, usage.BuiltAt(version)) {
		return "", nil
	}
	until, err = r.box.Renew(ctx, r.driver)
	r.look.asked(time.Now(), nil)
	if err != nil && !errors.Is(err, enrol.ErrBusy) {
		r.look.next = time.Now().Add(spread(renewAgain))
	}
	return until, err
}
