package main

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/rogpeppe/go-internal/testscript"

	"posagent/agent/view"
	"posagent/cross/need"
	"posagent/schemes/paylinks"
	"posagent/schemes/wire"
)

// link VERB PORT TOKENFILE [ARG] is local software that makes payment links over the port: "make" and "make-pending" set LINK to the
// id of the answer; "waiting ID" and "real ID" read it without and with its page, real sets REAL to the backend's
// id; "delete ID" takes it back; "gone ID" finds nothing.
func link(ts *testscript.TestScript, neg bool, args []string) {
	ctx, cancel := context.WithTimeout(context.Background(), need.Limit())
	defer cancel()
	c := &paylinks.Client{BaseURL: args[1], Instance: "demo", Secret: tokenIn(ts, args[2]), Doer: http.DefaultClient}
	id := int64(0)
	if len(args) > 3 {
		var err error
		id, err = strconv.ParseInt(args[3], 10, 64)
		ts.Check(err)
	}
	right := false
	switch args[0] {
	case "make", "make-pending":
		made, err := c.Links().Create(ctx, wire.NewKey(), paylinks.CreateRequest{
			Title: "Order", Description: "Thank you", ReferenceID: "kiosk-1", Purpose: "Order 1", Amount: 1250, Currency: "EUR",
		})
		ts.Check(err)
		ours := made.ID >= paylinks.FirstLocalID && made.Operation != nil && made.Link.Link == nil
		right = ours == (args[0] == "make-pending")
		ts.Setenv("LINK", strconv.FormatInt(made.ID, 10))
	case "waiting", "real":
		l, err := c.Links().Read(ctx, id)
		ts.Check(err)
		right = (l.Link != nil) == (args[0] == "real") && l.ReferenceID == "kiosk-1" && l.Status == paylinks.Waiting
		right = right && l.ID == id
		if args[0] == "real" {
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, args[1]+"/agent/v1/operations/"+args[3], http.NoBody)
			ts.Check(err)
			req.Header.Set("Authorization", "Bearer "+c.Secret.Reveal())
			resp, err := http.DefaultClient.Do(req)
			ts.Check(err)
			defer resp.Body.Close()
			var v view.OneOperation
			ts.Check(json.NewDecoder(resp.Body).Decode(&v))
			ts.Setenv("REAL", v.Operation.BackendID)
		}
	case "delete":
		d, err := c.Links().Delete(ctx, wire.NewKey(), id)
		ts.Check(err)
		right = d.ID == id && d.Operation == nil
	case "gone":
		_, err := c.Links().Read(ctx, id)
		right = wire.CodeOf(err) == wire.NotFound
	}
	if !right {
		ts.Fatalf("%v: not so", args)
	}
}
