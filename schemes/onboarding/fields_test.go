package onboarding_test

import (
	"testing"

	"posagent/schemes/onboarding"
	"posagent/schemes/wire/wiretest"
)

// S0 shows no fields of an application: the list holds our decision, beside the webhooks' fields.
func TestEveryField(t *testing.T) {
	wiretest.Fields(t, "testdata/fields.txt", map[string]any{"application": onboarding.Application{}, "state": onboarding.State{}})
}
