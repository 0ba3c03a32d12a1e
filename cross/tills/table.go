package tills

import (
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	"posagent/ecr/till"
)

// Protocol is a row of the table: what a campaign has to know of a protocol beside what its registers Can.
type Protocol struct {
	Name string
	// Can says with Asks that a till can ask what became of a payment: one that cannot goes on with its next sale (MONEY F.5); with IDs
	// that asked for twice under one id it is one sale; with Acks that a till acknowledges an outcome with a message of its own, which may
	// get lost.
	till.Can
	// Keeps says that an approval stays where the till did not hear it. Elsewhere it is undone with
	// the till's next sale.
	Keeps bool
	// Confirms says that the till shows that it has an answer, after it has taken it whole. Elsewhere
	// the terminal may hold an answer for told that has reached the till's machine alone.
	Confirms bool
	// Reverses says that a till that does not know may take its last payment back instead.
	Reverses bool
	// Config is the part of a terminal's configuration that has its line at an address.
	Config func(addr string) string

	kind till.Kind
}

// What terminals of Table are configured with: the token of the local clients, and the POIID of nexo.
const (
	Token = "till-port-token-0123"
	poi   = "POSAGENT-000020000001"
)

// Table is every protocol.
func Table() []Protocol {
	line := func(name, more string) func(string) string {
		return func(addr string) string {
			return fmt.Sprintf("[port]\nlisten = \"\"\n[[ecr]]\nprotocol = %q\ntcp = %q\n%s", name, addr, more)
		}
	}
	table := []Protocol{
		{Name: "zvt", Config: line("zvt", "")},
		{Name: "jsonl", Confirms: true, Config: line("jsonl", "")},
		{Name: "nexo", Config: line("nexo", fmt.Sprintf("poi_id = %q\n", poi))},
		{Name: "ecr17", Confirms: true, Reverses: true, Config: line("ecr17", "")},
		{Name: "caisse-ap", Confirms: true, Config: line("caisse-ap", "")},
		{Name: "http", Keeps: true, Config: func(addr string) string {
			// A terminal is ready where it has a register line, too.
			host, port, _ := net.SplitHostPort(addr)
			return fmt.Sprintf("[port]\nlisten = %q\ntoken = %q\n[[ecr]]\nprotocol = \"jsonl\"\ntcp = %q\n", addr, Token, net.JoinHostPort(host, beside(port)))
		}},
	}
	for i := range table {
		p := &table[i]
		p.kind, _ = till.Named(p.Name)
		made, err := p.kind.Make((&Till{}).settings(""))
		if err != nil {
			panic(err) // the settings are ours
		}
		p.Can = made.Can
		p.Acks = p.Acks && !p.Once // to hang up is no message that gets lost
	}
	return table
}

// Chosen returns the protocols that a list names, as PROTOCOLS=jsonl,http has it; "" = all. It fails
// where a name is none.
func Chosen(list string) ([]Protocol, error) {
	all := Table()
	if list == "" {
		return all, nil
	}
	var some []Protocol
	for name := range strings.SplitSeq(list, ",") {
		i := slices.IndexFunc(all, func(p Protocol) bool { return p.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("PROTOCOLS: %q is no protocol", name)
		}
		some = append(some, all[i])
	}
	return some, nil
}

// beside is a port for a second line at an address.
func beside(port string) string {
	n, _ := strconv.Atoi(port)
	return strconv.Itoa(n + 300)
}
