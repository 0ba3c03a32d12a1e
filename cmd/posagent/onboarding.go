//go:build !device

package main

import (
	"posagent/agent/port"
	"posagent/schemes/onboarding"
	"posagent/schemes/wire"
)

// moreServices are those of the local port that a terminal in a shop has no use for.
func moreServices(base string, to wire.Doer) []port.Service {
	return []port.Service{port.Onboarding(&onboarding.Client{BaseURL: base, Doer: to})}
}
