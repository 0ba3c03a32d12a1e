package backend

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

	"posagent/cmd/usage"
	"posagent/schemes/backend"
	"posagent/schemes/backend/webhooks"
)

type hooksOptions struct {
	since   string
	backend string
}

func (o *hooksOptions) register(fs *flag.FlagSet) {
	fs.StringVar(&o.since, "since", "", "replay: every dead delivery whose event is as old as this `time` or younger")
	fs.StringVar(&o.backend, "backend", "", "replay, resume: `URL` of a running backend elsewhere (default: the one that runs on --state)")
}

// runHooks reads the lists from the file, and asks the running backend to send again.
func runHooks(ctx context.Context, c *Call) error {
	dir, cfg, err := c.dir()
	if err != nil {
		return err
	}
	o := &c.hooks
	args := append(c.Args, "", "")
	var route string
	ask := map[string]string{}
	switch {
	case len(c.Args) == 0, len(c.Args) == 1 && args[0] == "list":
		return listHooks(ctx, c, dir, "")
	case len(c.Args) == 1 && args[0] == "dead":
		return listHooks(ctx, c, dir, "dead")
	case len(c.Args) == 1 && args[0] == "replay" && o.since != "":
		route, ask["since"] = "/replay", o.since
	case len(c.Args) == 2 && args[0] == "replay" && o.since == "":
		route, ask["id"] = "/replay", args[1]
	case len(c.Args) == 2 && args[0] == "resume":
		route, ask["url"] = "/resume", args[1]
	default:
		return usage.Fail(usage.ExitUsage, "%s: want list, dead, replay ID, replay --since TIME or resume URL", c.Path)
	}
	base := strings.TrimSuffix(o.backend, "/")
	switch {
	case base != "" && c.Named:
		return usage.Fail(usage.ExitUsage, "%s: name the backend once: --state DIR, or --backend URL where it runs elsewhere", c.Path)
	case base == "":
		if base, err = Running(dir); err != nil {
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
		return usage.Fail(usage.ExitUsage, "%v", err)
	}
	token, key := cfg.Backend.FleetToken, "[backend] fleet_token" // in a fleet the operator's alone
	if token == "" {
		token, key = cfg.Backend.Credentials.Bearer, "[backend.credentials] bearer"
	}
	req.Header.Set("Authorization", "Bearer "+token.Reveal())
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return usage.Fail(usage.ExitNoBackend, "no backend at %s: %v (%s starts one)", base, err, c.Program)
	}
	defer resp.Body.Close()
	reply, err := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	switch {
	case err != nil:
		return err
	case resp.StatusCode == http.StatusUnauthorized:
		return usage.Fail(usage.ExitAuth, "the backend refused the credentials: set %s as the backend has it", key)
	case resp.StatusCode != http.StatusOK:
		return usage.Fail(usage.ExitFailed, "the backend answered %s: %s (%s hooks lists what there is)", resp.Status, refusal(reply), c.Program)
	case c.JSON:
		return usage.PrintReply(c.Out, "posagent.hooks.changed/1", reply)
	}
	var v struct{ Replayed *int }
	switch err := json.Unmarshal(reply, &v); {
	case err != nil:
		return usage.Fail(usage.ExitFailed, "the backend's answer is not JSON: %v", err)
	case v.Replayed != nil:
		fmt.Fprintf(c.Out, "to be sent again: %d\n", *v.Replayed)
	default:
		fmt.Fprintln(c.Out, "resumed")
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

func listHooks(ctx context.Context, c *Call, dir, state string) error {
	list, err := backend.ReadHooks(ctx, c.at(dir), state)
	if err != nil {
		return c.unread(err)
	}
	if c.JSON {
		return usage.PrintJSON(c.Out, struct {
			Schema string              `json:"schema"`
			Hooks  []webhooks.Delivery `json:"hooks"`
		}{"posagent.hooks/1", list})
	}
	fmt.Fprintf(c.Out, "%-32s %-30s %-7s %5s %-6s %s\n", "ID", "EVENT", "STATE", "TRIES", "LAST", "URL")
	for _, d := range list {
		last := "-"
		if n := len(d.Attempts); n > 0 {
			if last = d.Attempts[n-1].Note; d.Attempts[n-1].Status != 0 {
				last = fmt.Sprint(d.Attempts[n-1].Status)
			}
		}
		fmt.Fprintf(c.Out, "%-32s %-30s %-7s %5d %-6s %s\n", d.Message, d.Event, d.State, len(d.Attempts), last, d.URL)
		if d.Due > time.Now().UnixMilli() && len(d.Attempts) > 0 && d.Paused == "" {
			fmt.Fprintf(c.Out, "  next at %s; at once: %s hooks replay %s\n", time.UnixMilli(d.Due).Format(time.TimeOnly), c.Program, d.Message)
		}
		if d.Paused != "" {
			fmt.Fprintf(c.Out, "  waits: %s; %s hooks resume %s\n", d.Paused, c.Program, d.URL)
		}
	}
	return nil
}
