package room

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"posagent/schemes/wire"
	"posagent/store"
)

// Caller is on whose behalf a call runs: the merchant that the credentials of an enrolment name. The zero value is the operator, whose
// own credentials reach everything.
type Caller struct {
	Merchant string
	Bax      string // "" = the enrolment names none
}

type callerKey struct{}

// As returns a context whose calls run on behalf of c.
func As(ctx context.Context, c Caller) context.Context { return context.WithValue(ctx, callerKey{}, c) }

// Everyone returns a context whose calls reach everything, for what time alone brings about.
func Everyone(ctx context.Context) context.Context { return As(ctx, Caller{}) }

// CallerOf returns on whose behalf a context's calls run.
func CallerOf(ctx context.Context) Caller {
	c, _ := ctx.Value(callerKey{}).(Caller)
	return c
}

// Apart is db, whose closures know on whose behalf they run: By tells.
func Apart(db store.DB) store.DB { return apart{db} }

type apart struct{ store.DB }

func (a apart) Write(ctx context.Context, fn func(store.Tx) error) error {
	return a.DB.Write(ctx, func(tx store.Tx) error { return fn(writer{tx, CallerOf(ctx)}) })
}

func (a apart) WriteOwn(ctx context.Context, fn func(store.Tx) error) error {
	return a.DB.WriteOwn(ctx, func(tx store.Tx) error { return fn(writer{tx, CallerOf(ctx)}) })
}

func (a apart) Read(ctx context.Context, fn func(store.Reader) error) error {
	return a.DB.Read(ctx, func(r store.Reader) error { return fn(reader{r, CallerOf(ctx)}) })
}

type reader struct {
	store.Reader
	by Caller
}

func (r reader) caller() Caller                { return r.by }
func (r reader) Keyed() store.DB               { return store.Keyed(r.Reader) }
func (r reader) End() (store.End, bool, error) { return store.EndOf(r.Reader) }
func (r reader) Context() context.Context      { return context.Background() }

type writer struct {
	store.Tx
	by Caller
}

func (w writer) caller() Caller                { return w.by }
func (w writer) Keyed() store.DB               { return store.Keyed(w.Tx) }
func (w writer) End() (store.End, bool, error) { return store.EndOf(w.Tx) }
func (w writer) Context() context.Context      { return store.Context(w.Tx) }

var (
	_ store.Scope = reader{}
	_ store.Scope = writer{}
)

// By returns on whose behalf r reads.
func By(r store.Reader) Caller {
	if c, ok := r.(interface{ caller() Caller }); ok {
		return c.caller()
	}
	return Caller{}
}

// For is r on behalf of a merchant.
func For(r store.Reader, merchant string) store.Reader { return reader{r, Caller{Merchant: merchant}} }

func ownerSchema() store.Step {
	return store.Step{Name: "once/2 owners", SQL: `
CREATE TABLE room_owner (
	resource TEXT NOT NULL, -- the table
	id TEXT NOT NULL,       -- of its row
	merchant TEXT NOT NULL,
	PRIMARY KEY (resource, id)
) STRICT, WITHOUT ROWID;`}
}

// Claim makes the caller's merchant the owner of a new row. What the operator's credentials make has no owner.
func Claim(tx store.Tx, resource, id string) error { return Give(tx, resource, id, By(tx).Merchant) }

// Give makes a merchant the owner of a new row; "" = it has none.
func Give(tx store.Tx, resource, id, merchant string) error {
	if merchant == "" {
		return nil
	}
	if _, err := tx.Exec(`INSERT INTO room_owner (resource, id, merchant) VALUES (?, ?, ?)`, resource, id, merchant); err != nil {
		return fmt.Errorf("store owner: %w", err)
	}
	return nil
}

// Owner returns the merchant that a row belongs to, "" = none.
func Owner(r store.Reader, resource, id string) (merchant string, err error) {
	err = r.QueryRow(`SELECT merchant FROM room_owner WHERE resource = ? AND id = ?`, resource, id).Scan(&merchant)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return "", fmt.Errorf("read owner: %w", err)
	}
	return merchant, nil
}

// Reaches is wire.NotFound where a row is not the caller's: what is another's is not there. The operator reaches every row.
func Reaches(r store.Reader, op, resource, id string) error {
	by := By(r).Merchant
	if by == "" {
		return nil
	}
	owner, err := Owner(r, resource, id)
	if err == nil && owner != by {
		err = wire.Errorf(wire.NotFound, op, "no such thing")
	}
	return err
}

// Own is what picks the caller's rows in a list, and its arguments; column is the row's id. "" picks all.
func Own(r store.Reader, resource, column string) (where string, args []any) {
	by := By(r).Merchant
	if by == "" {
		return "", nil
	}
	return `EXISTS (SELECT 1 FROM room_owner WHERE resource = ? AND id = CAST(` + column + ` AS TEXT) AND merchant = ?)`, []any{resource, by}
}
