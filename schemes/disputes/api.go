package disputes

import (
	"context"
	"net/http"

	"posagent/schemes/wire"
	"posagent/schemes/wire/check"
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

var (
	create = rest.Endpoint[Service, CreateRequest, CreateReply]{
		Op: "disputes.create", What: "dispute a transaction",
		Example: `{"providerTransactionID":"0193a5b27c1a7b3e9a524d1f0c2b8e77","providerDisputeReasonCode":"D019","disputeAmount":1250,` +
			`"disputeCurrency":"EUR","notes":"the goods never came"}`,
		Method: http.MethodPost, Path: "", Status: http.StatusOK, Also: also, Wants: rest.Write, Do: Service.Create,
		Spool: func(r *http.Request, o rest.Options) (req CreateRequest, release func(), err error) {
			release, err = keep(r, o, &req, &req.DocumentsList)
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
			release, err = keep(r, o, &in, &in.DocumentsList)
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
func Table() rest.Table[Service] {
	return rest.Table[Service]{&create, &list, &queue, &update, &document}
}

// KeysTable is what tells the service's key.
func KeysTable() rest.Table[Keys] { return rest.Table[Keys]{&key} }

// Validate applies every stateless rule to the body of POST /, the reason-code rules of S1 2.3 among them. A field that no code of
// S1 7 is about is wire.Invalid without a reason; BadDate, Missing and BadAmount follow, in this order. A card number, an amount
// or a currency of the transaction that cannot be read is Missing: no transaction is found by it.
func Validate(req CreateRequest) error { return check.Request(create.Op, req) }

// ValidateList applies every stateless rule to the body of POST /list.
func ValidateList(req ListRequest) error { return check.Request(list.Op, req) }

// ValidateQueue applies every stateless rule to the body of POST /list-cases-by-queue.
func ValidateQueue(req QueueRequest) error { return check.Request(queue.Op, req) }

// ValidateUpdate applies every stateless rule to PATCH /{disputeId} and its body.
func ValidateUpdate(caseNumber string, req UpdateRequest) error {
	return check.Request(update.Op, edit{caseNumber, req})
}

// HandlerOptions adjusts a Handler. The zero value works.
type HandlerOptions = rest.Options

// Handler serves svc and keys at Prefix. Authentication, Host checks and time limits are the caller's.
func Handler(svc Service, keys Keys, opts HandlerOptions) http.Handler {
	return api.Handler(opts, Table().Bind(svc), KeysTable().Bind(keys))
}
