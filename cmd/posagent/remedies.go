package main

import (
	"cmp"
	"context"
	"errors"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"posagent/agent/ready"
	"posagent/device"
	"posagent/store"
	"posagent/store/move"
)

// storeError gives an error of the store its exit code and its remedy.
func storeError(err error) error {
	var cut *store.CutError
	var coded *exit
	var older *store.OlderError
	switch {
	case err == nil, errors.Is(err, context.Canceled), errors.As(err, &coded), errors.Is(err, store.ErrNotCut):
		return err
	case errors.As(err, &cut):
		return cutError(cut)
	case errors.Is(err, move.ErrMoved), errors.Is(err, move.ErrIncomplete):
		return fail(exitRefused, "%v (posagent-backend migrate goes on with it, or gives it up)", err)
	case errors.Is(err, store.ErrLocked):
		return fail(exitRefused, "%v (another posagent runs on this state directory; stop it first)", err)
	case errors.As(err, &older):
		return fail(exitFailed, "%v (free space in %s; posagent run brings the journal up to date and keeps all of it)", err, os.TempDir())
	case errors.Is(err, store.ErrNewer):
		return fail(exitRefused, "%v (a newer posagent wrote this journal: install that program; the journal is whole)", err)
	case errors.Is(err, store.ErrFull):
		return fail(exitFailed, "%w (df -h shows the full disk; free space there, but leave what is in the state directory)", err)
	case errors.Is(err, device.ErrWrongKey):
		return fail(exitDamaged, "%v (the key file is not the one of this journal: %s)", err, remedyOf("", err))
	case errors.Is(err, unix.EROFS), errors.Is(err, store.ErrReadOnly):
		return fail(exitFailed, "%v (the file system is read-only: dmesg | tail says why; mount -o remount,rw makes it writable again; the journal is whole)", err)
	case errors.Is(err, os.ErrPermission):
		return fail(exitFailed, "%v (run as the owner of the state directory; ls -l shows it)", err)
	case errors.Is(err, os.ErrNotExist):
		return fail(exitNoDaemon, "no terminal has run here yet: %v (posagent status says what to type)", err)
	}
	if errors.Is(err, store.ErrDamaged) {
		return fail(exitDamaged, "%w (keep the state directory as it is, and call support: posagent support bundle gathers what they need; with the newest backup: "+
			"posagent restore FILE --force damaged)", err)
	}
	return fail(exitDamaged, "%w (keep the state directory as it is, and call support)", err)
}

// cutError is the answer wherever the journal ends too early. Nothing was sent or undone for what may be missing.
func cutError(cut *store.CutError) error {
	sent := "nothing was sent or undone for what may be missing"
	if cut.Missing {
		sent = "nothing was sent or undone"
	}
	return fail(exitDamaged, "%v: %s (%s)", cut, sent, remedyOf("", cut))
}

// barredBy names what keeps the journal of a state directory from being opened: it is cut or gone, or its key does not fit. ok is
// false for any other error. status, doctor and every verb take the words from there.
func barredBy(dir string, err error) (t ready.Trouble, ok bool) {
	t = ready.Trouble{Where: cmp.Or(dir, "the state directory")}
	if err != nil {
		t.Detail = strings.TrimPrefix(err.Error(), "device: ")
	}
	var cut *store.CutError
	switch {
	case errors.As(err, &cut):
		t.Cause, t.Detail = ready.Cut, cut.Why
		if cut.Missing {
			t.Cause = ready.Lost
		}
	case errors.Is(err, device.ErrNoKey):
		t.Cause = ready.KeyMissing
	case errors.Is(err, device.ErrKeyFile):
		t.Cause = ready.KeyUnfit
	case errors.Is(err, device.ErrWrongKey):
		t.Cause = ready.KeyWrong
		if _, why, ok := strings.Cut(err.Error(), "device: "); ok { // not the path: it is where, and long ones cut the reason off
			t.Detail = why
		}
	default:
		return t, false
	}
	return t, true
}

// remedyOf is what a person does about it; flags are those of the terminal.
func remedyOf(flags string, err error) string {
	t, _ := barredBy("", err)
	return ready.Say(t, ready.Place{Flags: flags}).Remedy
}
