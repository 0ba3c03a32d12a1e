package inbox

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"net/http"

	"posagent/schemes/webhooks"
	"posagent/schemes/wire"
)

// WebhooksPath is where Handler belongs.
const WebhooksPath = "/hooks/webhooks"

var _ webhooks.Service = (*Inbox)(nil)

// Receive implements webhooks.Service.
func (b *Inbox) Receive(ctx context.Context, e webhooks.Event) error {
	it := Item{Source: Webhooks, Ref: e.ID, Event: string(e.Name), Body: e.Body}
	it.About, it.ID = subject(e)
	_, err := b.Take(ctx, it)
	return err
}

// Handler takes webhooks over from senders that show authorization. It panics when that is empty.
func (b *Inbox) Handler(authorization wire.Secret) http.Handler {
	if authorization == "" {
		panic("inbox: no authorization")
	}
	want := sha256.Sum256([]byte(authorization.Reveal()))
	next := webhooks.Handler(b, webhooks.HandlerOptions{Log: b.opt.Log})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		shown := ""
		if list := r.Header.Values("Authorization"); len(list) == 1 {
			shown = list[0]
		}
		got := sha256.Sum256([]byte(shown))
		if subtle.ConstantTimeCompare(got[:], want[:]) != 1 {
			const why = "the Authorization header is not what the file of [hooks] authorization_file holds: register the webhook with that value"
			b.warn("webhook", why)
			wire.WriteFault(w, b.opt.Log, webhooks.ContentType, wire.Errorf(wire.Unauthorized, "inbox", why))
			return
		}
		next.ServeHTTP(w, r)
	})
}
