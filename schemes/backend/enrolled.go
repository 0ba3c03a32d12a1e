package backend

import (
	"context"
	"crypto/hmac"
	"encoding/hex"
	"net/http"
	"strings"

	desk "posagent/schemes/backend/fleet"
	"posagent/schemes/backend/room"
	"posagent/schemes/fleet"
	"posagent/schemes/paylinks"
	"posagent/schemes/wire"
	"posagent/store"
)

// The credentials of an enrolment beside those that an Authorization header shows.
const (
	bySecret kind = "secret"  // payment links
	byKey    kind = "api-key" // hosted build
)

// An enrolment's credentials are made of its id and the backend's key, and stand nowhere: "ID.MAC". The pair's name and the instance name
// the account, which stays that of the terminal however often it is enrolled.

func holder(id string, s fleet.Slot) *desk.Holder { return &desk.Holder{Enrolment: id, Slot: s} }

// account names a terminal's account.
func account(s fleet.Slot) string { return s.MerchantID + "/" + s.TerminalID }

// credential makes a credential of an enrolment. It names merchant and terminal: one that is carried to another slot is no longer good.
func credential(db store.DB, k kind, h *desk.Holder) string {
	return h.Enrolment + "." + hex.EncodeToString(db.MAC("backend_credential", h.Enrolment, string(k), h.Slot.MerchantID, h.Slot.TerminalID))
}

// caller is on whose behalf the credentials of an enrolment act.
func caller(h *desk.Holder) room.Caller {
	return room.Caller{Merchant: h.Slot.MerchantID, Bax: h.Slot.BaxID}
}

// enrolled returns whose credential of a kind a text is; nil where it is nobody's, or the enrolment has ended.
func (g guard) enrolled(ctx context.Context, k kind, text string) (*desk.Holder, error) {
	id, _, ok := strings.Cut(text, ".")
	if g.fleet == nil || !ok || id == "" {
		return nil, nil
	}
	h, err := g.fleet.Held(ctx, id)
	if err != nil || h == nil || h.Slot.MerchantID == "" || !same(text, credential(g.db, k, h)) {
		return nil, err
	}
	return h, nil
}

// enrolledPair is enrolled for a key:secret.
func (g guard) enrolledPair(ctx context.Context, text string) (*desk.Holder, error) {
	i := strings.LastIndexByte(text, ':')
	if i < 0 {
		return nil, nil
	}
	h, err := g.enrolled(ctx, byConsumer, text[i+1:])
	if err != nil || h == nil || !same(text[:i], account(h.Slot)) {
		return nil, err
	}
	return h, nil
}

// enrolledToken returns whose token a text is: "EXPIRES.ID.MAC".
func (g guard) enrolledToken(ctx context.Context, expires int64, rest string) (*desk.Holder, error) {
	id, sum, ok := strings.Cut(rest, ".")
	mac, bad := hex.DecodeString(sum)
	if g.fleet == nil || !ok || bad != nil || !hmac.Equal(mac, g.tokenMAC(byConsumer, id, expires)) {
		return nil, nil
	}
	return g.fleet.Held(ctx, id)
}

// secrets are those of the enrolments of a payment-link account.
func (g guard) secrets(instance string) (list []wire.Secret) {
	merchant, terminal, ok := strings.Cut(instance, "/")
	if g.fleet == nil || !ok {
		return nil
	}
	ctx := context.Background() // the contract's Handler asks without one; it is one read
	ids, err := g.fleet.Living(ctx, merchant, terminal)
	if err != nil {
		g.log.Error("read enrolments", "err", err)
		return nil
	}
	for _, id := range ids {
		list = append(list, wire.Secret(credential(g.db, bySecret, holder(id, fleet.Slot{MerchantID: merchant, TerminalID: terminal}))))
	}
	return list
}

// proven serves a proven request to payment links on behalf of whoever's secret proved it.
func (g guard) proven(w http.ResponseWriter, r *http.Request, serve http.HandlerFunc) {
	h, err := g.enrolled(r.Context(), bySecret, paylinks.Proof(r.Context()).Reveal())
	if err != nil {
		http.Error(w, "try again", http.StatusServiceUnavailable)
		return
	}
	if h != nil {
		r = r.WithContext(room.As(r.Context(), caller(h)))
	}
	serve(w, r)
}
