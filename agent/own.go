package agent

import (
	"cmp"
	"context"

	"posagent/agent/inbox"
	"posagent/agent/outbox"
	"posagent/agent/view"
	"posagent/schemes/wire"
	"posagent/store"
)

// Own gives an operation, and what it is about, to a local client by its name or its id; "" = the terminal's own token. Its history goes
// along. wire.Invalid where no client is called so, or two are: a client that was renamed keeps its id, which may be another's name by
// now. outbox.ErrUnknown, outbox.ErrAltered.
func (a *Agent) Own(ctx context.Context, key wire.Key, owner string) error {
	owner, err := a.clientID(owner)
	if err != nil {
		return err
	}
	if a.o.Front == nil {
		return outbox.ErrUnknown
	}
	return a.o.DB.Write(ctx, func(tx store.Tx) error {
		given, err := a.o.Front.Own(tx, key, owner)
		if err != nil {
			return err
		}
		for _, op := range given.Ops {
			if err := a.events.Give(tx, view.OfOperation, string(op.Key), owner); err != nil {
				return err
			}
		}
		if given.Backend != "" {
			if err := inbox.Own(a.o.DB, tx, given.About, given.Backend, given.Place, owner); err != nil {
				return err
			}
		}
		return a.did(tx, "operation.own", string(key), "belongs to "+cmp.Or(owner, "main"), 0, "")
	})
}

// clientID returns the id of the client that has a name or an id.
func (a *Agent) clientID(called string) (id string, err error) {
	if called == "" {
		return "", nil
	}
	byID, byName := "", ""
	label := ""
	for _, c := range a.o.Local.Clients {
		if c.Name == called {
			byID, label = c.Name, cmp.Or(c.Label, c.Name)
		}
		if cmp.Or(c.Label, c.Name) == called {
			byName = c.Name
		}
	}
	switch {
	case byID == "" && byName == "":
		return "", wire.Errorf(wire.Invalid, "", "%q is no client of [port.clients]: give its name or its id, or main for the terminal's own token", called)
	case byID != "" && byName != "" && byID != byName:
		return "", wire.Errorf(wire.Invalid, "", "%q is the id of the client that [port.clients] calls %s, and the name of the one with the id %s: give %s or %s", called, label, byName, label, byName)
	}
	return cmp.Or(byID, byName), nil
}
