package backend

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"posagent/agent/config"
	"posagent/cmd/usage"
	"posagent/device/file"
	"posagent/device/qr"
	"posagent/schemes/backend"
	"posagent/schemes/wire"
)

// Serving is what a backend needs that is to serve.
type Serving struct {
	Config   config.Config
	Dir      string        // its own
	Listen   string        // host:port
	Remedy   string        // what to do where it cannot listen
	Fleet    bool          // terminals may enrol
	Tolerate bool          // printed credentials on an address that other machines reach
	Drain    time.Duration // it serves on for so long after ctx has ended
	Engine   backend.Engine
	Log      *slog.Logger
	Monitor  string                    // host:port of the listener for figures, "" = none
	Requests *slog.Logger              // gets a line for each request; nil = there are none
	Version  string                    // of the program
	Ended    func(error) error         // gives an error of the store its exit code and its remedy
	Up       func(url, monitor string) // is called once it listens; monitor is "" where there is none
}

// Serve runs a backend until ctx ends. It fails with an exit code where it cannot listen or its store does not open.
func Serve(ctx context.Context, s Serving) error {
	cfg, log := s.Config, s.Log
	cred := cfg.Backend.Credentials
	if cred == (config.Auth{}) && cfg.Backend.FleetToken == "" {
		return usage.Fail(usage.ExitConfig, "backend: every credential is switched off, so that it would serve nobody: set one of [backend.credentials]")
	}
	if err := Exposed(cfg, s.Listen); err != nil && !s.Tolerate { // before anything can connect
		return s.guarded(s.Listen)
	}
	ln, err := net.Listen("tcp", s.Listen)
	if err != nil {
		return usage.Fail(usage.ExitFailed, "backend: %v (%s)", err, s.Remedy)
	}
	if err := s.guarded(ln.Addr().String()); err != nil { // a name may mean any address
		ln.Close()
		return err
	}
	watch, name, err := listenMonitor(s.Monitor)
	if err != nil {
		ln.Close()
		return err
	}
	if watch != nil {
		defer watch.ln.Close() // the server has closed it already where it ran
	}
	proxies, err := cfg.Backend.Proxies() // the configuration was checked
	if err != nil {
		ln.Close()
		return usage.Fail(usage.ExitConfig, "backend.trusted_proxies: %v", err)
	}
	url := "http://" + ln.Addr().String()
	b, err := backend.Open(ctx, backend.Config{
		Dir: s.Dir, Engine: s.Engine, Seed: cfg.Backend.Seed, WalletDelay: cfg.Backend.WalletDelay, SessionLife: cfg.Backend.SessionLife, TimeoutUnit: cfg.Methods.TimeoutUnit,
		PublicURL: cmp.Or(strings.TrimSuffix(cfg.Backend.PublicURL, "/"), url), Hosts: backendHosts(cfg, s.Listen), Log: log, HookAllow: cfg.Backend.WebhookAllow, LinkHook: cfg.Backend.LinkWebhook, StrictLinks: cfg.Backend.StrictLinks, StrictProofs: cfg.Backend.StrictProofs, QR: drawCode, MerchantNumber: cfg.Backend.MerchantNumber, MerchantUUID: cfg.Backend.MerchantUUID,
		Operator:    cfg.Operator.Name,
		Proxies:     proxies,
		Fleet:       s.Fleet,
		Requests:    s.Requests,
		Version:     s.Version,
		HookSecrets: slices.DeleteFunc([]wire.Secret{cfg.Backend.WebhookSecret, cfg.Backend.WebhookSecretOld}, func(s wire.Secret) bool { return s == "" }),
		Credentials: backend.Credentials{
			Bearer: cred.Bearer, ConsumerKey: cred.ConsumerKey.Reveal(), ConsumerSecret: cred.ConsumerSecret,
			ClientID: cred.ClientID.Reveal(), ClientSecret: cred.ClientSecret, Instance: cred.Instance, Secret: cred.Secret,
			APIKey: cred.APIKey, Operator: cfg.Backend.FleetToken,
		},
	})
	if err != nil {
		ln.Close()
		return s.Ended(err)
	}
	defer b.Close()
	if err := b.Init(ctx); err != nil {
		ln.Close()
		return s.Ended(err)
	}
	gone, err := announce(s.Dir, url)
	if err != nil {
		ln.Close()
		return usage.Fail(usage.ExitFailed, "%v", err)
	}
	defer gone()
	srv := backend.Server(b.Handler())
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return clean(b.Run(ctx)) })
	g.Go(func() error {
		if err := srv.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
			return err
		}
		return nil
	})
	g.Go(func() error {
		<-ctx.Done()
		b.Leave()
		<-time.After(s.Drain)
		grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		if watch != nil {
			defer watch.close(grace)
		}
		if srv.Shutdown(grace) != nil {
			return srv.Close()
		}
		return nil
	})
	at := ""
	if watch != nil {
		at = "http://" + watch.ln.Addr().String()
		g.Go(func() error { return watch.serve(b, name) })
	}
	s.Up(url, at)
	return g.Wait()
}

// backendHosts are the names the backend answers to: those of the configuration, and the one it was told to listen on.
func backendHosts(cfg config.Config, listen string) []string {
	host, _, err := net.SplitHostPort(listen)
	if err != nil || host == "" {
		return cfg.Backend.Hosts
	}
	return append(slices.Clone(cfg.Backend.Hosts), host)
}

// drawCode draws a text as a QR code that a telephone reads from a screen or from paper.
func drawCode(text string) ([]byte, error) {
	c, err := qr.New(text, qr.Options{})
	if err != nil {
		return nil, err
	}
	return c.PNG(8)
}

// clean turns the end that was asked for into no error.
func clean(err error) error {
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// addressFile is where a running backend writes its URL, in its directory.
const (
	addressFile = "address"
	maxAddress  = 4 << 10 // bytes
)

// announce writes a backend's URL into its directory for the verbs that ask it, and returns what takes it back.
func announce(dir, url string) (gone func(), err error) {
	path := filepath.Join(dir, addressFile)
	return func() { _ = os.Remove(path) }, file.Put(path, 0o600, []byte(url+"\n")) // left behind, it leads nowhere
}

// Running returns the URL of the backend that runs on a directory. It fails where none does.
func Running(dir string) (string, error) {
	data, _, err := file.Read(filepath.Join(dir, addressFile), file.NoFollow, maxAddress)
	if errors.Is(err, os.ErrNotExist) {
		return "", usage.Fail(usage.ExitNoBackend, "no backend runs on %s (posagent backend --state DIR starts one; --backend URL names one elsewhere)", dir)
	}
	return strings.TrimSpace(string(data)), err
}
