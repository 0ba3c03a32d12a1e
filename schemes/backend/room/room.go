package room

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"time"

	"posagent/schemes/backend/pages/form"
	"posagent/schemes/wire"
	"posagent/store"
)

// Options are what every room needs.
type Options struct {
	DB        store.DB
	PublicURL string           // where a browser reaches the backend; only rooms with pages need it
	Merchant  string           // its name on pages and in lists
	Now       func() time.Time // nil = time.Now
	Log       *slog.Logger     // nil = none
	// Swept is told of each look for what is due, with the room's name; nil = nothing is.
	Swept func(room string, err error)
}

// Room is the part of a room that every room has.
type Room struct {
	DB       store.DB
	Public   string // PublicURL without a slash at the end
	Merchant string
	Now      func() time.Time
	Log      *slog.Logger
	Forms    *form.Guard // nil without pages
	turns    turns
	loop     *loop // nil without a sweep
	swept    func(err error)
}

// New makes the Room called name, which has no pages; it starts nothing. It fails without a store.
func New(name string, opt Options) (*Room, error) {
	if opt.DB == nil {
		return nil, errors.New(name + ": a store is needed")
	}
	r := &Room{DB: opt.DB, Merchant: opt.Merchant, Now: opt.Now, Log: opt.Log}
	if r.Now == nil {
		r.Now = time.Now
	}
	if r.Log == nil {
		r.Log = slog.New(slog.DiscardHandler)
	}
	r.Log = r.Log.With("sys", name)
	r.swept = func(err error) {
		if opt.Swept != nil {
			opt.Swept(name, err)
		}
	}
	return r, nil
}

// NewPaged is New for a room with pages. It fails also without a public URL.
func NewPaged(name string, opt Options) (*Room, error) {
	u, err := url.Parse(opt.PublicURL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("%s: public URL %q: want http://HOST or https://HOST", name, opt.PublicURL)
	}
	r, err := New(name, opt)
	if err != nil {
		return nil, err
	}
	r.Public = strings.TrimRight(opt.PublicURL, "/")
	r.Forms = form.New(r.DB, r.Public, r.Now)
	return r, nil
}

// Sweeps gives the room a sweep for Run. look advances everything that is due. It returns the next
// due moment in Unix milliseconds, 0 = none.
func (r *Room) Sweeps(look func(context.Context) (next int64, err error)) {
	r.loop = newLoop(r.Now, r.Log, func(ctx context.Context) (next int64, err error) {
		if next, err = look(ctx); ctx.Err() == nil {
			r.swept(err)
		}
		return next, err
	})
}

// Run sweeps until ctx ends, so that time passes also for what is not asked for. It returns ctx's
// error.
func (r *Room) Run(ctx context.Context) error { return r.loop.run(ctx) }

// Poke makes Run look now. It does nothing in a room without a sweep.
func (r *Room) Poke() {
	if r.loop != nil {
		r.loop.poke()
	}
}

// Random makes n bytes that cannot be guessed.
func Random(n int) []byte {
	raw := make([]byte, n)
	_, _ = rand.Read(raw) // never fails
	return raw
}

// Name makes an id of n bytes that cannot be guessed, in hexadecimal, and that nobody takes for a card number.
func Name(n int) string {
	return wire.NoPAN(func() string { return hex.EncodeToString(Random(n)) })
}
