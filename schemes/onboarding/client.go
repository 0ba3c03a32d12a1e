package onboarding

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

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
func (c *Client) Create(ctx context.Context, key wire.Key, app Application) (State, error) {
	return c.send(ctx, opCreate, http.MethodPost, 0, "", http.StatusCreated, key, &app)
}

// Read implements Service.
func (c *Client) Read(ctx context.Context, id int64) (State, error) {
	return c.send(ctx, opRead, http.MethodGet, id, "", http.StatusOK, "", nil)
}

// Update implements Service.
func (c *Client) Update(ctx context.Context, key wire.Key, id int64, app Application) (State, error) {
	return c.send(ctx, opUpdate, http.MethodPut, id, "", http.StatusOK, key, &app)
}

// Submit implements Service.
func (c *Client) Submit(ctx context.Context, key wire.Key, id int64) (State, error) {
	return c.send(ctx, opSubmit, http.MethodPost, id, "/submit", http.StatusOK, key, nil)
}

// send sends one call; done is the status of its success. What a refusal says is withheld where it repeats one of the
// application's secrets.
func (c *Client) send(ctx context.Context, op, method string, id int64, rest string, done int, key wire.Key, app *Application) (State, error) {
	call := wire.Call{Op: op, Write: op != opRead}
	path := strings.TrimRight(c.BaseURL, "/") + Prefix
	if op != opCreate {
		if id < 1 {
			return State{}, wire.Errorf(wire.Invalid, op, "onboardingId: want a whole number from 1")
		}
		path += "/" + strconv.FormatInt(id, 10) + rest
	}
	var body []byte
	if app != nil {
		var err error
		if body, err = Encode(*app); err != nil {
			return State{}, &wire.Error{Code: wire.Invalid, Op: op, Msg: "request cannot be written"}
		}
	}
	answer, err := call.Send(ctx, c.Doer, method, path, key, body)
	if err != nil {
		return State{}, err
	}
	if answer.Status != done {
		return State{}, wire.Withhold(call.Problem(answer, key != "", Problems()), app.secrets()...)
	}
	return read(call, answer, id)
}

// read reads a success; id 0 is any application.
func read(call wire.Call, answer wire.Answer, id int64) (State, error) {
	var st State
	if err := call.Read(answer, &st, "onboardingId", "status"); err != nil {
		return State{}, err
	}
	if st.Created != "" {
		if _, err := time.Parse(time.RFC3339, st.Created); err != nil {
			return State{}, call.Lost("reply has no usable time")
		}
	}
	switch {
	case st.OnboardingID < 1:
		return State{}, call.Lost("reply names no application")
	case id != 0 && st.OnboardingID != id:
		return State{}, call.Lost("reply is about another application")
	case st.Status == None:
		return State{}, call.Lost("reply has no status")
	}
	return st, nil
}

// secrets are what a reply to the application must not repeat.
func (a *Application) secrets() (list []string) {
	if a == nil || a.Notifications == nil {
		return nil
	}
	for _, h := range a.Notifications.WebHooks {
		list = append(list, h.Authorization.Reveal())
		for _, pairs := range h.Headers {
			for _, v := range pairs {
				if len(v) >= 8 { // less is no secret, and stands in many a sentence
					list = append(list, v)
				}
			}
		}
	}
	return list
}
