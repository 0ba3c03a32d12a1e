package salesapi_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"posagent/cross/need"
	"posagent/schemes/money"
)

// full connects a client whose receive buffer is full: its TCP acknowledges nothing more until it
// reads. The server's TCP takes what is written to it all the same.
func (x *rig) full() net.Conn {
	x.t.Helper()
	d := net.Dialer{Control: func(_, _ string, raw syscall.RawConn) (err error) {
		fault := raw.Control(func(fd uintptr) { err = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_RCVBUF, 1) })
		if fault != nil {
			return fault
		}
		return err
	}}
	conn, err := d.DialContext(x.t.Context(), "tcp", x.addr)
	require.NoError(x.t, err)
	x.t.Cleanup(func() { _ = conn.Close() })
	_, err = conn.Write(bytesOf(x.t, x.request("alpha", "GET", "/agent/v1/openapi.json", "", "")))
	require.NoError(x.t, err)
	need.Until(x.t, "the receive buffer is full", func() bool { return waiting(x.t, conn) > 0 })
	return conn
}

// waiting counts the bytes that a connection has received and nobody has read.
func waiting(t *testing.T, conn net.Conn) (n int) {
	raw, err := conn.(*net.TCPConn).SyscallConn()
	require.NoError(t, err)
	fault := raw.Control(func(fd uintptr) { n, err = unix.IoctlGetInt(int(fd), unix.SIOCINQ) })
	require.NoError(t, fault)
	require.NoError(t, err)
	return n
}

func bytesOf(t *testing.T, req *http.Request) []byte {
	var b bytes.Buffer
	require.NoError(t, req.Write(&b))
	return b.Bytes()
}

// An answer that was written and that the client's TCP has not acknowledged has told nothing.
func TestOnlyTheAcknowledgementTells(t *testing.T) {
	x := open(t, 20*time.Millisecond, 0)
	conn := x.full()
	_, err := conn.Write(bytesOf(t, x.request("alpha", "POST", "/agent/v1/sales?wait=60s", "k1", `{"amount":1250}`)))
	require.NoError(t, err)
	need.Until(t, "a sale is begun", func() bool { return x.sales() == 1 })
	id := x.newest()
	var phase, told string
	need.Until(t, "the desk knows what became of the telling", func() bool { phase, told = x.phase(id); return told != "" })
	require.Equal(t, []string{"UNCONFIRMED", "lost"}, []string{phase, told})

	r := bufio.NewReader(conn)
	for _, want := range []string{"openapi", id} { // it reads again, and nothing was thrown away
		resp, err := http.ReadResponse(r, nil)
		require.NoError(t, err)
		body, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		require.Contains(t, string(body), want)
	}
	found := x.ask("alpha", "GET", "/agent/v1/sales?key=k1", "", "")
	require.Equal(t, "approved", found.sale(t).Outcome, found.body)
	x.reaches(id, "CONFIRMED")
}

// A client that gave its request up and was told that nothing will be done under its key has nothing
// done: also where the request had reached the terminal, and waited.
func TestNothingIsDoneAfterNotFound(t *testing.T) {
	x := open(t, 20*time.Millisecond, 0)
	conn := x.full() // the end of its sale waits for an acknowledgement, and the next request for that
	_, err := conn.Write(bytesOf(t, x.request("alpha", "POST", "/agent/v1/sales?wait=60s", "k1", `{"amount":1250}`)))
	require.NoError(t, err)
	need.Until(t, "a sale is begun", func() bool { return x.sales() == 1 })
	id := x.newest()
	need.Until(t, "the approval", func() bool { return x.until("eyes", id, func(sale) bool { return true }).Outcome == "approved" })

	var next []net.Conn
	for i := range 4 {
		next = append(next, x.raw(x.request("alpha", "POST", "/agent/v1/sales", "gone-"+number(int64(i)), `{"amount":700}`)))
	}
	for i := range next { // given up later and sooner
		require.NoError(t, next[len(next)-1-i].Close())
		require.Equal(t, 200, x.ask("alpha", "GET", "/agent/v1/sales?limit=1", "", "").status)
	}
	for i := range 4 {
		r := x.ask("alpha", "GET", "/agent/v1/sales?key=gone-"+number(int64(i)), "", "")
		require.Equal(t, []any{404, "not-found"}, []any{r.status, r.problem(t)}, r.body)
	}
	need.Until(t, "the outcome counts as lost", func() bool { _, told := x.phase(id); return told == "lost" })
	require.Equal(t, 200, x.sell("alpha", "k3", "300").status)
	require.Equal(t, 2, x.sales())
	v := x.sell("alpha", "gone-3", "700")
	require.Equal(t, []any{200, "approved"}, []any{v.status, v.sale(t).Outcome}, "the key is free: %s", v.body)
}

// A request that is cut at any byte begins no sale, and asking by its key says so. The same key then
// sells once.
func TestRequestCutAtEveryByte(t *testing.T) {
	x := open(t, time.Millisecond, 0)
	whole := bytesOf(t, x.request("alpha", "POST", "/agent/v1/sales?wait=1s", "cut-000", `{"amount":100}`))
	sold := 0
	for n := range len(whole) {
		key := fmt.Sprintf("cut-%03d", n)
		conn, err := net.Dial("tcp", x.addr)
		require.NoError(t, err)
		_, err = conn.Write(bytes.Replace(whole, []byte("cut-000"), []byte(key), 1)[:n])
		require.NoError(t, err)
		require.NoError(t, conn.(*net.TCPConn).SetLinger(n%2-1)) // FIN, RST
		require.NoError(t, conn.Close())
		r := x.ask("alpha", "GET", "/agent/v1/sales?key="+key, "", "")
		require.Equal(t, []any{404, "not-found"}, []any{r.status, r.problem(t)}, n)
		if n%40 == 0 || n == len(whole)-1 {
			sold++
			r = x.sell("alpha", key, "100")
			require.Equal(t, []any{200, "approved"}, []any{r.status, r.sale(t).Outcome}, "%d: %s", n, r.body)
		}
	}
	require.Equal(t, sold, x.sales())
	x.agree(sold, 100)
}

// agree compares the books of the backend with what was sold: so many payments, each of one amount.
func (x *rig) agree(sales int, each money.Minor) {
	x.t.Helper()
	books, err := x.backend.Books(x.t.Context())
	require.NoError(x.t, err)
	require.Len(x.t, books, sales)
	for _, b := range books {
		require.Equal(x.t, []any{"payment", each, "COMMIT"}, []any{b.Type, b.Amount, b.AccountState}, "%+v", b)
	}
}
