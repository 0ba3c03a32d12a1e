//go:build device

package main

import (
	"context"
	"log/slog"

	"posagent/agent"
	"posagent/agent/config"
	"posagent/store"
)

// With the tag `device` the binary has no embedded backend, no story and no wallet: a terminal in a shop needs none of them.

// moreServices: a merchant signs up elsewhere, a web platform runs the full build, and who disputes what was paid is the
// customer's bank: 115 kB.
func moreServices(*agent.Local, config.Config, store.DB, map[string]sender, *slog.Logger) {}

func moreNames() []string { return nil }

// largeReply is the longest reply of a service, 0 = the usual.
func largeReply(string) int64 { return 0 }

func sandboxCommands() []command { return nil }

// Backup and restore are not in this build yet: they take 110 kB, and its budget has no room. Without a restore no journal is put
// back but by hand, and that is not noticed here.

func journalCommands() []command { return nil }

func asideCommands() []command { return nil }

func beginGeneration(context.Context, *store.Store, *slog.Logger) (over func(), err error) {
	return func() {}, nil
}

func serveBackend(context.Context, *call, config.Config, string, string, *slog.Logger, func(string)) error {
	return fail(exitConfig, "this build has no sandbox: set [upstream] base in the configuration, or install the full build")
}
