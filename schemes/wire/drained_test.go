package wire_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/schemes/wire"
)

// TestField2_S6AnEarlyRefusalIsRead: a client that sends a large body whole before it reads has the refusal that came meanwhile, and no
// reset. The kind: a body with its length and in chunks, refused before a byte of it was read, after some, and by its length.
func TestField2_S6AnEarlyRefusalIsRead(t *testing.T) {
	const size = 16 << 20
	for name, refuse := range map[string]func(w http.ResponseWriter, r *http.Request){
		"before a byte was read": func(http.ResponseWriter, *http.Request) {},
		"after some":             func(_ http.ResponseWriter, r *http.Request) { _, _ = io.CopyN(io.Discard, r.Body, 100<<10) },
		"above its limit": func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, http.MaxBytesReader(w, r.Body, 1<<20))
		},
	} {
		for _, chunked := range []bool{false, true} {
			t.Run(name+" "+strconv.FormatBool(chunked), func(t *testing.T) {
				srv := httptest.NewServer(wire.Drained(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					refuse(w, r)
					wire.WriteProblem(w, r, nil, wire.Errorf(wire.Unauthorized, "", "no"), nil)
				})))
				defer srv.Close()
				conn, err := net.Dial("tcp", srv.Listener.Addr().String())
				require.NoError(t, err)
				defer conn.Close()
				head := "POST / HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
				if chunked {
					head += "Transfer-Encoding: chunked\r\n\r\n" + strconv.FormatInt(size, 16) + "\r\n"
				} else {
					head += "Content-Length: " + strconv.Itoa(size) + "\r\n\r\n"
				}
				_, err = io.WriteString(conn, head)
				require.NoError(t, err)
				_, err = conn.Write(bytes.Repeat([]byte("x"), size))
				require.NoError(t, err, "the whole body is sent")
				if chunked {
					_, err = io.WriteString(conn, "\r\n0\r\n\r\n")
					require.NoError(t, err)
				}
				resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
				require.NoError(t, err, "the answer is read")
				defer resp.Body.Close()
				require.Equal(t, http.StatusUnauthorized, resp.StatusCode)
				text, err := io.ReadAll(resp.Body)
				require.NoError(t, err)
				require.Contains(t, string(text), `"status":401`)
			})
		}
	}
}

// nothingDone is an error of a store whose COMMIT was not sent.
type nothingDone struct{ error }

func (nothingDone) NothingDone() bool { return true }

// TestField2_G8NothingWasBegunIs503: a store that was out of reach before anything was done is 503 with Retry-After, and not 500.
func TestField2_G8NothingWasBegunIs503(t *testing.T) {
	err := wire.AsError("payments.create", fmt.Errorf("insert: %w", nothingDone{errors.New("no server")}))
	rec := httptest.NewRecorder()
	wire.WriteProblem(rec, httptest.NewRequest(http.MethodPost, "/", nil), nil, err, nil)
	require.Equal(t, http.StatusServiceUnavailable, rec.Code)
	require.NotEmpty(t, rec.Header().Get("Retry-After"))
	require.NotContains(t, rec.Body.String(), "no server")
	require.Equal(t, wire.Internal, wire.AsError("payments.create", errors.New("no server")).Code)
}
