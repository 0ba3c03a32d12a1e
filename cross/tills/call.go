package tills

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
)

// call sends one request over a connection of its own, and returns the whole answer.
func (w Way) call(ctx context.Context, method, path string, header map[string]string, body []byte) (status int, data []byte, err error) {
	transport := &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return w.Dial(ctx) }}
	defer transport.CloseIdleConnections()
	scheme := "http://"
	if w.Roots != nil {
		roots, err := w.Roots()
		if err != nil {
			return 0, nil, err
		}
		scheme, transport.TLSClientConfig = "https://", &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
	}
	ctx, cancel := context.WithTimeout(ctx, w.Wait)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, scheme+w.Addr+path, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	for name, value := range header {
		req.Header.Set(name, value)
	}
	resp, err := transport.RoundTrip(req)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	if data, err = io.ReadAll(resp.Body); err != nil {
		return 0, nil, fmt.Errorf("half an answer: %w", err)
	}
	return resp.StatusCode, data, nil
}
