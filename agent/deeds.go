package agent

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"posagent/agent/checkout"
	"posagent/agent/checkout/drive/journal"
	"posagent/agent/outbox"
	"posagent/agent/records/audit"
	"posagent/agent/view"
	"posagent/ecr"
	"posagent/store"
)

// operationDeed returns the deed of an operation's new state. An attempt is none: its acceptance and its end are.
func operationDeed(was outbox.State, op outbox.Op) (d audit.Deed, ok bool) {
	word := ""
	switch {
	case was == "":
		word = "accept"
	case (was == outbox.Held || was == outbox.Doubt) && (op.State == outbox.Pending || op.State == outbox.Sent):
		word = "release"
	case op.State == outbox.Held:
		word = "hold"
	case op.State.Final(), op.State == outbox.Doubt:
		word = strings.ToLower(string(op.State))
	default:
		return d, false
	}
	d = audit.Deed{Deed: "operation." + word, Subject: string(op.Key), Amount: op.AmountMin, Currency: op.Currency, Detail: op.Kind}
	switch {
	case was == "" && op.Note != "":
		d.Detail += ": " + op.Note
	case was != "" && op.Reason != "":
		d.Detail += ": " + op.Reason
	}
	return d, true
}

// saleDeeds returns the deeds of a sale's new phase or outcome: at most two.
func saleDeeds(was, now *journal.Row) (list []audit.Deed) {
	add := func(word, detail string) {
		list = append(list, audit.Deed{Deed: "sale." + word, Subject: string(now.Key), Amount: int64(now.Amount), Currency: now.Currency, Detail: detail})
	}
	receipt := ""
	if now.Receipt != 0 {
		receipt = fmt.Sprintf("receipt %d", now.Receipt)
	}
	if was.Key == "" {
		text := string(now.Kind)
		if now.Original != "" {
			text += " of sale " + string(now.Original)
		}
		add("begin", text)
	}
	if r := now.State.Result; r != was.State.Result && r != "" {
		text := receipt
		if r != ecr.Approved {
			text = string(now.State.Code)
		}
		add(string(r), text)
	}
	if now.State.Phase == was.State.Phase {
		return list
	}
	switch now.State.Phase {
	case checkout.Aborting:
		add("abort", "")
	case checkout.Confirmed:
		add("confirm", receipt)
	case checkout.Reversing:
		add("undo", receipt)
	case checkout.Done:
		if was.State.Phase == checkout.Reversing {
			add("undone", receipt)
		}
	}
	return list
}

// causes are the events of a sale that are the program's own deed, in any actor's Write.
var causes = map[checkout.Name]string{
	checkout.Tick: "timer", checkout.GraceOver: "grace timer", checkout.Restarted: "restart", checkout.Lost: "result not acknowledged",
	checkout.StatusRead: "backend's answer", checkout.Replied: "backend's answer", checkout.ReplyFailed: "backend's answer", checkout.StatusFailed: "backend's answer",
	checkout.UndoSettled: "backend's answer", checkout.ForwardEnded: "backend's answer",
}

// actorOf returns who brought a sale on: the program where the event is its own, else the actor of the Write.
func actorOf(tx store.Tx, why checkout.Name) audit.Actor {
	if name, own := causes[why]; own {
		return audit.Self(name)
	}
	return audit.Of(store.Context(tx))
}

// byCustomer returns a context in which what is written is the deed of the person at the terminal (MONEY E.1).
func byCustomer(ctx context.Context) context.Context {
	return audit.With(ctx, audit.Actor{Kind: audit.Person, Name: "customer at the terminal"})
}

// Deeds of starts and of verbs that change the box or its journal.
const (
	DeedStart   = audit.Start
	DeedConfig  = "config.change"
	DeedPast    = "journal.past"
	DeedRestore = "journal.restore"
	DeedReset   = "journal.reset"
	DeedRotate  = "key.rotate"
	DeedNumbers = "journal.numbers"
	DeedRelease = "sale.release"
	DeedClose   = "sale.close"
)

// Started notes that the terminal was started with a configuration, and whether that is another one than before.
func Started(ctx context.Context, db store.DB, config, detail string) error {
	return db.Write(ctx, func(tx store.Tx) error {
		var was string
		err := tx.QueryRow(`SELECT subject FROM audit_log WHERE deed = ? ORDER BY id DESC LIMIT 1`, DeedStart).Scan(&was)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return fmt.Errorf("read the last start: %w", err)
		}
		if was != "" && was != config {
			if err := audit.Append(tx, time.Now(), audit.Deed{Deed: DeedConfig, Subject: config, Detail: "was " + was}); err != nil {
				return err
			}
		}
		return audit.Append(tx, time.Now(), audit.Deed{Deed: DeedStart, Subject: config, Detail: detail})
	})
}

// newestDeeds reads the newest lines of the audit log, the newest first.
func (a *Agent) newestDeeds(ctx context.Context, limit int) (list []view.Deed, err error) {
	err = a.o.DB.Read(ctx, func(r store.Reader) error {
		list = nil // the read may run again
		after, err := audit.Behind(r, int64(limit))
		if err != nil {
			return err
		}
		lines, err := audit.Page(r, after)
		for _, l := range slices.Backward(lines) {
			list = append(list, view.Deed{
				At: l.Time(), Actor: string(l.Kind), Name: l.Name, Address: l.Address, Deed: l.Deed.Deed, Subject: l.Subject,
				Amount: l.Amount, Currency: l.Currency, Detail: l.Detail,
			})
		}
		return err
	})
	return list, err
}

// did notes a deed that changes no state of its own.
func (a *Agent) did(tx store.Tx, deed, subject, detail string, amount int64, currency string) error {
	return audit.Append(tx, a.o.Now(), audit.Deed{Deed: deed, Subject: subject, Amount: amount, Currency: currency, Detail: detail})
}

// watched notes the senders that a handler refuses.
func (a *Agent) watched(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.ServeHTTP(&watching{w, func() { a.refusals.Note("webhooks", r.RemoteAddr) }}, r)
	})
}

// watching sees the status of an answer.
type watching struct {
	http.ResponseWriter
	refused func()
}

// WriteHeader implements http.ResponseWriter.
func (w *watching) WriteHeader(status int) {
	if status == http.StatusUnauthorized {
		w.refused()
	}
	w.ResponseWriter.WriteHeader(status)
}

// Unwrap lets http.ResponseController reach the connection.
func (w *watching) Unwrap() http.ResponseWriter { return w.ResponseWriter }
