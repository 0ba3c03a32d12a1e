package disputes_test

import (
	"bytes"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	cases "posagent/schemes/backend/disputes"
	"posagent/schemes/backend/room/roomtest"
	"posagent/schemes/disputes"
	"posagent/schemes/disputes/disputestest"
	"posagent/schemes/money"
	"posagent/schemes/wire"
	"posagent/store"
)

const visa = "4111111111111111"

// bank sells on a site of its own, and finds what it has sold.
type bank struct {
	*roomtest.Site
	mu   sync.Mutex
	list []cases.Purchase
	fail error
}

func newBank(tb testing.TB) *bank {
	tb.Helper()
	return &bank{Site: roomtest.New(tb, time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC), cases.Schema())}
}

func (b *bank) name(pan wire.PAN) string { return "card-" + pan.Reveal()[12:] }

func (b *bank) find(_ store.Reader, s cases.Search) (out []cases.Purchase, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, p := range b.list {
		day := time.UnixMilli(p.AtMS).UTC().Format(disputes.DateLayout)
		if (s.ID == "" || s.ID == p.ID) && (s.Reference == "" || s.Reference == p.Reference || s.Reference == p.ID) && (s.Day == "" || s.Day == day) &&
			(s.Amount == 0 || s.Amount == p.Amount) && (s.Currency == "" || s.Currency == p.Currency) && (s.PAN.IsZero() || b.name(s.PAN) == p.Card) {
			out = append(out, p)
		}
	}
	return out, b.fail
}

func (b *bank) buy(amount money.Minor) cases.Purchase {
	b.mu.Lock()
	defer b.mu.Unlock()
	p := cases.Purchase{
		ID: fmt.Sprintf("%032d", len(b.list)+1), Reference: fmt.Sprintf("7400001%016d", len(b.list)+1), Card: "card-1111", Masked: wire.NewPAN(visa).Masked(),
		Brand: "Visa", Amount: amount, Left: amount, Currency: "EUR", AtMS: b.Now().UnixMilli(),
	}
	b.list = append(b.list, p)
	return p
}

func desk(tb testing.TB) (*cases.Cases, *bank) {
	tb.Helper()
	b := newBank(tb)
	return b.desk(tb), b
}

func (b *bank) desk(tb testing.TB) *cases.Cases {
	tb.Helper()
	c, err := cases.New(cases.Options{Options: b.Options("", "Shop"), Find: b.find, Card: b.name})
	require.NoError(tb, err)
	return c
}

func TestConformance(t *testing.T) {
	c, b := desk(t)
	disputestest.Run(t, disputestest.Fixture{
		Service: c, Keys: c,
		Buy: func(_ *testing.T, amount money.Minor) disputestest.Purchase {
			p := b.buy(amount)
			return disputestest.Purchase{ID: p.ID, PAN: wire.NewPAN(visa), Amount: amount, Currency: "EUR", Date: "2026-11-22"}
		},
		Refund: func(_ *testing.T, p disputestest.Purchase) {
			n, err := strconv.Atoi(strings.TrimLeft(p.ID, "0"))
			require.NoError(t, err)
			b.mu.Lock()
			defer b.mu.Unlock()
			b.list[n-1].Left = 0
		},
		Answer: func(*testing.T) { b.Pass(2 * time.Second) },
	})
}

func byID(p cases.Purchase) disputes.CreateRequest {
	return disputes.CreateRequest{OperatorTransactionID: p.ID, OperatorFraudReasonCode: "F001"}
}

// Ten thousand cases are read page by page, by queue and by day, each once and in order.
func TestTenThousandCases(t *testing.T) {
	const n = 10_000
	b := newBank(t) // not the medium is on trial
	var wg sync.WaitGroup
	b.list = make([]cases.Purchase, 0, n)
	for i := range n {
		b.buy(money.Minor(1000 + i))
	}
	all, index := b.list, map[string]cases.Purchase{}
	for _, p := range all {
		index[p.ID] = p
	}
	c, err := cases.New(cases.Options{Options: b.Options("", ""), Card: b.name, Find: func(_ store.Reader, s cases.Search) ([]cases.Purchase, error) {
		return []cases.Purchase{index[s.ID]}, nil
	}})
	require.NoError(t, err)
	for worker := range 50 {
		wg.Go(func() {
			for i := worker; i < n; i += 50 {
				if _, err := c.Create(t.Context(), "", byID(all[i])); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	var numbers []string // they rise, with gaps where a closure was run again
	q := disputes.QueueRequest{QueueID: int32(disputes.Issuer)}
	for pages := 1; ; pages++ {
		out, err := c.Queue(t.Context(), q)
		require.NoError(t, err)
		for _, one := range out.Cases {
			numbers = append(numbers, one.CaseNumber)
		}
		if q.NextPageKey = out.NextPageKey; out.More == disputes.No {
			require.Empty(t, out.NextPageKey)
			require.Equal(t, n/disputes.DefaultPage, pages)
			break
		}
		require.Len(t, out.Cases, disputes.DefaultPage)
	}
	require.Len(t, numbers, n)
	require.GreaterOrEqual(t, numbers[0], "500001")
	require.IsIncreasing(t, numbers) // six digits each
	var listed []string
	for l := (disputes.ListRequest{CreatedDate: "2026-11-22", Limit: 333}); ; {
		out, err := c.List(t.Context(), l)
		require.NoError(t, err)
		require.EqualValues(t, len(out.Cases), out.Count)
		for _, one := range out.Cases {
			listed = append(listed, one.CaseNumber)
		}
		if l.NextPageKey = out.NextPageKey; out.More == disputes.No {
			require.Len(t, out.Cases, n%333)
			break
		}
		require.Len(t, out.Cases, 333)
	}
	require.Equal(t, numbers, listed)
}

// A document of 10 MB goes from client to backend and back, and never more than a few pieces of it live in memory.
func TestTenMegabytesAndBack(t *testing.T) {
	const size = 10_000_000
	c, b := desk(t)
	dir := t.TempDir()
	srv := httptest.NewServer(disputes.Handler(c, c, disputes.HandlerOptions{Dir: dir}))
	t.Cleanup(srv.Close)
	watch := &watch{next: srv.Client()}
	client := &disputes.Client{BaseURL: srv.URL, Doer: watch, Dir: dir}

	path := filepath.Join(dir, "document")
	require.NoError(t, os.WriteFile(path, bytes.Repeat([]byte("0123456789"), size/10), 0o600))
	sum := disputes.Bytes(bytes.Repeat([]byte("0123456789"), size/10)).SHA256
	p := b.buy(1250)
	req := byID(p)
	req.DocumentsList = []disputes.Document{{ID: "large.bin", MimeType: "application/octet-stream", Binary: disputes.Binary{
		Size: size, SHA256: sum, Open: func() (io.ReadCloser, error) { return os.Open(path) },
	}}}
	warm := byID(b.buy(1251))
	warm.DocumentsList = []disputes.Document{{ID: "small", Binary: disputes.Bytes(make([]byte, 1<<20))}}
	_, err := client.Create(t.Context(), "", warm)
	require.NoError(t, err)
	warm = disputes.CreateRequest{}
	defer debug.SetGCPercent(debug.SetGCPercent(20)) // what is free counts as used until it is collected
	watch.base, watch.peak, watch.looks = heap(), 0, 0
	out, err := client.Create(t.Context(), wire.NewKey(), req)
	require.NoError(t, err)
	require.Equal(t, disputes.Done, out.ResponseCode)
	f, err := client.Document(t.Context(), "large.bin", size)
	require.NoError(t, err)
	require.EqualValues(t, size, f.Content.Size)
	require.Equal(t, sum, f.Content.SHA256)
	require.NoError(t, f.Close())
	require.Greater(t, watch.looks, 20)
	t.Logf("at most %d kB of memory in use beside what was before, %d looks", watch.peak/1000, watch.looks)
	require.Less(t, watch.peak, int64(size*8/10), "bytes; as text the document has 13.3 MB")
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, left, 1, "no file is left behind")
}

// watch looks at the memory at every MiB of a body, in both directions.
type watch struct {
	next  wire.Doer
	base  uint64
	peak  int64
	looks int
	mu    sync.Mutex
}

func (w *watch) look() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.looks++
	w.peak = max(w.peak, int64(heap())-int64(w.base))
}

func (w *watch) Do(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		r.Body = &watched{ReadCloser: r.Body, w: w}
	}
	resp, err := w.next.Do(r)
	if err == nil {
		resp.Body = &watched{ReadCloser: resp.Body, w: w}
	}
	return resp, err
}

type watched struct {
	io.ReadCloser
	w *watch
	n int
}

func (r *watched) Read(p []byte) (int, error) {
	n, err := r.ReadCloser.Read(p)
	if r.n += n; r.n > 1<<20 {
		r.n = 0
		r.w.look()
	}
	return n, err
}

// heap is what lives in memory, and what was dropped while it was counted.
func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// S1 7, DIS0001E: the service fails, nothing is kept, and a caller learns no more than that.
func TestSystemError(t *testing.T) {
	c, b := desk(t)
	srv := httptest.NewServer(disputes.Handler(c, c, disputes.HandlerOptions{}))
	t.Cleanup(srv.Close)
	client := &disputes.Client{BaseURL: srv.URL, Doer: srv.Client()}
	p := b.buy(1250)
	b.fail = errors.New("dsn=secret")
	key := wire.NewKey()
	_, err := client.Create(t.Context(), key, byID(p))
	require.Equal(t, disputes.SystemError, wire.ReasonOf(err))
	require.Equal(t, wire.Internal, wire.CodeOf(err))
	require.ErrorContains(t, err, "System error")
	require.NotContains(t, err.Error(), "secret")
	b.fail = nil
	out, err := client.Create(t.Context(), key, byID(p))
	require.NoError(t, err)
	require.Equal(t, "500001", out.CaseNumber)
}

// The pair is made once and outlives a restart; its private half, names, notes and documents are in no file in clear.
func TestWhatIsSealed(t *testing.T) {
	c, b := desk(t)
	require.NoError(t, c.Init(t.Context()))
	first, err := c.PublicKey(t.Context())
	require.NoError(t, err)
	require.NoError(t, c.Init(t.Context()))
	p := b.buy(1250)
	number, err := first.Seal(wire.NewPAN(visa))
	require.NoError(t, err)
	req := byID(p)
	req.CardNumber, req.CardHolderName, req.CardExpiryDate = number, "canary-holder", "2031-07-19"
	req.InterimAccount, req.DocumentsList = "canary-account", []disputes.Document{{ID: "d", Binary: disputes.Bytes([]byte("canary-document"))}}
	out, err := c.Create(t.Context(), wire.NewKey(), req)
	require.NoError(t, err)
	_, err = c.Update(t.Context(), "", out.CaseNumber, disputes.UpdateRequest{
		PrivateNotes: "canary-notes", AccessToken: "canary-token", Password: "canary-password", UserID: "canary-user", CloseDispute: disputes.Yes,
	})
	require.NoError(t, err)

	b.Setup(func() { c = b.desk(t) })
	b.Restart()
	key, err := c.PublicKey(t.Context())
	require.NoError(t, err)
	require.Equal(t, first, key)
	block, _ := pem.Decode([]byte(key.PEM))
	require.NotNil(t, block)
	public, err := x509.ParsePKIXPublicKey(block.Bytes)
	require.NoError(t, err)
	var kept []byte
	require.NoError(t, b.DB.Read(t.Context(), func(r store.Reader) error { return r.QueryRow(`SELECT private FROM cases_key`).Scan(&kept) }))
	require.Greater(t, len(kept), 1000)
	require.False(t, bytes.Contains(kept, public.(*rsa.PublicKey).N.Bytes()), "every form of a private key has the modulus")
	found, err := c.List(t.Context(), disputes.ListRequest{CardNumber: number})
	require.NoError(t, err)
	require.Len(t, found.Cases, 1)
	f, err := c.Document(t.Context(), "d", 0)
	require.NoError(t, err)
	r, err := f.Content.Open()
	require.NoError(t, err)
	data, err := io.ReadAll(r)
	require.NoError(t, err)
	require.Equal(t, "canary-document", string(data))

	text := b.Text()
	for _, s := range []string{"canary", visa, number.Reveal(), "2031-07-19", "PRIVATE KEY"} {
		require.False(t, strings.Contains(text, s), s)
	}
}

// What an upload left behind goes away: that of a refused or repeated request at once, that of a process that ended in between
// after an hour. What a case has stays.
func TestUnclaimedUploadsAreDropped(t *testing.T) {
	c, b := desk(t)
	text := disputes.Document{ID: "d", Binary: disputes.Bytes([]byte("text"))}
	with := func(p cases.Purchase) disputes.CreateRequest {
		req := byID(p)
		req.DocumentsList = []disputes.Document{text, {ID: "empty", Binary: disputes.Bytes(nil)}}
		return req
	}
	count := func() (n int64) {
		require.NoError(t, b.DB.Read(t.Context(), func(r store.Reader) error { return r.QueryRow(`SELECT COUNT(*) FROM cases_file`).Scan(&n) }))
		return n
	}
	_, err := c.Create(t.Context(), "", with(cases.Purchase{ID: "none"}))
	require.Equal(t, disputes.NoMatch, wire.ReasonOf(err))
	require.Zero(t, count())
	key, first := wire.NewKey(), with(b.buy(1250))
	for range 2 {
		_, err = c.Create(t.Context(), key, first)
		require.NoError(t, err)
		require.EqualValues(t, 1, count())
	}
	_, err = c.Create(t.Context(), "", first)
	require.Equal(t, disputes.Exists, wire.ReasonOf(err))
	other := first
	other.Notes = "another"
	_, err = c.Create(t.Context(), key, other)
	require.Equal(t, wire.KeyReused, wire.CodeOf(err))
	_, err = c.Update(t.Context(), "", "499999", disputes.UpdateRequest{DocumentsList: []disputes.Document{text}})
	require.Equal(t, wire.NotFound, wire.CodeOf(err))
	require.EqualValues(t, 1, count())

	require.NoError(t, b.DB.Write(t.Context(), func(tx store.Tx) error {
		_, err := tx.Exec(`INSERT INTO cases_file (document, seq, data, claimed, at_ms) VALUES ('lost', 0, x'00', 0, ?)`, b.Now().UnixMilli())
		return err
	}))
	_, err = c.Create(t.Context(), "", with(b.buy(1251)))
	require.NoError(t, err)
	require.EqualValues(t, 3, count(), "it may be of a request under way")
	b.Pass(2 * time.Hour)
	_, err = c.Create(t.Context(), "", with(b.buy(1252)))
	require.NoError(t, err)
	require.EqualValues(t, 3, count(), "the lost one is gone")
}

// A document is asked for by the id that a list gives, or by the id that its sender chose. What two documents are called
// names neither, and no document is called like another's id.
func TestField2_S11_OneNameOneDocument(t *testing.T) {
	c, b := desk(t)
	send := func(amount money.Minor, name, text string) (disputes.CreateReply, string) {
		req := byID(b.buy(amount))
		req.DocumentsList = []disputes.Document{{ID: name, Binary: disputes.Bytes([]byte(text))}}
		out, err := c.Create(t.Context(), "", req)
		require.NoError(t, err)
		list, err := c.List(t.Context(), disputes.ListRequest{CaseNumber: out.CaseNumber})
		require.NoError(t, err)
		if len(list.Cases[0].Documents) == 0 {
			return out, ""
		}
		return out, list.Cases[0].Documents[0].ID
	}
	read := func(name string) string {
		f, err := c.Document(t.Context(), name, 0)
		require.NoError(t, err)
		r, err := f.Content.Open()
		require.NoError(t, err)
		data, err := io.ReadAll(r)
		require.NoError(t, err)
		return string(data)
	}
	_, mine := send(1000, "receipt", "mine")
	require.Equal(t, "mine", read("receipt"))
	_, theirs := send(1001, "receipt", "theirs")
	_, err := c.Document(t.Context(), "receipt", 0)
	require.Equal(t, wire.Conflict, wire.CodeOf(err), "%v", err)
	require.Equal(t, "mine", read(mine))
	require.Equal(t, "theirs", read(theirs))
	out, none := send(1002, mine, "called like another's id")
	require.Equal(t, disputes.Partial, out.ResponseCode)
	require.Empty(t, none)
	require.Equal(t, "mine", read(mine))
}
