package agent_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/agent"
	"posagent/store"
)

// TestField2_M25IDsOutliveTheConfiguration: a register line that got a name forgot its ids, so a sale that was paid was not found and was
// sold again. Kind: whatever the configuration may change of a line or a client: name, transport, order, address; and what is another's,
// which gets no id that was a line's before it.
func TestField2_M25IDsOutliveTheConfiguration(t *testing.T) {
	for name, c := range identities() {
		t.Run(name, func(t *testing.T) { require.Equal(t, c.want, c.play(t, newTerminal(t), nil)) })
	}
}

// TestField2_M25IDsOutliveTheJournal: they went with the journal, so a line that was renamed was another one in the journal that took
// its place, and the id of a sale of before was charged again. Kind: whatever the configuration may change, at the start that finds the
// journal replaced: begun anew after a loss, restored (or cut and accepted) with a file beside it that is newer, or with one
// that is older, or none.
func TestField2_M25IDsOutliveTheJournal(t *testing.T) {
	for how, replace := range map[string]func(t *testing.T, b *terminal, first store.DB){
		"lost":                 func(t *testing.T, b *terminal, _ store.DB) { b.replace(t, emptyJournal(t), store.WasLost) },
		"restored":             func(t *testing.T, b *terminal, first store.DB) { b.replace(t, first, store.WasRestored) },
		"older beside it":      func(t *testing.T, b *terminal, _ store.DB) { b.forget(t, 1) },
		"nothing is beside it": func(t *testing.T, b *terminal, _ store.DB) { b.forget(t, 0) },
	} {
		for name, c := range identities() {
			t.Run(how+", "+name, func(t *testing.T) { require.Equal(t, c.want, c.play(t, newTerminal(t), replace)) })
		}
	}
}

// TestField2_M25AnIDThatCannotBeKeptIsNotGiven: what must be remembered and cannot be stored is refused.
func TestField2_M25AnIDThatCannotBeKeptIsNotGiven(t *testing.T) {
	b := newTerminal(t)
	list := []agent.Known{{Speaks: "jsonl", Name: "a-tcp", Base: "a", Place: "tcp:1"}}
	require.NoError(t, agent.Identify(t.Context(), b.db, b.beside, agent.AsLine, list))
	full := store.Beside{Path: "/proc/none/terminal.known", Secret: b.beside.Secret}
	require.NoError(t, agent.Identify(t.Context(), b.db, full, agent.AsLine, list), "nothing has changed")
	more := []agent.Known{list[0], {Speaks: "jsonl", Name: "b-tcp", Base: "b", Place: "tcp:2"}}
	require.Error(t, agent.Identify(t.Context(), b.db, full, agent.AsLine, more))
	require.NoError(t, b.db.Read(t.Context(), func(r store.Reader) error {
		ids, err := store.Column[string](r, `SELECT id FROM agent_ids`)
		require.Equal(t, []string{"a-tcp"}, ids, "the refusal changed nothing")
		return err
	}))
}

// TestField2_M25AJournalOfAnOlderProgramIsRemembered: it has no turn yet, and is lost before anything changes.
func TestField2_M25AJournalOfAnOlderProgramIsRemembered(t *testing.T) {
	b := newTerminal(t)
	list := []agent.Known{{Speaks: "jsonl", Name: "jsonl-tcp", Place: "tcp:1"}}
	require.NoError(t, agent.Identify(t.Context(), b.db, store.Beside{}, agent.AsLine, list))
	require.NoError(t, b.db.Write(t.Context(), func(tx store.Tx) error {
		_, err := tx.Exec(`DELETE FROM agent_turn`)
		return err
	}))
	b.remember(t)
	b.replace(t, emptyJournal(t), store.WasLost)
	b.remember(t)
	named := []agent.Known{{Speaks: "jsonl", Name: "till1-tcp", Base: "till1", Place: "tcp:1"}}
	require.NoError(t, agent.Identify(t.Context(), b.db, b.beside, agent.AsLine, named))
	require.Equal(t, "jsonl-tcp", named[0].ID)
}

// start is what the configuration has of one kind.
type start []agent.Known

// identity is a row of identities.
type identity struct {
	kind   string
	starts []start
	want   []string // ids at the last start
}

// identities are the changes of a configuration.
func identities() map[string]identity {
	line := func(base, kind, place string) agent.Known {
		name := base
		if name == "" {
			name = "jsonl"
		}
		return agent.Known{Speaks: "jsonl", Name: name + "-" + kind, Base: base, Place: kind + ":" + place}
	}
	other := func(k agent.Known, speaks string) agent.Known { k.Speaks = speaks; return k }
	client := func(name, token string) agent.Known { return agent.Known{Name: name, Place: token} }
	older := func(k agent.Known, digest string) agent.Known { k.Older = digest; return k }
	fixed := func(k agent.Known, id string) agent.Known { k.ID = id; return k }
	return map[string]identity{
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
		"all are away for a start, and one comes back with a name":    {agent.AsLine, []start{{line("", "tcp", "1")}, {}, {line("till1", "tcp", "1")}}, []string{"jsonl-tcp"}},
		"another protocol is another line":                            {agent.AsLine, []start{{line("a", "tcp", "1")}, {other(line("a", "tcp", "1"), "ecr17")}}, []string{"a-tcp-2"}},
		"both kinds of one section":                                   {agent.AsLine, []start{{line("a", "serial", "x"), line("a", "tcp", "1")}, {line("b", "serial", "x"), line("b", "tcp", "1")}}, []string{"a-serial", "a-tcp"}},
		"a client is renamed":                                         {agent.AsClient, []start{{client("kiosk", "t1")}, {client("front", "t1")}}, []string{"kiosk"}},
		"a client takes another's old name":                           {agent.AsClient, []start{{client("kiosk", "t1")}, {client("front", "t1"), client("kiosk", "t2")}}, []string{"kiosk", "kiosk-2"}},
		"a client's token is changed":                                 {agent.AsClient, []start{{client("kiosk", "t1")}, {client("kiosk", "t2")}}, []string{"kiosk"}},
		"a client is renamed under another digest of its token":       {agent.AsClient, []start{{client("kiosk", "d1")}, {older(client("front", "d2"), "d1")}}, []string{"kiosk"}},
		"clients' names are swapped":                                  {agent.AsClient, []start{{client("a", "t1"), client("b", "t2")}, {client("b", "t1"), client("a", "t2")}}, []string{"a", "b"}},
		"a person has set the id":                                     {agent.AsClient, []start{{client("a", "t1")}, {fixed(client("b", "t1"), "c"), client("a", "t2")}}, []string{"c", "a"}},
		"a line is no client":                                         {agent.AsClient, []start{{client("jsonl-tcp", "t1")}}, []string{"jsonl-tcp"}},
	}
}

// play plays the starts, each twice: a start by itself changes nothing. replace replaces the journal before the last one; first is a
// journal as it was after the first start. It returns the ids of the last start.
func (c identity) play(t *testing.T, b *terminal, replace func(t *testing.T, b *terminal, first store.DB)) (ids []string) {
	if c.kind == agent.AsClient {
		require.NoError(t, agent.Identify(t.Context(), b.db, b.beside, agent.AsLine, []agent.Known{{Speaks: "jsonl", Name: "jsonl-tcp", Place: "tcp:1"}}))
	}
	first := &terminal{db: emptyJournal(t), beside: store.Beside{Path: b.beside.Path + ".first", Secret: b.beside.Secret}}
	for i, s := range c.starts {
		if i == len(c.starts)-1 && replace != nil {
			replace(t, b, first.db)
		}
		if i == 0 {
			if c.kind == agent.AsClient {
				require.NoError(t, agent.Identify(t.Context(), first.db, first.beside, agent.AsLine, []agent.Known{{Speaks: "jsonl", Name: "jsonl-tcp", Place: "tcp:1"}}))
			}
			require.NoError(t, agent.Identify(t.Context(), first.db, first.beside, c.kind, append(start(nil), s...)))
		}
		for range 2 {
			b.remember(t)
			list := append(start(nil), s...)
			require.NoError(t, agent.Identify(t.Context(), b.db, b.beside, c.kind, list))
			ids = nil
			for _, k := range list {
				ids = append(ids, k.ID)
			}
		}
	}
	return ids
}
