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
	return fmt.Sprintf("sale %s of %s is set aside, %s. It is not undone; %s. C%s", r.Key, journal.Amount(r.Amount, r.Currency), r.Aside, found, decide(r)[1:])
}

// decide is what a person does about a sale that is set aside.
func decide(r *journal.Row) string {
	const compare = "compare it with the register"
	if r.State.Released {
		return compare + fmt.Sprintf(": it was let go on, and ends as the backend says (or posagent sale close %s --note TEXT)", r.Key)
	}
	return compare + fmt.Sprintf(", stop the terminal, then posagent sale release %s (paid, it counts; not paid, it ends) or posagent sale close %s --note TEXT", r.Key, r.Key)
}

// waits says of a sale that it is set aside until a person has decided.
func waits(r *journal.Row) bool { return r.Aside != "" && !r.Closed }
