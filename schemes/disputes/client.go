package disputes

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"posagent/schemes/wire"
)

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

// Create implements Service.
func (c *Client) Create(ctx context.Context, key wire.Key, req CreateRequest) (CreateReply, error) {
	text, err := EncodeCreate(req)
	if c.Operator != "" && err == nil {
		mine := strings.ToLower(c.Operator[:1]) + c.Operator[1:]
		for _, name := range own() { // a name with its quotes and colon stands nowhere but in its place
			text = bytes.Replace(text, []byte(`"`+spelled+name+`":`), []byte(`"`+mine+name+`":`), 1)
		}
	}
	var out CreateReply
	call := wire.Call{Op: opCreate, Write: true}
	if err := c.post(ctx, call, http.MethodPost, "", key, text, err, req.DocumentsList, &out, "disputeCaseNumber", "responseCode"); err != nil {
		return CreateReply{}, wire.Withhold(err, req.CardNumber.Reveal(), req.CardHolderName.Reveal(), req.CardExpiryDate.Reveal())
	}
	if out.ResponseCode == Failed {
		return CreateReply{}, refused(opCreate, out.ErrorCode, out.ErrorText)
	}
	if out.ResponseCode != Done && out.ResponseCode != Partial || out.CaseNumber == "" {
		return CreateReply{}, call.Lost("reply does not say what it came to")
	}
	return out, nil
}

// Update implements Service.
func (c *Client) Update(ctx context.Context, key wire.Key, caseNumber string, req UpdateRequest) (UpdateReply, error) {
	if !wire.PathWord(caseNumber, MaxID) {
		return UpdateReply{}, wire.Errorf(wire.Invalid, opUpdate, "disputeId: want 1 to %d characters", MaxID)
	}
	text, err := EncodeUpdate(req)
	var out UpdateReply
	call := wire.Call{Op: opUpdate, Write: true}
	if err := c.post(ctx, call, http.MethodPatch, "/"+url.PathEscape(caseNumber), key, text, err, req.DocumentsList, &out, "responseCode"); err != nil {
		return UpdateReply{}, wire.Withhold(err, req.CardNumber.Reveal(), req.AccessToken.Reveal(), req.Password.Reveal(), req.UserID.Reveal())
	}
	if out.ResponseCode == Failed {
		return UpdateReply{}, refused(opUpdate, out.ErrorCode, out.ErrorText)
	}
	if out.ResponseCode != Done && out.ResponseCode != Partial {
		return UpdateReply{}, call.Lost("reply does not say what it came to")
	}
	return out, nil
}

// List implements Service.
func (c *Client) List(ctx context.Context, req ListRequest) (ListReply, error) {
	text, err := EncodeList(req)
	var out ListReply
	call := wire.Call{Op: opList, Limit: maxList}
	if err := c.post(ctx, call, http.MethodPost, "/list", "", text, err, nil, &out, "disputeCaseList[].disputeCaseNumber", "responseCode"); err != nil {
		return ListReply{}, wire.Withhold(err, req.CardNumber.Reveal())
	}
	if out.ResponseCode == Failed {
		return ListReply{}, refused(opList, out.ErrorCode, out.ErrorText)
	}
	if out.ResponseCode != Done || (out.More == Yes) != (out.NextPageKey != "") {
		return ListReply{}, call.Lost("reply does not say whether it is whole")
	}
	return out, nil
}

// Queue implements Service.
func (c *Client) Queue(ctx context.Context, req QueueRequest) (QueueReply, error) {
	text, err := EncodeQueue(req)
	var out QueueReply
	call := wire.Call{Op: opQueue, Limit: maxList}
	if err := c.post(ctx, call, http.MethodPost, "/list-cases-by-queue", "", text, err, nil, &out, "caseList[].disputeCaseNumber", "responseCode"); err != nil {
		return QueueReply{}, wire.Withhold(err, req.AccessToken.Reveal(), req.Password.Reveal(), req.UserID.Reveal())
	}
	if out.ResponseCode == Failed {
		return QueueReply{}, refused(opQueue, out.ErrorCode, out.ErrorText)
	}
	if out.ResponseCode != Done || (out.More == Yes) != (out.NextPageKey != "") {
		return QueueReply{}, call.Lost("reply does not say whether it is whole")
	}
	return out, nil
}

// maxList is the longest page of a list, in bytes.
const maxList = 8 << 20

// PublicKey implements Keys.
func (c *Client) PublicKey(ctx context.Context) (PublicKey, error) {
	var out PublicKey
	call := wire.Call{Op: opKey}
	err := c.get(ctx, call, "/key", nil, &out, "keyId", "publicKey")
	return out, err
}

// Document implements Service.
func (c *Client) Document(ctx context.Context, documentID string, limit int64) (File, error) {
	if err := CheckDocumentID(documentID); err != nil {
		return File{}, err
	}
	path := "/document/" + url.PathEscape(documentID)
	if limit > 0 {
		path += "?sizeLimit=" + strconv.FormatInt(limit, 10)
	}
	s := splitter{dir: c.Dir, field: "content", depth: 2, most: 1}
	call := wire.Call{Op: opDocument, Limit: MaxBody, Spool: func(r io.Reader) ([]byte, error) {
		err := s.split(r, MaxBody)
		return s.text, err
	}}
	var out Download
	if err := c.get(ctx, call, path, nil, &out, "inputStream.content"); err != nil {
		closeAll(s.files)
		return File{}, err
	}
	if len(s.files) != 1 || out.InputStream == nil || limit > 0 && s.files[0].Size > limit {
		closeAll(s.files)
		return File{}, call.Lost("reply has no document, or a longer one")
	}
	return File{
		Name: PlainName(out.Filename), Description: wire.MaskPANs(wire.Clean(out.Description)), Content: s.files[0].Binary,
		Close: func() error { return s.files[0].file.Close() },
	}, nil
}

func (c *Client) address(path string) string {
	return strings.TrimRight(c.BaseURL, "/") + Prefix + path
}

// get reads; only a success is spooled.
func (c *Client) get(ctx context.Context, call wire.Call, path string, body []byte, into any, fields ...string) error {
	a, err := call.Send(ctx, c.Doer, http.MethodGet, c.address(path), "", body)
	if err != nil {
		return err
	}
	return c.read(call, a, false, into, fields)
}

// post sends a body with its documents.
func (c *Client) post(ctx context.Context, call wire.Call, method, path string, key wire.Key, text []byte, err error, documents []Document, into any, fields ...string) error {
	var m *message
	if err == nil {
		list := make([]Binary, len(documents))
		for i, d := range documents {
			list[i] = d.Binary
		}
		m, err = compose(text, "documentBinary", list)
	}
	if err != nil {
		return &wire.Error{Code: wire.Invalid, Op: call.Op, Msg: "request cannot be written"}
	}
	a, err := call.Stream(ctx, c.Doer, method, c.address(path), key, m.length, m.open)
	if err != nil {
		return err
	}
	return c.read(call, a, key != "", into, fields)
}

func (c *Client) read(call wire.Call, a wire.Answer, keyed bool, into any, fields []string) error {
	if a.Status != http.StatusOK && a.Status != http.StatusCreated {
		return call.Problem(a, keyed, nil)
	}
	return call.Read(a, into, fields...)
}
