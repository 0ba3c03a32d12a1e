package wire_test

import (
	"context"
	"net/http"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/schemes/wire"
)

// The examples and the rules of W3C Trace Context 3.2, and what is never stored.
func TestTraceFrom(t *testing.T) {
	const id, span = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
	for name, row := range map[string]struct {
		values []string
		want   wire.Trace
	}{
		"as in the recommendation":       {[]string{"00-" + id + "-" + span + "-01"}, id},
		"not sampled":                    {[]string{"00-" + id + "-" + span + "-00"}, id},
		"unknown flags":                  {[]string{"00-" + id + "-" + span + "-ff"}, id},
		"a later version":                {[]string{"cc-" + id + "-" + span + "-01"}, id},
		"a later version that goes on":   {[]string{"cc-" + id + "-" + span + "-01-what-comes"}, id},
		"a later version that runs on":   {[]string{"cc-" + id + "-" + span + "-01.what"}, ""},
		"version 00 that goes on":        {[]string{"00-" + id + "-" + span + "-01-what"}, ""},
		"version ff":                     {[]string{"ff-" + id + "-" + span + "-01"}, ""},
		"no version":                     {[]string{"0x-" + id + "-" + span + "-01"}, ""},
		"upper case":                     {[]string{"00-4BF92F3577B34DA6A3CE929D0E0E4736-" + span + "-01"}, ""},
		"a version in upper case":        {[]string{"CC-" + id + "-" + span + "-01"}, ""},
		"all zero":                       {[]string{"00-00000000000000000000000000000000-" + span + "-01"}, ""},
		"a parent of zeros":              {[]string{"00-" + id + "-0000000000000000-01"}, ""},
		"a letter that is no digit":      {[]string{"00-4bf92f3577b34da6a3ce929d0e0e473g-" + span + "-01"}, ""},
		"flags that are none":            {[]string{"00-" + id + "-" + span + "-0x"}, ""},
		"too short":                      {[]string{"00-" + id + "-" + span + "-1"}, ""},
		"other dashes":                   {[]string{"00_" + id + "_" + span + "_01"}, ""},
		"twice":                          {[]string{"00-" + id + "-" + span + "-01", "00-" + id + "-" + span + "-01"}, ""},
		"empty":                          {[]string{""}, ""},
		"none":                           {nil, ""},
		"a card number in it":            {[]string{"00-4111111111111111a3ce929d0e0e4736-" + span + "-01"}, ""},
		"a card number of another range": {[]string{"00-a3ce929d0e0e47369" + "0000000000018" + "ab-" + span + "-01"}, ""},
		"digits that are no card number": {[]string{"00-123456789012a3ce929d0e0e47361abc-" + span + "-01"}, "123456789012a3ce929d0e0e47361abc"},
	} {
		h := http.Header{}
		for _, v := range row.values {
			h.Add("Traceparent", v)
		}
		require.Equal(t, row.want, wire.TraceFrom(h), name)
	}
}

// A Key makes the same trace each time, and each request of it has a span of its own.
func TestTraceOfKey(t *testing.T) {
	require.Empty(t, wire.TraceOfKey(""))
	require.Equal(t, wire.TraceOfKey("a"), wire.TraceOfKey("a"))
	require.NotEqual(t, wire.TraceOfKey("a"), wire.TraceOfKey("b"))
	parents := map[string]bool{}
	for range 1000 {
		id := wire.TraceOfKey(wire.NewKey())
		require.True(t, id.Valid(), id)
		parent := id.Parent()
		require.Regexp(t, regexp.MustCompile(`^00-[0-9a-f]{32}-[0-9a-f]{16}-01$`), parent)
		require.Equal(t, id, wire.TraceFrom(http.Header{"Traceparent": {parent}}))
		parents[wire.TraceOfKey("a").Parent()] = true
	}
	require.Len(t, parents, 1000)
}

func TestTraceOfContext(t *testing.T) {
	ctx := context.Background()
	require.Empty(t, wire.TraceOf(ctx))
	require.Equal(t, ctx, wire.WithTrace(ctx, ""))
	require.Equal(t, wire.Trace("4bf92f3577b34da6a3ce929d0e0e4736"), wire.TraceOf(wire.WithTrace(ctx, "4bf92f3577b34da6a3ce929d0e0e4736")))
}
