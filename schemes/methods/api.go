package methods

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"posagent/schemes/wire"
	"posagent/schemes/wire/rest"
)

// Service is the method-definition service (S1 4.4).
type Service interface {
	// List returns the definitions of a terminal.
	//  1. the definitions, best priority first as the service ordered them;
	//  2. wire.NotFound: no method exists for the merchant;
	//  3. wire.Invalid / Unauthorized: the question or the credentials are wrong;
	//  4. wire.Unavailable / Internal: no answer now, nothing is known.
	List(ctx context.Context, q Query) ([]Definition, error)
}

// Prefix is the service's path; {baxId}/{terminalId} follow (S1 4.4).
const Prefix = "/ms/naa/terminal/method/list/"

// API is what all endpoints have in common.
func API() rest.API { return api }

var api = rest.API{Prefix: strings.TrimSuffix(Prefix, "/"), Type: ContentType, Shape: rest.Faults{Type: ContentType}}

const maxList = 4 << 20 // bytes of a list

var list = rest.Endpoint[Service, Query, []Definition]{
	Op: "methods.list", What: "the definitions of a terminal's methods",
	Method: http.MethodGet, Path: "/{baxId}/{terminalId}", Status: http.StatusOK, Wants: rest.CheckFirst, May: []string{wire.MayRead}, Limit: maxList,
	Do: func(svc Service, ctx context.Context, _ wire.Key, q Query) ([]Definition, error) {
		return svc.List(ctx, q)
	},
}

// Table is the service.
func Table() rest.Table[Service] { return rest.Table[Service]{&list} }

// HandlerOptions adjusts a Handler. The zero value works.
type HandlerOptions = rest.Options

// Handler serves svc at Prefix. Authentication, Host checks and time limits are the caller's.
func Handler(svc Service, opts HandlerOptions) http.Handler {
	return api.Handler(opts, Table().Bind(svc))
}

// Client is the Service over HTTP. It works as soon as BaseURL and Doer are set.
type Client struct {
	BaseURL string // scheme and host, and a path before /ms if there is one
	Doer    wire.Doer
	Problem func(error) // told of every item that could not be read; may be nil
}

var _ Service = (*Client)(nil)

// List implements Service.
func (c *Client) List(ctx context.Context, q Query) ([]Definition, error) {
	from := list
	from.Read = c.read
	return from.Call(ctx, rest.Client{API: api, BaseURL: c.BaseURL, Doer: c.Doer}, "", q)
}

// read reads a list, and tells Problem what of it could not be read.
func (c *Client) read(call wire.Call, a wire.Answer) ([]Definition, error) {
	if !a.JSON() {
		return nil, call.Lost("reply is not JSON")
	}
	defs, problems, err := DecodeList(a.Body)
	if c.Problem != nil {
		for _, p := range problems {
			c.Problem(p)
		}
	}
	if err != nil {
		return nil, &wire.Error{Code: wire.Unavailable, Op: call.Op, Msg: "reply is no method list", Err: err}
	}
	return defs, nil
}

// IDs is a list of paymentProviderIds, which stands in an address with commas.
type IDs []int32

// MarshalText implements encoding.TextMarshaler.
func (l IDs) MarshalText() ([]byte, error) {
	var text []byte
	for i, id := range l {
		if i > 0 {
			text = append(text, ',')
		}
		text = strconv.AppendInt(text, int64(id), 10)
	}
	return text, nil
}

// UnmarshalText implements encoding.TextUnmarshaler. It stops reading once there are more than MaxExclude.
func (l *IDs) UnmarshalText(text []byte) error {
	for item := range strings.SplitSeq(string(text), ",") {
		id, err := strconv.ParseInt(strings.TrimSpace(item), 10, 32)
		if err != nil {
			return errors.New("want payment provider ids separated by commas")
		}
		if *l = append(*l, int32(id)); len(*l) > MaxExclude {
			break
		}
	}
	return nil
}
