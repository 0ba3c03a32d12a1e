package inbox

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"posagent/agent/intent"
	"posagent/schemes/hosted"
	"posagent/schemes/wire"
	"posagent/store"
)

// Hosted is the source of the notifications of hosted build.
const Hosted = "hosted"

// NoticesPath is where Notices belongs.
const NoticesPath = "/hooks/notifications"

// keepBuilds is how many builds are remembered. Above them the client that has most loses its oldest.
const keepBuilds = 20_000

const buildTable = "inbox_build"

func buildCell(n int64) store.Cell {
	return store.Cell{Table: buildTable, Key: fmt.Sprint(n), Column: "token"}
}

// builds passes sessions through and keeps of each build what its notifications are known by.
type builds struct {
	db   store.DB
	next hosted.Sessions
	now  func() time.Time
	most int64
}

var _ hosted.Sessions = (*builds)(nil)

// Builds gives the sessions of next; {orderId, sessionId, securityToken, notificationUrl} of each build reply is durable, the
// token sealed, before the caller has the reply. A build that cannot be kept is wire.Internal: its session moves
// no money and ends by itself.
func Builds(db store.DB, next hosted.Sessions, now func() time.Time) hosted.Sessions {
	return &builds{db, next, now, keepBuilds}
}

// Build implements hosted.Sessions.
func (b *builds) Build(ctx context.Context, key wire.Key, req hosted.BuildRequest) (hosted.Built, error) {
	out, err := b.next.Build(ctx, key, req)
	if err != nil {
		return out, err
	}
	err = b.db.Write(context.WithoutCancel(ctx), func(tx store.Tx) error { return b.keep(tx, wire.Client(ctx), req, out) })
	if err != nil {
		return hosted.Built{}, &wire.Error{Code: wire.Internal, Op: "hosted.build", Msg: "the session's token cannot be kept", Err: err}
	}
	return out, nil
}

func (b *builds) keep(tx store.Tx, owner string, req hosted.BuildRequest, out hosted.Built) error {
	res, err := tx.Exec(`INSERT INTO inbox_build (session, order_id, url, token, built_ms, owner) VALUES (?, ?, ?, x'', ?, ?) ON CONFLICT (session) DO NOTHING`,
		out.SessionID, intent.KeptName(b.db, req.Order.OrderID), wire.MaskPANs(req.PaymentSession.NotificationURL), b.now().UnixMilli(), owner)
	if err != nil {
		return err
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 { // the reply to the same Key again
		return err
	}
	n, err := res.LastInsertId()
	if err != nil {
		return err
	}
	sealed, err := b.db.Seal(tx, buildCell(n), []byte(out.SecurityToken.Reveal()))
	if err != nil {
		return err
	}
	if _, err := tx.Exec(`UPDATE inbox_build SET token = ? WHERE n = ?`, sealed, n); err != nil {
		return err
	}
	if n <= b.most || n%pruneEvery != 0 {
		return nil
	}
	return b.forget(tx)
}

// forget drops the oldest builds above the most, from the client that has most of them: no client's builds push out another's that has
// fewer. They are counted in the index.
func (b *builds) forget(tx store.Tx) error {
	var all int64
	err := tx.QueryRow(`SELECT COUNT(*) FROM inbox_build`).Scan(&all)
	for ; err == nil && all > b.most; all -= forgetAtOnce {
		var owner string
		var old []int64
		if err = tx.QueryRow(`SELECT owner FROM inbox_build GROUP BY owner ORDER BY COUNT(*) DESC, owner LIMIT 1`).Scan(&owner); err == nil {
			old, err = store.Column[int64](tx, `SELECT n FROM inbox_build WHERE owner = ? ORDER BY n LIMIT ?`, owner, min(all-b.most, forgetAtOnce))
		}
		for _, n := range old {
			if err == nil {
				err = b.db.Shred(tx, buildTable, buildCell(n).Key)
			}
			if err == nil {
				_, err = tx.Exec(`DELETE FROM inbox_build WHERE n = ?`, n)
			}
		}
	}
	if err != nil {
		return fmt.Errorf("forget builds: %w", err)
	}
	return nil
}

// Finalize implements hosted.Sessions.
func (b *builds) Finalize(ctx context.Context, key wire.Key, sessionID string, amount hosted.Text) (hosted.SessionState, error) {
	return b.next.Finalize(ctx, key, sessionID, amount)
}

// Cancel implements hosted.Sessions.
func (b *builds) Cancel(ctx context.Context, key wire.Key, sessionID string) (hosted.SessionState, error) {
	return b.next.Cancel(ctx, key, sessionID)
}

// State implements hosted.Sessions.
func (b *builds) State(ctx context.Context, sessionID string) (hosted.SessionState, error) {
	return b.next.State(ctx, sessionID)
}

// Card implements hosted.Sessions.
func (b *builds) Card(ctx context.Context, sessionID string) (hosted.CardData, error) {
	return b.next.Card(ctx, sessionID)
}

// Notices takes notifications of hosted build over (S2 6), as real receivers do: 200 {"outcome":"OK"} once one is durable, and
// to every repeat; 500 {"outcome":"KO"} for what is not a notification, or does not show the token of a session of its order.
func (b *Inbox) Notices() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		status, word := http.StatusInternalServerError, "KO"
		if r.Method != http.MethodPost {
			w.Header().Set("Allow", http.MethodPost)
			status = http.StatusMethodNotAllowed
		} else if err := b.notice(r); err == nil {
			status, word = http.StatusOK, "OK"
		} else if wire.CodeOf(err) == "" { // ours to mend
			b.opt.Log.Error("notification not kept", "err", err)
		} else { // its sender hears no reason
			b.warn("notification", err.Error())
		}
		_ = wire.WriteJSON(w, status, wire.JSONType, map[string]string{"outcome": word}) // a lost connection has no reader
	})
}

func (b *Inbox) notice(r *http.Request) error {
	_, err := wire.CheckJSON(r.Header.Get("Content-Type"))
	var data []byte
	if err == nil {
		data, err = wire.ReadBody(r, 0)
	}
	var n hosted.Notice
	if err == nil {
		n, err = hosted.DecodeNotice(data)
	}
	session := ""
	if err == nil {
		session, err = b.known(r.Context(), n)
	}
	var body map[string]json.RawMessage
	if err == nil {
		err = json.Unmarshal(data, &body)
	}
	if err != nil {
		return err
	}
	delete(body, "securityToken") // it has done its work
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	op := n.Operation
	ref := n.EventID
	made := ref == ""
	if made {
		ref = op.OperationID + "/" + op.OperationType + "/" + op.OperationResult
	}
	if b.opt.Named != nil {
		if err := b.opt.Named(r.Context(), op.OperationID, session); err != nil {
			return err
		}
	}
	_, err = b.Take(r.Context(), Item{Source: Hosted, Ref: ref + ofMark + session, older: ref, Event: op.OperationType + "." + op.OperationResult, Body: text, About: AboutSession, ID: session, Made: made})
	return err
}

// ofMark parts a notification's own id from the session whose token it showed. Whoever built a session holds its token and can name any
// operation and id: what one client's notification says must not stand for another's.
const ofMark = "#of "

// senders is a stored ref as its sender gave it.
func senders(source, ref string) string {
	if source == Hosted {
		ref, _, _ = strings.Cut(ref, ofMark)
	}
	return ref
}

var errToken = &wire.Error{Code: wire.Unauthorized, Op: "inbox", Msg: "not the token of a session of this order"}

// known is the session of its order whose token a notification shows. All of them are compared, each in a time that tells nothing.
func (b *Inbox) known(ctx context.Context, n hosted.Notice) (session string, err error) {
	shown := sha256.Sum256([]byte(n.SecurityToken.Reveal()))
	good := 0
	err = b.opt.DB.Read(ctx, func(r store.Reader) error {
		good = 0
		type row struct {
			n       int64
			session string
			token   []byte
		}
		var list []row
		if err := store.Each(r, func(found store.Row) error {
			var x row
			err := found.Scan(&x.n, &x.session, &x.token)
			list = append(list, x)
			return err
		}, `SELECT n, session, token FROM inbox_build WHERE order_id IN (?, ?) ORDER BY n DESC LIMIT 100`, // an older program stored it as it came
			intent.KeptName(b.opt.DB, n.Operation.OrderID), n.Operation.OrderID); err != nil {
			return err
		}
		for _, x := range list {
			token, err := b.opt.DB.Unseal(r, buildCell(x.n), x.token)
			if err != nil {
				return err
			}
			want := sha256.Sum256(token)
			if same := subtle.ConstantTimeCompare(shown[:], want[:]); same == 1 {
				good, session = 1, x.session
			}
		}
		return nil
	})
	if err == nil && good != 1 {
		err = errToken
	}
	return session, err
}
