package control

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"syscall"
	"time"

	"posagent/agent/control/socket"
	"posagent/agent/outbox"
	"posagent/agent/ready"
	"posagent/agent/support/record"
	"posagent/agent/view"
	"posagent/schemes/wire"
)

// ErrNoDaemon is the answer where no terminal runs.
var ErrNoDaemon = errors.New("no terminal runs here")

// Client is the command line's end. Its methods answer *wire.Error for what the terminal refuses: wire.NotFound for an operation
// that there is not, wire.Conflict for a verb that does not fit its state. Without a terminal they answer ErrNoDaemon.
type Client struct{ Path string }

// all names every operation.
const all = wire.Key("")

// Send tries an operation now.
func (c *Client) Send(ctx context.Context, key wire.Key) error {
	_, err := c.do(ctx, key, "send", asked{})
	return err
}

// SendAll tries everything that waits now, and says how many operations are due.
func (c *Client) SendAll(ctx context.Context) (due int, err error) {
	return c.do(ctx, all, "send", asked{})
}

// Hold sets an operation aside.
func (c *Client) Hold(ctx context.Context, key wire.Key, reason string) error {
	_, err := c.do(ctx, key, "hold", asked{Reason: reason})
	return err
}

// HoldAll sets everything aside that waits.
func (c *Client) HoldAll(ctx context.Context, reason string) (held int, err error) {
	return c.do(ctx, all, "hold", asked{Reason: reason})
}

// Release lets a held operation go on.
func (c *Client) Release(ctx context.Context, key wire.Key) error {
	_, err := c.do(ctx, key, "release", asked{})
	return err
}

// ReleaseAll lets everything go on that is held and was not altered.
func (c *Client) ReleaseAll(ctx context.Context) (released int, err error) {
	return c.do(ctx, all, "release", asked{})
}

// Resolve ends an operation that is in doubt or held, by a person's decision: outbox.Done or outbox.Failed.
func (c *Client) Resolve(ctx context.Context, key wire.Key, state outbox.State, note string) error {
	_, err := c.do(ctx, key, "resolve", asked{State: state, Note: note})
	return err
}

// Acknowledge ends the alert of an operation that came to nothing.
func (c *Client) Acknowledge(ctx context.Context, key wire.Key) error {
	_, err := c.do(ctx, key, "ack", asked{})
	return err
}

// Note has a deed that the caller has done itself written to the audit log: Backup, Export or PIN, of subject.
func (c *Client) Note(ctx context.Context, deed, subject, detail string) error {
	_, err := c.post(ctx, "/audit", "audit", asked{Deed: deed, Subject: subject, Reason: detail})
	return err
}

// Own gives an operation, and what it is about, to a local client; "" = the terminal's own token.
func (c *Client) Own(ctx context.Context, key wire.Key, owner string) error {
	_, err := c.do(ctx, key, "own", asked{Owner: owner})
	return err
}

// within bounds a verb; one for every operation takes a while.
const within = 10 * time.Minute

func (c *Client) do(ctx context.Context, key wire.Key, verb string, a asked) (int, error) {
	path := "/ops/" + verb
	if key != all {
		path = "/ops/" + url.PathEscape(string(key)) + "/" + verb
	}
	return c.post(ctx, path, verb, a)
}

func (c *Client) post(ctx context.Context, path, verb string, a asked) (int, error) {
	v, err := c.exchange(ctx, path, verb, a)
	return v.Count, err
}

func (c *Client) exchange(ctx context.Context, path, verb string, a asked) (answer, error) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	body, err := json.Marshal(a)
	if err != nil {
		return answer{}, err
	}
	resp, err := c.ask(ctx, http.MethodPost, path, body)
	if err != nil {
		return answer{}, err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	if err != nil {
		return answer{}, fmt.Errorf("the terminal's answer: %w", err)
	}
	var v answer
	if err := json.Unmarshal(data, &v); err != nil {
		return answer{}, fmt.Errorf("the terminal answered %s, which is not of this version", resp.Status)
	}
	if v.Code != "" {
		return answer{}, &wire.Error{Code: v.Code, Op: verb, Msg: v.Message}
	}
	return v, nil
}

// ask sends one request over a connection of its own.
func (c *Client) ask(ctx context.Context, method, path string, body []byte) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, "http://terminal"+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	tr := &http.Transport{
		DialContext:       func(ctx context.Context, _, _ string) (net.Conn, error) { return socket.Dial(ctx, c.Path) },
		DisableKeepAlives: true,
	}
	resp, err := tr.RoundTrip(req)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED) {
		return nil, ErrNoDaemon
	}
	return resp, err
}

// Ready asks whether a register may ask for a sale now. A terminal of an older version answers an error.
func (c *Client) Ready(ctx context.Context) (r ready.Report, err error) {
	err = c.read(ctx, "/ready", &r)
	return r, err
}

// Live asks for all that only the running terminal knows. A terminal of an older version answers an error.
func (c *Client) Live(ctx context.Context) (v view.Live, err error) {
	err = c.read(ctx, "/live", &v)
	return v, err
}

// read reads what the terminal answers.
func (c *Client) read(ctx context.Context, path string, into any) error {
	resp, err := c.ask(ctx, http.MethodGet, path, nil)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("the terminal answered %s", resp.Status)
	}
	data, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err != nil {
		return fmt.Errorf("the terminal's answer: %w", err)
	}
	return json.Unmarshal(data, into)
}

// Events calls begun once the terminal tells of everything from then on, and see with each event, until ctx or the terminal
// ends or see says stop.
func (c *Client) Events(ctx context.Context, begun func(), see func(view.Event) (stop bool)) error {
	return follow(ctx, c, "/events", begun, see)
}

// Record is Events for what the terminal logs and needs while it is recorded. A terminal of an older version answers an error.
func (c *Client) Record(ctx context.Context, begun func(), see func(record.Item) (stop bool)) error {
	return follow(ctx, c, "/record", begun, see)
}

// follow reads a stream of JSON texts, one a line; an empty line is a sign of life.
func follow[T any](ctx context.Context, c *Client, path string, begun func(), see func(T) (stop bool)) error {
	resp, err := c.ask(ctx, http.MethodGet, path, nil)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("the terminal answered %s", resp.Status)
	}
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 1<<20)
	for first := true; lines.Scan(); first = false {
		if first {
			begun()
		}
		if len(lines.Bytes()) == 0 {
			continue
		}
		var one T
		if err := json.Unmarshal(lines.Bytes(), &one); err != nil {
			return fmt.Errorf("a line of the terminal: %w", err)
		}
		if see(one) {
			return nil
		}
	}
	return errors.Join(ctx.Err(), lines.Err())
}
