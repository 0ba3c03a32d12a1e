package disputes

import (
	"bytes"
	"context"
	"net/http"
	"strings"

	"posagent/schemes/wire"
	"posagent/schemes/wire/rest"
)

// Service is the dispute service (S1 4.2). key "" means that the caller gave none; with a key, the same call with the same
// body has one effect and one answer, and with another body is wire.KeyReused. Every call ends in one of:
//
//  1. its reply; ResponseCode is Done, or Partial where a document was not taken;
//  2. an error with a Reason of S1 7 (errors.go): refused, nothing happened. SystemError says nothing about the effect;
//  3. wire.Invalid, NotFound, Conflict (Update: WrongStatus), KeyReused, Unauthorized, Forbidden, TooLarge, TooMany: refused,
//     nothing happened;
//  4. wire.Unavailable: provably not sent, or refused before any effect;
//  5. wire.UnknownOutcome: the effect of a write is not known: List tells.
type Service interface {
	// Create disputes a transaction. ErrorCode ManyMatches warns that the latest of several was taken.
	Create(ctx context.Context, key wire.Key, req CreateRequest) (CreateReply, error)
	// List finds cases, the oldest first; none is an empty list.
	List(ctx context.Context, req ListRequest) (ListReply, error)
	// Queue lists the cases of one queue, the oldest first.
	Queue(ctx context.Context, req QueueRequest) (QueueReply, error)
	// Update moves a case, and adds notes, documents and other information to it.
	Update(ctx context.Context, key wire.Key, caseNumber string, req UpdateRequest) (UpdateReply, error)
	// Document fetches a document; wire.TooLarge above limit bytes (0 = no limit).
	Document(ctx context.Context, documentID string, limit int64) (File, error)
}

// Keys tells what card numbers are encrypted with (ours: S1 2.3 says that the operator supplies it).
type Keys interface {
	// PublicKey gives the key; wire.Unavailable if it is not known now.
	PublicKey(ctx context.Context) (PublicKey, error)
}

// Prefix is the service's path (S1 4.2), in any case of letters, with and without a slash at its end.
const Prefix = "/api/v1/disputes"

// API is what all endpoints have in common.
func API() rest.API { return api }

var api = rest.API{Prefix: Prefix, Fold: true, Shape: rest.Problems{}}

// Limits in bytes.
const (
	MaxBody     = 16 << 20 // a request with documents, and the answer to a download
	MaxDocument = 10 << 20
	maxFiles    = 20
	maxList     = 8 << 20 // a page of a list
)

// What the requests about one thing are.
type (
	edit struct {
		ID string `path:"disputeId" json:"-"`
		UpdateRequest
	}
	fetch struct {
		ID       string `path:"documentId" json:"-"`
		Limit    size   `query:"sizeLimit" json:"-"`
		Encoding string `query:"encoding" json:"-" max:"-"`
	}
)

var (
	create = rest.Endpoint[Service, CreateRequest, CreateReply]{
		Op: "disputes.create", What: "dispute a transaction",
		Example: `{"providerTransactionID":"0193a5b27c1a7b3e9a524d1f0c2b8e77","providerDisputeReasonCode":"D019","disputeAmount":1250,` +
			`"disputeCurrency":"EUR","notes":"the goods never came"}`,
		Method: http.MethodPost, Path: "", Status: http.StatusOK, Also: also, Wants: rest.Write, Do: Service.Create,
		Spool: func(r *http.Request, o rest.Options) (req CreateRequest, release func(), err error) {
			release, err = spool(r, o, &req, &req.DocumentsList)
			return req, release, err
		},
		Says: func(in CreateRequest, err *wire.Error) (CreateReply, bool) {
			code, text := refusal(err)
			return CreateReply{
				ResponseCode: Failed, ErrorCode: code, ErrorText: text, IssuerSuperCaseID: in.IssuerSuperCaseID, IssuerTransactionID: in.IssuerTransactionID,
			}, code != ""
		},
		Said: func(out CreateReply) error {
			return refused("disputes.create", out.ResponseCode, out.ErrorCode, out.ErrorText)
		},
	}
	list = rest.Endpoint[Service, ListRequest, ListReply]{
		Op: "disputes.list", What: "find cases",
		Example: `{"disputeCreatedDate":"2026-11-22","numberOfDisputeCases":50}`,
		Method:  http.MethodPost, Path: "/list", Status: http.StatusOK, Also: also, Limit: maxList,
		Do: func(svc Service, ctx context.Context, _ wire.Key, in ListRequest) (ListReply, error) {
			return svc.List(ctx, in)
		},
		Says: func(_ ListRequest, err *wire.Error) (ListReply, bool) {
			code, text := refusal(err)
			return ListReply{ResponseCode: Failed, ErrorCode: code, ErrorText: text, More: No}, code != ""
		},
		Said: func(out ListReply) error {
			return refused("disputes.list", out.ResponseCode, out.ErrorCode, out.ErrorText)
		},
	}
	queue = rest.Endpoint[Service, QueueRequest, QueueReply]{
		Op: "disputes.queue", What: "list the cases of a queue",
		Example: `{"queueID":1000,"isOpen":"Y"}`,
		Method:  http.MethodPost, Path: "/list-cases-by-queue", Status: http.StatusOK, Also: also, Limit: maxList,
		Do: func(svc Service, ctx context.Context, _ wire.Key, in QueueRequest) (QueueReply, error) {
			return svc.Queue(ctx, in)
		},
		Says: func(_ QueueRequest, err *wire.Error) (QueueReply, bool) {
			code, text := refusal(err)
			return QueueReply{ResponseCode: Failed, ErrorCode: code, ErrorText: text, More: No}, code != ""
		},
		Said: func(out QueueReply) error {
			return refused("disputes.queue", out.ResponseCode, out.ErrorCode, out.ErrorText)
		},
	}
	update = rest.Endpoint[Service, edit, UpdateReply]{
		Op: "disputes.update", What: "move a case, and add to it",
		Example: `{"notes":"the shop has answered","submitDispute":"Y"}`,
		Method:  http.MethodPatch, Path: "/{disputeId}", Status: http.StatusOK, Also: also, Wants: rest.Write,
		Do: func(svc Service, ctx context.Context, key wire.Key, in edit) (UpdateReply, error) {
			return svc.Update(ctx, key, in.ID, in.UpdateRequest)
		},
		Spool: func(r *http.Request, o rest.Options) (in edit, release func(), err error) {
			release, err = spool(r, o, &in, &in.DocumentsList)
			return in, release, err
		},
		Says: func(_ edit, err *wire.Error) (UpdateReply, bool) {
			code, text := refusal(err)
			return UpdateReply{ResponseCode: Failed, ErrorCode: code, ErrorText: text}, code != ""
		},
		Said: func(out UpdateReply) error {
			return refused("disputes.update", out.ResponseCode, out.ErrorCode, out.ErrorText)
		},
	}
	document = rest.Endpoint[Service, fetch, File]{
		Op: opDocument, What: "fetch a document",
		Method: http.MethodGet, Path: "/document/{documentId}", Status: http.StatusOK,
		Do: func(svc Service, ctx context.Context, _ wire.Key, in fetch) (File, error) {
			return svc.Document(ctx, in.ID, int64(in.Limit))
		},
		Write: send,
	}
	key = rest.Endpoint[Keys, struct{}, PublicKey]{
		Op: "disputes.key", What: "read the key that card numbers are encrypted with",
		Method: http.MethodGet, Path: "/key", Status: http.StatusOK, Also: also,
		Do: func(svc Keys, ctx context.Context, _ wire.Key, _ struct{}) (PublicKey, error) {
			return svc.PublicKey(ctx)
		},
	}

	also = []int{http.StatusCreated} // of other services
)

// Table is the service, KeysTable what tells its key.
func Table() rest.Table[Service] { return rest.Table[Service]{create, list, queue, update, document} }

// KeysTable is what tells the service's key.
func KeysTable() rest.Table[Keys] { return rest.Table[Keys]{key} }

// HandlerOptions adjusts a Handler. The zero value works.
type HandlerOptions = rest.Options

// Handler serves svc and keys at Prefix. Authentication, Host checks and time limits are the caller's.
func Handler(svc Service, keys Keys, opts HandlerOptions) http.Handler {
	return api.Handler(opts, Table().Bind(svc), KeysTable().Bind(keys))
}

// Client is the Service over HTTP. It works as soon as BaseURL and Doer are set. It sends each call once;
// whether to send again is the caller's decision, by code.
type Client struct {
	BaseURL  string // scheme and host, and a path before /api if there is one
	Doer     wire.Doer
	Dir      string // of documents that are fetched; "" = the system's folder for such things
	Operator string // the provider… fields are written in its spelling; "" writes them as S1 does
}

var (
	_ Service = (*Client)(nil)
	_ Keys    = (*Client)(nil)
)

func (c *Client) to() rest.Client {
	return rest.Client{API: api, BaseURL: c.BaseURL, Doer: c.Doer}
}

// Create implements Service.
func (c *Client) Create(ctx context.Context, key wire.Key, req CreateRequest) (CreateReply, error) {
	text, err := wire.Encode(req)
	if c.Operator != "" && err == nil {
		mine := strings.ToLower(c.Operator[:1]) + c.Operator[1:]
		for _, name := range own() { // a name with its quotes and colon stands nowhere but in its place
			text = bytes.Replace(text, []byte(`"`+spelled+name+`":`), []byte(`"`+mine+name+`":`), 1)
		}
	}
	m, err := withDocuments(create.Op, text, err, req.DocumentsList)
	if err != nil {
		return CreateReply{}, err
	}
	return create.Stream(ctx, c.to(), key, req, m.length, m.open)
}

// Update implements Service.
func (c *Client) Update(ctx context.Context, key wire.Key, caseNumber string, req UpdateRequest) (UpdateReply, error) {
	text, err := wire.Encode(req)
	m, err := withDocuments(update.Op, text, err, req.DocumentsList)
	if err != nil {
		return UpdateReply{}, err
	}
	return update.Stream(ctx, c.to(), key, edit{caseNumber, req}, m.length, m.open)
}

// List implements Service.
func (c *Client) List(ctx context.Context, req ListRequest) (ListReply, error) {
	return list.Call(ctx, c.to(), "", req)
}

// Queue implements Service.
func (c *Client) Queue(ctx context.Context, req QueueRequest) (QueueReply, error) {
	return queue.Call(ctx, c.to(), "", req)
}

// PublicKey implements Keys.
func (c *Client) PublicKey(ctx context.Context) (PublicKey, error) {
	return key.Call(ctx, c.to(), "", struct{}{})
}
