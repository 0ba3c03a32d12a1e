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
			name: name, args: "REFERENCE|URL", short: short, flags: flags,
			examples: []string{"posagent wallet " + name + " http://127.0.0.1:8481/wallet/…", "posagent wallet " + name + " REFERENCE --backend http://127.0.0.1:8481"},
			run:      func(ctx context.Context, c *call) error { return walletAct(ctx, c, name) },
		}
	}
	return command{
		name: "wallet", short: "play the customer's wallet against the embedded backend",
		long:     "The URL is what the QR code says; the reference is the one `posagent sale list` prints.",
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
	target, err := walletURL(c.args[0], c.opts.(*walletOptions).backend, cfg.Upstream.Base, cfg.Backend.Listen)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, target+"/"+verb, nil)
	if err != nil {
		return fail(exitUsage, "%v", err)
	}
	req.Header.Set("Authorization", "Bearer "+cfg.Backend.Credentials.Bearer.Reveal())
	req.Header.Set("Accept", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return fail(exitNoBackend, "no backend at %s: %v (posagent backend starts one)", target, err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	if err != nil {
		return err
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
		_, err = c.out.Write(body)
		return err
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

// walletURL finds the wallet page of what the caller named.
func walletURL(what, backend, upstream, listen string) (string, error) {
	if u, err := url.Parse(what); err == nil && (u.Scheme == "http" || u.Scheme == "https") {
		return strings.TrimSuffix(what, "/"), nil
	}
	for _, base := range []string{backend, upstream, "http://" + listen} {
		if base != "" && base != "http://" {
			if len(what) == 36 { // a sale's id: its reference is the same without dashes
				what = strings.ReplaceAll(what, "-", "")
			}
			return strings.TrimSuffix(base, "/") + "/wallet/" + url.PathEscape(what), nil
		}
	}
	return "", fail(exitUsage, "which backend? give --backend URL")
}
