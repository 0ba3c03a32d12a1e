package main

import (
	"context"
	"os"
	"path/filepath"

	"posagent/agent/config"
	"posagent/agent/control"
	"posagent/store"
)

// stateDir is the state directory: the one that --state names, or the default.
func (g *global) stateDir() string {
	if g.state == "" {
		return defaultState
	}
	return g.state
}

// stateDir makes the state directory, and refuses one that others may write.
func stateDir(c *call) error {
	if err := os.MkdirAll(c.stateDir(), 0o700); err != nil {
		return fail(exitFailed, "%v (make the directory, and let the user that runs posagent own it)", err)
	}
	return ownDir(c.stateDir(), os.Geteuid())
}

// agentDB is the terminal's database file.
func agentDB(c *call) string { return filepath.Join(c.stateDir(), "agent.db") }

// marks are the files that remember where the journal ends: one beside it, and the one of [store] mark.
func marks(c *call) ([]string, error) {
	cfg, err := loadConfig(c)
	if err != nil {
		return nil, err
	}
	list := []string{store.MarkPath(agentDB(c))}
	if cfg.Store.Mark != "" {
		list = append(list, cfg.Store.Mark)
	}
	return list, nil
}

// controlSocket is where the running terminal hears the command line.
func controlSocket(c *call) string { return filepath.Join(c.stateDir(), control.Name) }

// backendDir is where the embedded backend keeps its books.
func backendDir(c *call, cfg config.Config) string {
	if cfg.Backend.Data != "" {
		return cfg.Backend.Data
	}
	return filepath.Join(c.stateDir(), "backend")
}

// keyDir is where the device key is.
func keyDir(c *call) string { return filepath.Join(c.stateDir(), keysName) }

// Names in the state directory.
const (
	keysName   = "keys"           // of the folder with the device key
	secretName = "callers.secret" // of a file in it
)

// callerSecret names the secret that makes our keys of the callers' (store.Secret).
const callerSecret = "callers"

// secretFile is where it is kept beside the device key: it outlives the journal.
func secretFile(c *call) string { return filepath.Join(keyDir(c), secretName) }

// besideFile is where is kept what else outlives the journal.
func besideFile(c *call) string { return filepath.Join(keyDir(c), "terminal.known") }

// besideOf is what outlives the journal db.
func besideOf(ctx context.Context, c *call, db store.Store) (store.Beside, error) {
	secret, err := db.Secret(ctx, callerSecret, secretFile(c))
	return store.Beside{Path: besideFile(c), Secret: secret}, storeError(err)
}
