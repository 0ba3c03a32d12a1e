package agent

import (
	"context"
	"fmt"
	"time"

	"posagent/schemes/wire"
)

// askWithin is how long the backend may take for a sale that the journal does not have.
const askWithin = 4 * time.Second

// asked returns what the backend says of a terminalReference, in a few words. An error says that it cannot be asked.
func (a *Agent) asked(ctx context.Context, reference string) (string, error) {
	if a.o.Schemes == nil {
		return "", wire.Errorf(wire.Unavailable, "ask", "there is no backend")
	}
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	st, err := a.o.Schemes.Status(ctx, reference, "")
	switch {
	case wire.CodeOf(err) == wire.NotFound:
		return "no transaction has this terminalReference", nil
	case err != nil:
		return "", err
	}
	return fmt.Sprintf("transaction %d is %s %s", st.TransactionID, st.State, st.AccountState), nil
}
