package agent_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/agent"
	"posagent/store/storetest"
)

// TestField2_M25IDsOutliveTheConfiguration: a register line that got a name forgot its ids, so a sale that was paid was not found and was
// sold again. Kind: whatever the configuration may change of a line or a client: name, transport, order, address; and what is another's,
// which gets no id that was a line's before it.
func TestField2_M25IDsOutliveTheConfiguration(t *testing.T) {
	line := func(base, kind, place string) agent.Known {
		name := base
		if name == "" {
			name = "jsonl"
		}
		return agent.Known{Speaks: "jsonl", Name: name + "-" + kind, Base: base, Place: kind + ":" + place}
	}
	other := func(k agent.Known, speaks string) agent.Known { k.Speaks = speaks; return k }
	client := func(name, token string) agent.Known { return agent.Known{Name: name, Place: token} }
	fixed := func(k agent.Known, id string) agent.Known { k.ID = id; return k }
	type start []agent.Known
	for name, c := range map[string]struct {
		kind   string
		starts []start
		want   []string // ids at the last start
	}{
		"a line gets a name, another joins it":                        {agent.AsLine, []start{{line("", "tcp", "1")}, {line("till1", "tcp", "1"), line("till2", "tcp", "2")}}, []string{"jsonl-tcp", "till2-tcp"}},
		"and takes its old name":                                      {agent.AsLine, []start{{line("", "tcp", "1")}, {line("till1", "tcp", "1"), line("", "tcp", "2")}}, []string{"jsonl-tcp", "jsonl-tcp-2"}},
		"names are swapped":                                           {agent.AsLine, []start{{line("a", "tcp", "1"), line("b", "tcp", "2")}, {line("b", "tcp", "1"), line("a", "tcp", "2")}}, []string{"a-tcp", "b-tcp"}},
		"the order is changed":                                        {agent.AsLine, []start{{line("a", "tcp", "1"), line("b", "tcp", "2")}, {line("b", "tcp", "2"), line("a", "tcp", "1")}}, []string{"b-tcp", "a-tcp"}},
		"TCP becomes serial":                                          {agent.AsLine, []start{{line("", "tcp", "1")}, {line("", "serial", "/dev/ttyUSB0")}}, []string{"jsonl-tcp"}},
		"serial becomes TCP, and back":                                {agent.AsLine, []start{{line("a", "serial", "x")}, {line("a", "tcp", "1")}, {line("a", "serial", "y")}}, []string{"a-serial"}},
		"the address is changed":                                      {agent.AsLine, []start{{line("a", "tcp", "1")}, {line("a", "tcp", "2")}}, []string{"a-tcp"}},
		"a line is left out, and comes back":                          {agent.AsLine, []start{{line("a", "tcp", "1")}, {line("b", "tcp", "2")}, {line("b", "tcp", "2"), line("a", "tcp", "3")}}, []string{"b-tcp", "a-tcp"}},
		"another till under another name and address is another line": {agent.AsLine, []start{{line("a", "tcp", "1")}, {line("b", "tcp", "2")}}, []string{"b-tcp"}},
		"a till that moves to where another was keeps its id":         {agent.AsLine, []start{{line("a", "tcp", "1"), line("b", "tcp", "2")}, {line("b", "tcp", "2")}, {line("b", "tcp", "1")}}, []string{"b-tcp"}},
		"another protocol is another line":                            {agent.AsLine, []start{{line("a", "tcp", "1")}, {other(line("a", "tcp", "1"), "ecr17")}}, []string{"a-tcp-2"}},
		"both kinds of one section":                                   {agent.AsLine, []start{{line("a", "serial", "x"), line("a", "tcp", "1")}, {line("b", "serial", "x"), line("b", "tcp", "1")}}, []string{"a-serial", "a-tcp"}},
		"a client is renamed":                                         {agent.AsClient, []start{{client("kiosk", "t1")}, {client("front", "t1")}}, []string{"kiosk"}},
		"a client takes another's old name":                           {agent.AsClient, []start{{client("kiosk", "t1")}, {client("front", "t1"), client("kiosk", "t2")}}, []string{"kiosk", "kiosk-2"}},
		"a client's token is changed":                                 {agent.AsClient, []start{{client("kiosk", "t1")}, {client("kiosk", "t2")}}, []string{"kiosk"}},
		"clients' names are swapped":                                  {agent.AsClient, []start{{client("a", "t1"), client("b", "t2")}, {client("b", "t1"), client("a", "t2")}}, []string{"a", "b"}},
		"a person has set the id":                                     {agent.AsClient, []start{{client("a", "t1")}, {fixed(client("b", "t1"), "c"), client("a", "t2")}}, []string{"c", "a"}},
		"a line is no client":                                         {agent.AsClient, []start{{client("jsonl-tcp", "t1")}}, []string{"jsonl-tcp"}},
	} {
		t.Run(name, func(t *testing.T) {
			db := storetest.Open(t, agent.Schema()...)
			lines := []agent.Known{line("", "tcp", "1")}
			if c.kind == agent.AsClient {
				require.NoError(t, agent.Identify(t.Context(), db, agent.AsLine, lines))
			}
			for _, s := range c.starts {
				list := append([]agent.Known(nil), s...)
				for range 2 { // a start changes nothing
					again := append([]agent.Known(nil), s...)
					require.NoError(t, agent.Identify(t.Context(), db, c.kind, again))
					list = again
				}
				var ids []string
				for _, k := range list {
					ids = append(ids, k.ID)
				}
				if &s[0] == &c.starts[len(c.starts)-1][0] {
					require.Equal(t, c.want, ids)
				}
			}
		})
	}
}
