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
	"posagent/schemes/wire/rest"
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

// Document implements Service.
func (c *Client) Document(ctx context.Context, documentID string, limit int64) (File, error) {
	if err := CheckDocumentID(documentID); err != nil {
		return File{}, err
	}
	address := strings.TrimRight(c.BaseURL, "/") + Prefix + "/document/" + url.PathEscape(documentID)
	if limit > 0 {
		address += "?sizeLimit=" + strconv.FormatInt(limit, 10)
	}
	s := splitter{dir: c.Dir, field: "content", depth: 2, most: 1}
	call := wire.Call{Op: opDocument, Limit: MaxBody, Spool: func(r io.Reader) ([]byte, error) {
		err := s.split(r, MaxBody)
		return s.text, err
	}}
	var out Download
	a, err := call.Send(ctx, c.Doer, http.MethodGet, address, "", nil)
	switch {
	case err != nil:
	case a.Status != http.StatusOK && a.Status != http.StatusCreated:
		err = call.Problem(a, false, nil)
	default:
		err = call.Read(a, &out, "inputStream.content")
	}
	if err == nil && (len(s.files) != 1 || out.InputStream == nil || limit > 0 && s.files[0].Size > limit) {
		err = call.Lost("reply has no document, or a longer one")
	}
	if err != nil {
		closeAll(s.files)
		return File{}, err
	}
	return File{
		Name: PlainName(out.Filename), Description: wire.MaskPANs(wire.Clean(out.Description)), Content: s.files[0].Binary,
		Close: func() error { return s.files[0].file.Close() },
	}, nil
}

// PublicKey implements Keys.
func (c *Client) PublicKey(ctx context.Context) (PublicKey, error) {
	return key.Call(ctx, c.to(), "", struct{}{})
}
