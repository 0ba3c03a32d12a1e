package contracts_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/schemes/contracts"
	"posagent/schemes/disputes"
	"posagent/schemes/hosted"
	"posagent/schemes/onboarding"
	"posagent/schemes/webhooks"
	"posagent/schemes/wire"
	"posagent/schemes/wire/check"
	"posagent/schemes/wire/rest"
	"posagent/schemes/wire/rest/openapi"
)

// groups is every group, with the routes of the sandbox.
func groups() []openapi.Group {
	sandbox := contracts.Onboarding()
	sandbox.Infos = onboarding.SandboxTable().Infos()
	return append(contracts.Fleet(),
		contracts.Payments(), contracts.Tokens(), contracts.Onboarding(), sandbox, contracts.Methods(), contracts.Schemes(), contracts.Hosted(),
		contracts.Links(), contracts.Disputes(), contracts.Access(), contracts.Webhooks("/hooks/webhooks", contracts.ByToken), contracts.Notices("/hooks/notifications"),
	)
}

// An example of a request is one that the service takes, by its strict reader and its rules.
func TestField_P7ExamplesAreGoodRequests(t *testing.T) {
	seen := map[string]bool{}
	for _, g := range groups() {
		for _, i := range g.Infos {
			text := i.Example
			require.Equal(t, i.HasBody, text != "", "%s: an example, and only where there is a body", i.Op)
			if text == "" {
				continue
			}
			seen[i.Op] = true
			into := reflect.New(i.In)
			require.NoError(t, wire.Decode([]byte(text), into.Interface()), i.Op)
			for _, p := range i.Params {
				if p.Place == "path" && p.Type.Kind() == reflect.Int64 {
					p.Of(into.Elem()).SetInt(7)
				}
				if p.Place == "path" && p.Type == reflect.TypeFor[string]() {
					p.Of(into.Elem()).SetString("7")
				}
				if p.Name == "type" { // a reversal wants the most
					p.Of(into.Elem()).SetString("reversal")
				}
			}
			if c, ok := into.Elem().Interface().(check.Checked); ok {
				require.NoError(t, check.Request(i.Op, c), i.Op)
			}
			taken(t, i, text)
		}
	}
	require.GreaterOrEqual(t, len(seen), 29, "operations with a body")
}

// taken asks the service's own rules where they are not the request's.
func taken(t *testing.T, i rest.Info, text string) {
	into := func(v any) { require.NoError(t, json.Unmarshal([]byte(text), v), i.Op) }
	switch i.Op {
	case "disputes.create":
		var req disputes.CreateRequest
		into(&req)
		require.NoError(t, disputes.Validate(req))
	case "disputes.list":
		var req disputes.ListRequest
		into(&req)
		require.NoError(t, disputes.ValidateList(req))
	case "disputes.queue":
		var req disputes.QueueRequest
		into(&req)
		require.NoError(t, disputes.ValidateQueue(req))
	case "disputes.update":
		var req disputes.UpdateRequest
		into(&req)
		require.NoError(t, disputes.ValidateUpdate("7", req))
	case "hooks.webhook":
		_, err := webhooks.Parse([]byte(text))
		require.NoError(t, err)
	case "hooks.notification":
		_, err := hosted.DecodeNotice([]byte(text))
		require.NoError(t, err)
	}
}

// Names of groups are tags of a document, and each route is described once.
func TestGroupsAreApart(t *testing.T) {
	var names, routes []string
	for _, g := range groups() {
		if !slices.Contains(names, g.Name) {
			names = append(names, g.Name)
		}
		routes = append(routes, openapi.Document{Groups: []openapi.Group{g}}.Routes()...)
	}
	require.Equal(t, []string{"enrolment", "terminals", "fleet", "payments", "tokens", "onboarding", "methods", "schemes", "hosted build", "payment links", "disputes", "tokens for clients", "hooks", "notifications"}, names)
	slices.Sort(routes)
	require.Equal(t, slices.Compact(slices.Clone(routes)), routes)
	require.False(t, slices.ContainsFunc(routes, func(r string) bool { return strings.HasSuffix(r, "/") }))
}
