package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"posagent/schemes/backend"
	"posagent/schemes/backend/deliver"
)

type hooksOptions struct {
	since   string
	backend string
}

func hooksFlags(fs *flag.FlagSet) any {
	o := &hooksOptions{}
	fs.StringVar(&o.since, "since", "", "replay: every dead delivery whose event is as old as this `time` or younger")
	fs.StringVar(&o.backend, "backend", "", "replay, resume: `URL` of a running backend elsewhere (default: the one that runs on --state)")
	return o
}

// runHooks reads the lists from the file, and asks the running backend to send again.
func runHooks(ctx context.Context, c *call) error {
	cfg, err := loadConfig(c)
	if err != nil {
		return err
	}
	o := c.opts.(*hooksOptions)
	args := append(c.args, "", "")
	var route string
	ask := map[string]string{}
	switch {
	case len(c.args) == 0, len(c.args) == 1 && args[0] == "list":
		return listHooks(ctx, c, backendDir(c, cfg), "")
	case len(c.args) == 1 && args[0] == "dead":
		return listHooks(ctx, c, backendDir(c, cfg), "dead")
	case len(c.args) == 1 && args[0] == "replay" && o.since != "":
		route, ask["since"] = "/replay", o.since
	case len(c.args) == 2 && args[0] == "replay" && o.since == "":
		route, ask["id"] = "/replay", args[1]
	case len(c.args) == 2 && args[0] == "resume":
		route, ask["url"] = "/resume", args[1]
	default:
		return fail(exitUsage, "%s: want list, dead, replay ID, replay --since TIME or resume URL", c.path)
	}
	base := strings.TrimSuffix(o.backend, "/")
	switch {
	case base != "" && c.state != "":
		return fail(exitUsage, "%s: name the backend once: --state DIR, or --backend URL where it runs elsewhere", c.path)
	case base == "":
		if base, err = runningBackend(backendDir(c, cfg)); err != nil {
			return err
		}
	}
	body, err := json.Marshal(ask)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, base+backend.HooksPrefix+route, bytes.NewReader(body))
	if err != nil {
		return fail(exitUsage, "%v", err)
	}
	req.Header.Set("Authorization", "Bearer "+cfg.Backend.Credentials.Bearer.Reveal())
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return fail(exitNoBackend, "no backend at %s: %v (posagent backend starts one)", base, err)
	}
	defer resp.Body.Close()
	reply, err := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	switch {
	case err != nil:
		return err
	case resp.StatusCode == http.StatusUnauthorized:
		return fail(exitAuth, "the backend refused the credentials: set [backend.credentials] bearer")
	case resp.StatusCode != http.StatusOK:
		return fail(exitFailed, "the backend answered %s: %s (posagent backend hooks lists what there is)", resp.Status, refusal(reply))
	case c.json:
		return printReply(c, "posagent.hooks.changed/1", reply)
	}
	var v struct{ Replayed *int }
	switch err := json.Unmarshal(reply, &v); {
	case err != nil:
		return fail(exitFailed, "the backend's answer is not JSON: %v", err)
	case v.Replayed != nil:
		fmt.Fprintf(c.out, "to be sent again: %d\n", *v.Replayed)
	default:
		fmt.Fprintln(c.out, "resumed")
	}
	return nil
}

// refusal is the sentence of an error body, or the body where it has none.
func refusal(body []byte) string {
	var v struct{ Error struct{ Message string } }
	if json.Unmarshal(body, &v) == nil && v.Error.Message != "" {
		return v.Error.Message
	}
	return strings.TrimSpace(string(body))
}

func listHooks(ctx context.Context, c *call, dir, state string) error {
	list, err := backend.ReadHooks(ctx, dir, state)
	if err != nil {
		return fail(exitFailed, "%v (is --state the backend's directory?)", err)
	}
	if c.json {
		return printJSON(c.out, struct {
			Schema string             `json:"schema"`
			Hooks  []deliver.Delivery `json:"hooks"`
		}{"posagent.hooks/1", list})
	}
	fmt.Fprintf(c.out, "%-32s %-30s %-7s %5s %-6s %s\n", "ID", "EVENT", "STATE", "TRIES", "LAST", "URL")
	for _, d := range list {
		last := "-"
		if n := len(d.Attempts); n > 0 {
			if last = d.Attempts[n-1].Note; d.Attempts[n-1].Status != 0 {
				last = fmt.Sprint(d.Attempts[n-1].Status)
			}
		}
		fmt.Fprintf(c.out, "%-32s %-30s %-7s %5d %-6s %s\n", d.Message, d.Event, d.State, len(d.Attempts), last, d.URL)
		if d.Due > time.Now().UnixMilli() && len(d.Attempts) > 0 && d.Paused == "" {
			fmt.Fprintf(c.out, "  next at %s; at once: posagent backend hooks replay %s\n", time.UnixMilli(d.Due).Format(time.TimeOnly), d.Message)
		}
		if d.Paused != "" {
			fmt.Fprintf(c.out, "  waits: %s; posagent backend hooks resume %s\n", d.Paused, d.URL)
		}
	}
	return nil
}
