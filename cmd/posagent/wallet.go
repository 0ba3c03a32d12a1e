package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"posagent/cmd/usage"
)

type walletOptions struct {
	backend string
}

func walletCommand() command {
	flags := func(fs *flag.FlagSet) any {
		o := &walletOptions{}
		fs.StringVar(&o.backend, "backend", "", "`URL` of the embedded backend (default: [upstream] base, else [backend] listen)")
		return o
	}
	verb := func(name, short string) command {
		return command{
			name: name, args: "REFERENCE|URL", short: short, flags: flags, json: []string{"posagent.wallet/1"},
			examples: []string{"posagent wallet " + name + " http://127.0.0.1:8481/wallet/…", "posagent wallet " + name + " REFERENCE --backend http://127.0.0.1:8481"},
			run:      func(ctx context.Context, c *call) error { return walletAct(ctx, c, name) },
		}
	}
	return command{
		name: "wallet", short: "play the customer's wallet against the embedded backend",
		long: "The URL is what the QR code says; the reference is the one `posagent sale list` prints, or a payment link's " +
			"referenceId or hash.",
		examples: []string{"posagent wallet pay REFERENCE", "posagent wallet decline REFERENCE"},
		sub:      []command{verb("pay", "pay the sale"), verb("decline", "refuse the sale")},
	}
}

func walletAct(ctx context.Context, c *call, verb string) error {
	if len(c.args) != 1 {
		return fail(exitUsage, "%s: want one reference or URL (posagent sale list prints the references)", c.path)
	}
	cfg, err := loadConfig(c)
	if err != nil {
		return err
	}
	targets, err := walletURLs(c.args[0], c.opts.(*walletOptions).backend, cfg.Upstream.Base, cfg.Backend.Listen)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	var resp *http.Response
	var body []byte
	for _, target := range targets {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, target+"/"+verb, nil)
		if err != nil {
			return fail(exitUsage, "%v", err)
		}
		req.Header.Set("Authorization", "Bearer "+cfg.Backend.Credentials.Bearer.Reveal())
		req.Header.Set("Accept", "application/json")
		if resp, err = http.DefaultClient.Do(req); err != nil {
			return fail(exitNoBackend, "no backend at %s: %v (posagent backend starts one)", target, err)
		}
		body, err = io.ReadAll(io.LimitReader(resp.Body, 64<<10))
		_ = resp.Body.Close() // it was read to its end
		if err != nil {
			return err
		}
		if resp.StatusCode != http.StatusNotFound {
			break
		}
	}
	switch {
	case resp.StatusCode == http.StatusUnauthorized:
		return fail(exitAuth, "the backend refused the credentials: set [backend.credentials] bearer")
	case resp.StatusCode == http.StatusNotFound:
		return fail(exitFailed, "the backend knows no payment %q (posagent sale list shows the references)", c.args[0])
	case resp.StatusCode != http.StatusOK:
		return fail(exitFailed, "the backend answered %s: %s", resp.Status, strings.TrimSpace(string(body)))
	}
	if c.json {
		return usage.PrintReply(c.out, "posagent.wallet/1", body)
	}
	var v struct {
		State string `json:"state"`
	}
	if err := json.Unmarshal(body, &v); err != nil {
		return fail(exitFailed, "the backend's answer is not JSON: %v", err)
	}
	fmt.Fprintln(c.out, v.State)
	return nil
}

// walletURLs finds the pages that what the caller named may have: a wallet's, then a payment link's.
func walletURLs(what, backend, upstream, listen string) ([]string, error) {
	if u, err := url.Parse(what); err == nil && (u.Scheme == "http" || u.Scheme == "https") {
		u.RawQuery, u.Fragment = "", ""
		return []string{strings.TrimSuffix(u.String(), "/")}, nil
	}
	for _, base := range []string{backend, upstream, "http://" + listen} {
		if base == "" || base == "http://" {
			continue
		}
		base, ref := strings.TrimSuffix(base, "/"), what
		if len(ref) == 36 { // a sale's id: its reference is the same without dashes
			ref = strings.ReplaceAll(ref, "-", "")
		}
		return []string{base + "/wallet/" + url.PathEscape(ref), base + "/pay/" + url.PathEscape(ref), base + "/pay/" + url.PathEscape(what)}, nil
	}
	return nil, fail(exitUsage, "which backend? give --backend URL")
}
