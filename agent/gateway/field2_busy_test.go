package gateway_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/gateway"
	"posagent/agent/outbox"
	"posagent/schemes/paylinks"
)

// A write about a link's transaction meets an answer that is nobody's word, and the transaction is read as it was: it is sent again, and
// done once. Every such answer, for as long as it takes.
func TestField2_M13WhatProvablyDidNothingIsSentAgain(t *testing.T) {
	for _, act := range acts {
		for _, status := range []int{408, 425, 429, 500, 502, 503, 504} {
			for kind, text := range map[string]string{"text/html": "", "application/json": `{"status":"error","message":"An error occurred: try again later"}`} {
				t.Run(fmt.Sprint(act.name, " ", status, " ", kind), func(t *testing.T) {
					inShop(t, gateway.Options{}, func(t *testing.T, s *shop) {
						var change []func(*paylinks.CreateRequest)
						if act.change != nil {
							change = append(change, act.change)
						}
						tx := s.paid(change...)
						busy := 3
						s.cable.set(false, func(r *http.Request, answer func() (*http.Response, error)) (*http.Response, error) {
							if r.Method == http.MethodGet || busy == 0 {
								return answer()
							}
							busy--
							return &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {kind}}, Body: io.NopCloser(strings.NewReader(text))}, nil
						})
						_, op, err := act.do(t.Context(), s.front.Transactions(), "k", tx.ID)
						require.NoError(t, err)
						require.NotNil(t, op)
						s.pass(20 * time.Minute)
						s.is(op.Key, outbox.Done)
						require.Zero(t, busy)
					})
				})
			}
		}
	}
}
