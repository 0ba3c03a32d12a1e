package view

import (
	"fmt"

	"posagent/agent/checkout"
	"posagent/agent/checkout/drive/journal"
)

// setAside is the line of a sale that waits for a person: what is known of it, and what to type.
func setAside(r *journal.Row) string {
	found := "what the backend says of it is not known yet"
	switch s := r.State; {
	case r.Quarantined:
		found = "its row was changed from outside"
	case checkout.Paid(s):
		found = "the backend says that it was paid"
	case s.Heard && s.Wire != "":
		found = "the backend says " + string(s.Wire)
	}
	text := fmt.Sprintf("sale %s of %s is set aside, %s. It is not undone; %s. Compare it with the register", r.Key, journal.Amount(r.Amount, r.Currency), r.Aside, found)
	if r.State.Released {
		return text + fmt.Sprintf(": it was let go on, and ends as the backend says (or posagent sale close %s --note TEXT)", r.Key)
	}
	return text + fmt.Sprintf(", stop the terminal, then posagent sale release %s (paid, it counts; not paid, it ends) or posagent sale close %s --note TEXT", r.Key, r.Key)
}
