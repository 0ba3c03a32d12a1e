//go:build device

package main

import (
	"context"
	"log/slog"

	"posagent/agent"
	"posagent/agent/config"
	"posagent/agent/offline"
	"posagent/agent/owned"
	"posagent/store"
)

// With the tag `device` the binary has no embedded backend, no story, no wallet and no register to play: a terminal in a shop is what
// they are for, and is asked by the real ones.

// moreServices: a merchant signs up elsewhere, a web platform runs the full build, and who disputes what was paid is the
// customer's bank: 115 kB.
func moreServices(*agent.Local, config.Config, store.DB, owned.Claims, *offline.Front, map[string]sender, *slog.Logger) {
}

func moreNames() []string { return nil }

// largeReply is the longest reply of a service, 0 = the usual.
func largeReply(string) int64 { return 0 }

// keeperCommands: a box is reset, and given another key, by the full build; a change of the key that it left half done is ended.
func keeperCommands() []command { return nil }

func keyCommands() []command { return nil }

func sandboxCommands() []command { return nil }

func serveBackend(context.Context, *call, config.Config, string, string, *slog.Logger, func(string)) error {
	return fail(exitConfig, "this build has no sandbox: set [upstream] base in the configuration, or install the full build")
}
