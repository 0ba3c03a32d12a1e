package methods

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"posagent/schemes/wire"
)

const (
	// MaxDefinitions is how many definitions of one list are read; the rest is reported as a problem.
	MaxDefinitions = 1000
	maxList        = 4 << 20 // bytes of a list
)

// Client is the Service over HTTP. It works as soon as BaseURL and Doer are set.
type Client struct {
	BaseURL string // scheme and host, and a path before /ms if there is one
	Doer    wire.Doer
	Problem func(error) // told of every item that could not be read; may be nil
}

var _ Service = (*Client)(nil)

// List implements Service.
func (c *Client) List(ctx context.Context, q Query) ([]Definition, error) {
	if err := q.Validate(); err != nil {
		return nil, err
	}
	call := wire.Call{Op: opList, Limit: maxList}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.url(q), nil)
	if err != nil {
		return nil, &wire.Error{Code: wire.Unavailable, Op: opList, Msg: "base address not usable"}
	}
	req.Header.Set("Accept", "application/json")
	answer, err := call.Do(c.Doer, req)
	if err != nil {
		return nil, err
	}
	if answer.Status != http.StatusOK {
		return nil, call.Refusal(answer, false)
	}
	if !answer.JSON() {
		return nil, call.Lost("reply is not JSON")
	}
	defs, problems, err := DecodeList(answer.Body)
	if c.Problem != nil {
		for _, p := range problems {
			c.Problem(p)
		}
	}
	if err != nil {
		return nil, &wire.Error{Code: wire.Unavailable, Op: opList, Msg: "reply is no method list", Err: err}
	}
	return defs, nil
}

func (c *Client) url(q Query) string {
	u := strings.TrimRight(c.BaseURL, "/") + Prefix + url.PathEscape(q.BaxID) + "/" + url.PathEscape(q.TerminalID)
	var pairs []string
	if len(q.Exclude) > 0 {
		ids := make([]string, len(q.Exclude))
		for i, id := range q.Exclude {
			ids[i] = strconv.FormatInt(int64(id), 10)
		}
		pairs = append(pairs, "exclude="+strings.Join(ids, ","))
	}
	if q.Caller != "" {
		pairs = append(pairs, "caller="+url.QueryEscape(q.Caller))
	}
	if q.Lang != "" {
		pairs = append(pairs, "lang="+url.QueryEscape(q.Lang))
	}
	if len(pairs) > 0 {
		u += "?" + strings.Join(pairs, "&")
	}
	return u
}

// DecodeList reads a method list: an array of definitions, or one definition. Items that cannot be read
// are left out and returned as problems; err is set when the text is no list or when no item of
// a non-empty one could be read.
func DecodeList(data []byte) (defs []Definition, problems []error, err error) {
	if err := wire.Check(data); err != nil {
		return nil, nil, err
	}
	var items []json.RawMessage // never begins as data itself: Unmarshal would write into it
	switch bytes.TrimLeft(data, " \t\r\n")[0] {
	case '[':
		if err := json.Unmarshal(data, &items); err != nil {
			return nil, nil, fmt.Errorf("method list: %w", err)
		}
	case '{':
		items = []json.RawMessage{data}
	default:
		return nil, nil, &wire.FieldError{Reason: "an array or an object is wanted", Code: wire.Invalid}
	}
	defs = []Definition{}
	for i, item := range items {
		if i == MaxDefinitions {
			problems = append(problems, fmt.Errorf("%d definitions, only the first %d are read", len(items), MaxDefinitions))
			break
		}
		var d Definition
		err := wire.Decode(item, &d)
		if err == nil {
			err = wire.Required(item, "name", "paymentProviderId")
		}
		if err != nil {
			problems = append(problems, fmt.Errorf("definition %d: %w", i, err))
			continue
		}
		defs = append(defs, d)
	}
	if len(defs) == 0 && len(items) > 0 {
		return nil, problems, fmt.Errorf("none of %d definitions could be read: %w", len(items), problems[0])
	}
	return defs, problems, nil
}
