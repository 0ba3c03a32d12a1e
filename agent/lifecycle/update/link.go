package update

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/theupdateframework/go-tuf/v2/metadata"

	"posagent/device/names"
)

// link reads the files of a repository.
type link interface {
	// open answers *metadata.ErrDownloadHTTP with 404 for a file that there is not.
	open(ctx context.Context, name string) (io.ReadCloser, error)
}

// open makes the link, and returns the address that names of files begin with.
func (s *Source) open() (base string, err error) {
	if s.Dir != "" {
		info, err := os.Stat(s.Dir)
		if err != nil || !info.IsDir() {
			return "", fmt.Errorf("%w: %s is no folder", ErrUnreachable, s.Dir)
		}
		s.link = folder(s.Dir)
		return "file:///", nil
	}
	u, err := url.Parse(s.URL)
	if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return "", fmt.Errorf("%w: %q is no address like https://updates.example/posagent", ErrUntrusted, s.URL)
	}
	if ip := net.ParseIP(u.Hostname()); u.Scheme != "https" && (u.Scheme != "http" || ip == nil || !ip.IsLoopback()) {
		return "", fmt.Errorf("%w: %s: want https, or a folder", ErrUntrusted, s.URL)
	}
	trust := &tls.Config{MinVersion: tls.VersionTLS12}
	if s.RootsFile != "" {
		pem, err := os.ReadFile(s.RootsFile)
		if err != nil {
			return "", err
		}
		if trust.RootCAs = x509.NewCertPool(); !trust.RootCAs.AppendCertsFromPEM(pem) {
			return "", fmt.Errorf("%s has no certificate", s.RootsFile)
		}
	}
	s.link = &web{agent: s.UserAgent, client: &http.Client{
		Transport: &http.Transport{
			DialContext: new(names.Finder).Dialer(net.Dialer{Timeout: 30 * time.Second, KeepAlive: 15 * time.Second}),
			Proxy:       http.ProxyFromEnvironment, TLSClientConfig: trust, TLSHandshakeTimeout: 15 * time.Second, ResponseHeaderTimeout: 30 * time.Second,
			DisableCompression: true, MaxResponseHeaderBytes: 64 << 10,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	return strings.TrimSuffix(s.URL, "/") + "/", nil
}

// web is a repository on a server.
type web struct {
	client *http.Client
	agent  string
}

func (w *web) open(ctx context.Context, name string) (io.ReadCloser, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, name, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("User-Agent", w.agent)
	resp, err := w.client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnreachable, cmp.Or(ctx.Err(), err))
	}
	if resp.StatusCode != http.StatusOK {
		resp.Body.Close()
		return nil, &metadata.ErrDownloadHTTP{StatusCode: resp.StatusCode, URL: name}
	}
	return resp.Body, nil
}

// folder is a repository on a stick.
type folder string

func (d folder) open(_ context.Context, name string) (io.ReadCloser, error) {
	name, err := url.PathUnescape(strings.TrimPrefix(name, "file:///"))
	if err != nil || !filepath.IsLocal(name) {
		return nil, fmt.Errorf("%w: it names %q", ErrUntrusted, name)
	}
	root, err := os.OpenRoot(string(d)) // no link leads out of it
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnreachable, err)
	}
	defer root.Close()
	info, err := root.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &metadata.ErrDownloadHTTP{StatusCode: http.StatusNotFound, URL: name}
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnreachable, err)
	}
	if !info.Mode().IsRegular() { // a pipe would never end
		return nil, fmt.Errorf("%w: %s is no file", ErrUntrusted, name)
	}
	return root.Open(name)
}

// fetcher reads metadata for the library.
type fetcher struct {
	ctx  context.Context //nolint:containedctx // the library's interface has none
	link link
	bad  error // of reaching it
}

// DownloadFile implements the library's interface.
func (f *fetcher) DownloadFile(name string, most int64, _ time.Duration) ([]byte, error) {
	in, err := f.link.open(f.ctx, name)
	if err != nil {
		if !errors.As(err, new(*metadata.ErrDownloadHTTP)) {
			f.bad = err
		}
		return nil, err
	}
	defer in.Close()
	data, err := io.ReadAll(io.LimitReader(in, most+1))
	if err != nil {
		f.bad = fmt.Errorf("%w: %w", ErrUnreachable, cmp.Or(f.ctx.Err(), err))
		return nil, f.bad
	}
	if int64(len(data)) > most {
		return nil, &metadata.ErrDownloadLengthMismatch{Msg: fmt.Sprintf("%s is longer than %d bytes", name, most)}
	}
	return data, nil
}

// judge says of an error of the library whether the repository was not reached, or is not trusted.
func (f *fetcher) judge(err error) error {
	var status *metadata.ErrDownloadHTTP
	switch {
	case f.bad != nil:
		return f.bad
	case errors.As(err, &status) && status.StatusCode != http.StatusNotFound:
		return fmt.Errorf("%w: it answered %d", ErrUnreachable, status.StatusCode)
	case errors.As(err, &status):
		return fmt.Errorf("%w: there is no repository, or a part of it is missing: %s", ErrUnreachable, status.URL)
	}
	return fmt.Errorf("%w: %w", ErrUntrusted, err)
}
