package usage

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// sink is a writer that tests read while others write.
type sink struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (s *sink) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.buf.Write(p)
}

func (s *sink) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.buf.String()
}

// libraries directs package log as a main does, until the test ends.
func libraries(t *testing.T) *sink {
	t.Helper()
	flags := log.Flags()
	t.Cleanup(func() { log.SetFlags(flags); log.SetOutput(os.Stderr) })
	s := &sink{}
	Libraries(s)
	return s
}

// TestField2_N3AnAnswerThatNobodyAskedForStaysSecret: a gateway answered twice on a kept connection, and Go's client printed the second
// answer: an access token, or what the customer has paid with, in clear.
func TestField2_N3AnAnswerThatNobodyAskedForStaysSecret(t *testing.T) {
	const secret = "1795921072840.a3910b37c78200fad198310ad6c9905e"
	out := libraries(t)
	synctest.Test(t, func(t *testing.T) {
		near, far := net.Pipe()
		answer := fmt.Sprintf("HTTP/1.1 200 X\r\nX-Token: %s\r\nContent-Length: %d\r\n\r\n%s", secret, len(secret), secret)
		go func() {
			_, err := http.ReadRequest(bufio.NewReader(far))
			if err == nil {
				_, _ = io.WriteString(far, answer)
				time.Sleep(time.Second)
				_, _ = io.WriteString(far, answer)
			}
			_ = far.Close()
		}()
		tr := &http.Transport{Dial: func(string, string) (net.Conn, error) { return near, nil }}
		resp, err := (&http.Client{Transport: tr}).Get("http://backend/token")
		require.NoError(t, err)
		_, err = io.Copy(io.Discard, resp.Body)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		time.Sleep(2 * time.Second)
		tr.CloseIdleConnections()
		synctest.Wait()
	})
	require.Equal(t, "level=WARN msg=\"a library says\" text=\"Unsolicited response received on idle HTTP channel starting with\"\n", out.String())
}

// What libraries print: its cause stays, what came over a network goes, and a panic keeps its stack.
func TestField2_N3WhatLibrariesPrint(t *testing.T) {
	for printed, want := range map[string]string{
		"http: TLS handshake error from 192.0.2.7:40312: EOF":                          "http: TLS handshake error from … EOF",
		"http: URL query contains semicolon, which is no longer a supported separator": "http: URL query contains semicolon, which is no longer a supported separator",
		"token eyJhbGciOiJIUzI1NiJ9.abc for 4111111111111111":                          "token … for …",
		"key abcdefghijklmnopqrstuvwxyz":                                               "key …",
		"got {\"pan\":\"4111111111111111\"}":                                           "got …",
		strings.Repeat("word ", 60):                                                    strings.Repeat("word ", 40) + "…",
	} {
		out := libraries(t)
		log.Print(printed)
		require.Equal(t, "level=WARN msg=\"a library says\" text=\""+want+"\"\n", out.String())
	}
	out := libraries(t)
	log.Print("http: panic serving 127.0.0.1:1234: secret-4711\ngoroutine 7 [running]:\nmain.handler()")
	require.NotContains(t, out.String(), "4711")
	require.Contains(t, out.String(), "\ngoroutine 7 [running]:\nmain.handler()\n")
}
