package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"
)

// reply is what the local port answered.
type reply struct {
	Status int
	Body   []byte
}

// call is the shop's own software at the terminal's local port.
func (s *story) call(ctx context.Context, method, path, contentType, body string) (reply, error) {
	token, err := os.ReadFile(s.path("terminal/port.token"))
	if err != nil {
		return reply{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, s.slow())
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, s.port+path, strings.NewReader(body))
	if err != nil {
		return reply{}, err
	}
	secret := strings.TrimSpace(string(token))
	req.Header.Set("Authorization", "Bearer "+secret)
	req.Header.Set("X-API-KEY", secret) // how payment links and hosted build are asked
	req.Header.Set("Correlation-Id", "0199a0c0-0000-7000-8000-000000000001")
	if body != "" {
		req.Header.Set("Content-Type", contentType)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return reply{}, err
	}
	defer resp.Body.Close()
	out := reply{Status: resp.StatusCode}
	if out.Body, err = io.ReadAll(io.LimitReader(resp.Body, 1<<20)); err != nil {
		return reply{}, err
	}
	return out, nil
}

// asks sends JSON, wants a status, and reads the answer into a value.
func (s *story) asks(ctx context.Context, want int, into any, method, path, body string) error {
	s.say("shop      │ %s", s.window.cut(method+" "+path+" "+hidden(body)))
	got, err := s.call(ctx, method, path, "application/json", body)
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	s.say("terminal  │ %d %s", got.Status, s.window.shorten(got.Body))
	if got.Status != want {
		return fmt.Errorf("%s %s: %d, want %d: %s", method, path, got.Status, want, got.Body)
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(got.Body, into)
}

// testCard is the sandbox's first card; the window shows it as the terminal's own logs would.
const testCard = "4111111111111111"

func hidden(body string) string { return strings.ReplaceAll(body, testCard, "411111******1111") }

// settles reads a path until a check is content with the answer.
func (s *story) settles(ctx context.Context, path string, ok func(reply) bool) (reply, error) {
	end := time.Now().Add(s.slow())
	for {
		got, err := s.call(ctx, http.MethodGet, path, "", "")
		if err != nil || ok(got) {
			return got, err
		}
		if time.Now().After(end) {
			return got, fmt.Errorf("GET %s after %s: %d %s", path, s.slow(), got.Status, got.Body)
		}
		select {
		case <-ctx.Done():
			return got, ctx.Err()
		case <-time.After(200 * time.Millisecond):
		}
	}
}
