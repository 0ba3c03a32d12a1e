package main

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"

	"posagent/schemes/backend"
	"posagent/schemes/payments"
	"posagent/schemes/wire"
	"posagent/store"
)

// bearer shows the backend's fixed test credential.
type bearer struct{ http.Client }

func (b *bearer) Do(r *http.Request) (*http.Response, error) {
	r.Header.Set("Authorization", "Bearer "+backend.DemoCredentials().Bearer.Reveal())
	return b.Client.Do(r)
}

// payments creates, authorizes and captures payments over loopback, beside as many callers who only commit three times.
func (b *bench) payments() (err error) {
	dir := filepath.Join(b.dir, "payments")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	var lc net.ListenConfig
	ln, err := lc.Listen(b.ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	bk, err := backend.Open(b.ctx, backend.Config{Dir: dir, PublicURL: "http://" + ln.Addr().String()})
	if err != nil {
		return errors.Join(err, ln.Close())
	}
	defer func() { err = errors.Join(err, bk.Close()) }()
	srv := backend.Server(bk.Handler())
	go func() { _ = srv.Serve(ln) }() // ends with Close
	defer func() { err = errors.Join(err, srv.Close()) }()
	s, err := store.Open(b.ctx, store.Options{Path: filepath.Join(dir, "limit.db"), Steps: []store.Step{opsStep}, Wrapper: wrapper{}})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	id := 0
	commit := func() error {
		return s.Write(b.ctx, func(tx store.Tx) error {
			id++
			_, err := tx.Exec("INSERT INTO ops (id, key, state, due, payload) VALUES (?, ?, 'open', ?, ?)",
				id, fmt.Sprintf("0198c0de-%012d", id), id, make([]byte, 300))
			return err
		})
	}
	for _, callers := range []int{1, 16} {
		c := &payments.Client{BaseURL: "http://" + ln.Addr().String(), Doer: &bearer{http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: callers}}}}
		triple := func() error {
			p, err := c.Create(b.ctx, wire.NewKey(), payments.CreateRequest{
				Type: payments.ProviderHosted, Amount: 1250, CurrencyCode: "EUR",
				RedirectURLs: &payments.RedirectURLs{ReturnURL: "https://shop.example/back"},
			})
			if err == nil {
				_, err = c.Authorize(b.ctx, wire.NewKey(), p.PaymentID, payments.AuthorizeRequest{})
			}
			if err == nil {
				_, err = c.Capture(b.ctx, wire.NewKey(), p.PaymentID, payments.CaptureRequest{})
			}
			return err
		}
		n := 50 * callers
		if _, err := load(callers, n/2, triple); err != nil {
			return err
		}
		ours, err := load(callers, n, triple)
		if err != nil {
			return err
		}
		limit, err := load(callers, 3*n, commit)
		if err != nil {
			return err
		}
		b.table.add(row{
			what: fmt.Sprintf("create + authorize + capture over loopback, %d at once", callers), ours: perSecond(ours.rate), limit: perSecond(limit.rate / 3),
			ratio: ours.rate / (limit.rate / 3), note: "p99 " + short(ours.p99) + "; limit: three durable commits of the store",
		})
	}
	return nil
}
