package tokens

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"posagent/schemes/wire"
)

// Client is the Service over HTTP. It works as soon as BaseURL and Doer are set. It sends each call once;
// whether to send again is the caller's decision, by code.
type Client struct {
	BaseURL string // scheme and host, and a path before /api if there is one
	Doer    wire.Doer
}

var _ Service = (*Client)(nil)

// Create implements Service.
func (c *Client) Create(ctx context.Context, key wire.Key, req CreateRequest) (Created, error) {
	body, err := EncodeCreate(req)
	secrets := []string{req.TokenSecret.Reveal()}
	if card := req.CardDetails; card != nil {
		secrets = append(secrets, card.PAN.Reveal(), card.ValidationCode.Reveal())
	}
	return c.write(ctx, opCreate, "", http.StatusCreated, key, body, err, secrets...)
}

// CreateRecurring implements Service.
func (c *Client) CreateRecurring(ctx context.Context, key wire.Key, req RecurringRequest) (Created, error) {
	body, err := EncodeRecurring(req)
	return c.write(ctx, opRecurring, "/recurring", http.StatusCreated, key, body, err, req.TokenSecret.Reveal())
}

// Verify implements Service.
func (c *Client) Verify(ctx context.Context, key wire.Key, tokenizationID string) (Created, error) {
	if err := checkID(opVerify, tokenizationID); err != nil {
		return Created{}, err
	}
	out, err := c.write(ctx, opVerify, "/"+url.PathEscape(tokenizationID)+"/Verify", http.StatusOK, key, nil, nil)
	if err == nil && !same(tokenizationID, out.TokenizationID) {
		return Created{}, wire.Call{Op: opVerify, Write: true}.Lost("reply is about another tokenization")
	}
	return out, err
}

// same says whether a reply is about the tokenization asked for. A store-and-forward service answers one of its own ids
// ("L" and a Key, MONEY C.6) with the backend's once it knows it, and the other way round.
func same(asked, named string) bool {
	return strings.EqualFold(asked, named) || strings.HasPrefix(asked, "L") || strings.HasPrefix(named, "L")
}

// Token implements Service.
func (c *Client) Token(ctx context.Context, tokenizationID string) (TokenReply, error) {
	if err := CheckID(tokenizationID); err != nil {
		return TokenReply{}, err
	}
	call := wire.Call{Op: opToken}
	answer, err := c.send(ctx, call, http.MethodGet, "/"+url.PathEscape(tokenizationID), "", nil)
	if err != nil {
		return TokenReply{}, err
	}
	if answer.Status != http.StatusOK {
		return TokenReply{}, refusal(call, answer, false)
	}
	var out TokenReply
	if err := call.Read(answer, &out, "token"); err != nil {
		return TokenReply{}, err
	}
	if out.Token == "" {
		return TokenReply{}, call.Lost("reply has no token")
	}
	return out, nil
}

// write sends one write; 201 or 200 as the route promises is done, and 202 with an operation is pending. What a refusal
// says is withheld where it repeats one of the secrets.
func (c *Client) write(ctx context.Context, op, path string, done int, key wire.Key, body []byte, err error, secrets ...string) (Created, error) {
	if err != nil {
		return Created{}, &wire.Error{Code: wire.Invalid, Op: op, Msg: "request cannot be written"}
	}
	call := wire.Call{Op: op, Write: true}
	answer, err := c.send(ctx, call, http.MethodPost, path, key, body)
	if err != nil {
		return Created{}, err
	}
	if answer.Status != done && answer.Status != http.StatusAccepted {
		return Created{}, withhold(refusal(call, answer, key != ""), secrets)
	}
	var out Created
	if err := call.Read(answer, &out, "tokenizationId"); err != nil {
		return Created{}, err
	}
	switch pending := out.Operation; {
	case !wire.PathWord(out.TokenizationID, MaxID):
		return Created{}, call.Lost("reply names no tokenization")
	case (answer.Status == http.StatusAccepted) != (pending != nil), pending != nil && pending.Key == "":
		return Created{}, call.Lost("reply does not say whether it is done")
	}
	return out, nil
}

func (c *Client) send(ctx context.Context, call wire.Call, method, path string, key wire.Key, body []byte) (wire.Answer, error) {
	return call.Send(ctx, c.Doer, method, strings.TrimRight(c.BaseURL, "/")+Prefix+path, key, body)
}

// maxForeign is how much of another service's text is kept, in characters.
const maxForeign = 200

// refusal reads a reply that is not a success: a problem body, or with 500 the token error body.
func refusal(call wire.Call, a wire.Answer, keyed bool) *wire.Error {
	e := call.Problem(a, keyed, Problems())
	if a.Status != http.StatusInternalServerError || !a.JSON() {
		return e
	}
	var f Fault
	if wire.Decode(a.Body, &f) != nil || f.System != Netaxept && f.System != CCV {
		return e
	}
	for _, text := range []*string{&f.ErrorMessage, &f.Detail, &f.ErrorCode, &f.IssuerID, &f.Source} {
		if r := []rune(wire.MaskPANs(*text)); len(r) <= maxForeign {
			*text = string(r)
		} else {
			*text = string(r[:maxForeign]) + "…"
		}
	}
	e.Err = &f
	e.Msg = "the service failed"
	if !call.Write || f.ErrorCode == string(wire.Internal) {
		e.Code = wire.Internal
	}
	return e
}

// withhold keeps a foreign service's words from repeating a secret of the request.
func withhold(e *wire.Error, secrets []string) *wire.Error {
	said := e.Msg
	var f *Fault
	if errors.As(e.Err, &f) {
		said = strings.Join([]string{f.ErrorMessage, f.Detail, f.ErrorCode, f.IssuerID, f.Source}, "\n")
	}
	for _, s := range secrets {
		if s != "" && strings.Contains(said, s) {
			e.Msg, e.Err = "the reply's own words are withheld", nil
		}
	}
	return e
}
