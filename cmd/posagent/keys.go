package main

import (
	"context"
	"errors"
	"os"

	"posagent/device"
	"posagent/store"
)

// openKeys makes or opens the device key, and says what to do when it cannot.
func openKeys(c *call) (*device.Keys, error) {
	if err := stateDir(c); err != nil {
		return nil, err
	}
	load := device.OpenKeys
	if fi, err := os.Stat(agentDB(c)); err == nil && fi.Size() > 0 {
		load = device.LoadKeys // a new one would open nothing of the journal
	} else if lost := (*store.CutError)(nil); errors.As(lookAt(c), &lost) {
		return nil, cutError(lost)
	}
	keys, err := load(keyDir(c))
	return keys, keyError(c, err)
}

// journalKeys opens the device key of an existing journal; it makes none.
func journalKeys(c *call) (*device.Keys, error) {
	if _, err := os.Stat(agentDB(c)); err != nil {
		if cut := lookAt(c); cut != nil {
			err = cut
		}
		return nil, c.storeError(err)
	}
	return openKeys(c)
}

// keyError gives an error of the device key its exit code and its remedy.
func keyError(c *call, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, device.ErrNoKey):
		return fail(exitDamaged, "the journal is there, but its key is missing: %s: %w (%s)", keyDir(c), err, remedyOf(c.flags(), err))
	case errors.Is(err, device.ErrKeyFile):
		return fail(exitDamaged, "%w (%s)", err, remedyOf(c.flags(), err))
	}
	return storeError(err)
}

// keyMissing is why the device key of a journal cannot be used, nil = it can. To root another account's private key is well.
func keyMissing(c *call) error {
	k, err := doctorKey(c)
	if k.Missing || k.Unfit {
		return err
	}
	return nil
}

// endRotation ends a change of the device key, where one was begun: every data key is wrapped under the new key, then the old one is
// forgotten. Broken off at any point it is done again by the next start; until then both keys are there. said is told of each step.
func endRotation(ctx context.Context, c *call, db store.Journal, keys *device.Keys, said func(step string, done, of int)) error {
	next, changing := keys.Changing()
	if !changing {
		return nil
	}
	if err := db.Rewrap(ctx, next, func(done, of int) { said("keys wrapped anew", done, of) }); err != nil {
		return storeError(err)
	}
	secret, err := db.Secret(ctx, callerSecret, secretFile(c))
	if err == nil {
		err = store.KeepSecret(secretFile(c), next, secret)
	}
	if err != nil {
		return storeError(err)
	}
	said("all keys wrapped anew", 1, 1)
	if err := device.ForgetOld(keyDir(c)); err != nil {
		return fail(exitFailed, "%v (both keys are there; posagent config rotate-key again)", err)
	}
	said("old key forgotten", 1, 1)
	return nil
}

// lockedOut says why no key opens the journal of a stopped terminal: the key is gone, damaged, or another journal's. nil where there is
// no journal, where the key opens it, and where only the mode or the owner keep the key from being used.
func lockedOut(ctx context.Context, c *call) error {
	if fi, err := os.Stat(agentDB(c)); err != nil || fi.Size() == 0 {
		return nil
	}
	keys, err := device.LoadKeys(keyDir(c))
	if errors.Is(err, device.ErrNoKey) || errors.Is(err, device.ErrKeyDamaged) {
		return err
	}
	if err != nil {
		return nil
	}
	db, err := fileOf(c).readAsItIs(ctx, keys, true)
	if errors.Is(err, device.ErrWrongKey) {
		return err
	}
	if err == nil {
		_ = db.Close() // it was opened for reading
	}
	return nil
}
