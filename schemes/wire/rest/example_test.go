package rest_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"

	"posagent/schemes/wire"
	"posagent/schemes/wire/check"
	"posagent/schemes/wire/rest"
)

// Drawers is a service.
type Drawers interface {
	Open(ctx context.Context, key wire.Key, req OpenRequest) (Opened, error)
	Read(ctx context.Context, id string) (Opened, error)
}

// OpenRequest is a body. What it knows stands on its type.
type OpenRequest struct {
	Till string      `json:"till" wire:"required"`
	Why  string      `json:"why,omitempty" wire:"masked"`
	PIN  wire.Secret `json:"pin,omitempty"`
}

// Check implements check.Checked.
func (r OpenRequest) Check(l *check.List) { l.Text("till", r.Till, 16) }

// Opened answers both.
type Opened struct {
	ID        string        `json:"drawerId" wire:"required"`
	Operation *wire.Pending `json:"operation,omitempty"`
}

// drawer names one in a path.
type drawer struct {
	ID string `path:"drawerId" json:"-"`
}

// The table.
var (
	api  = rest.API{Prefix: "/api/v1/drawers", Fold: true, Shape: rest.Problems{}}
	open = rest.Endpoint[Drawers, OpenRequest, Opened]{
		Op: "drawers.open", Method: http.MethodPost, Status: http.StatusCreated, Wants: rest.Write, Do: Drawers.Open,
	}
	read = rest.Endpoint[Drawers, drawer, Opened]{
		Op: "drawers.read", Method: http.MethodGet, Path: "/{drawerId}", Status: http.StatusOK,
		Do: func(svc Drawers, ctx context.Context, _ wire.Key, in drawer) (Opened, error) {
			return svc.Read(ctx, in.ID)
		},
	}
	table = rest.Table[Drawers]{&open, &read}
)

// Client is the Drawers over HTTP.
type Client struct{ to rest.Client }

// Open implements Drawers.
func (c Client) Open(ctx context.Context, key wire.Key, req OpenRequest) (Opened, error) {
	return open.Call(ctx, c.to, key, req)
}

// Read implements Drawers.
func (c Client) Read(ctx context.Context, id string) (Opened, error) {
	return read.Call(ctx, c.to, "", drawer{id})
}

// desk implements Drawers.
type desk struct{}

func (desk) Open(_ context.Context, key wire.Key, req OpenRequest) (Opened, error) {
	fmt.Println("opened", req.Till, "with", req.PIN, "because", req.Why)
	return Opened{ID: "d-" + string(key)}, nil
}

func (desk) Read(_ context.Context, id string) (Opened, error) { return Opened{ID: id}, nil }

// A service is its table: the engine makes the handler and the client of it.
func Example() {
	srv := httptest.NewServer(api.Handler(rest.Options{}, table.Bind(desk{})))
	defer srv.Close()
	var client Drawers = Client{rest.Client{API: api, BaseURL: srv.URL, Doer: srv.Client()}}

	out, err := client.Open(context.Background(), "k1", OpenRequest{Till: "4", Why: "paid with 4111111111111111", PIN: "0000"})
	fmt.Println(out.ID, err)
	_, err = client.Open(context.Background(), "k2", OpenRequest{Till: "a till\n"})
	fmt.Println(err)
	out, err = client.Read(context.Background(), "d-k1")
	fmt.Println(out.ID, err)
	for _, i := range table.Infos() {
		fmt.Println(i.Op, i.Method, api.Prefix+i.Path, i.Status, i.Write())
	}
	// Output:
	// opened 4 with [secret] because paid with 411111******1111
	// d-k1 <nil>
	// drawers.open: invalid: till: longer than 16 bytes, or control characters
	// d-k1 <nil>
	// drawers.open POST /api/v1/drawers 201 true
	// drawers.read GET /api/v1/drawers/{drawerId} 200 false
}
