package onboarding_test

import (
	"testing"

	"posagent/schemes/onboarding"
	"posagent/schemes/wire/wiretest"
)

// S0 shows no fields of an application: the list holds our decision, beside the webhooks' fields.
func TestEveryField(t *testing.T) {
	types := map[string]any{"application": onboarding.Application{}, "state": onboarding.State{}}
	wiretest.Fields(t, "testdata/fields.txt", types)
	wiretest.Compared(t, onboarding.Table().Infos(), types, map[string]string{"onboarding.push": "the specification shows no body of a submit"})
}
