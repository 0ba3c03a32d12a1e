package disputes_test

import (
	"context"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"hash"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/schemes/disputes"
	"posagent/schemes/wire"
)

// The whole matrix: nothing leaves the closed queue, and only these moves lead anywhere.
func TestQueues(t *testing.T) {
	type row struct {
		from           disputes.Queue
		move           disputes.Move
		straight, lost bool
	}
	want := map[row]disputes.Queue{}
	for _, straight := range []bool{false, true} {
		for _, lost := range []bool{false, true} {
			for _, q := range disputes.Queues() {
				if q == disputes.Closed {
					continue
				}
				want[row{q, disputes.Close, straight, lost}] = disputes.Closed
				want[row{q, disputes.Prepare, straight, lost}] = q
			}
			want[row{disputes.Issuer, disputes.Prepare, straight, lost}] = disputes.AwaitingSubmission
			for _, q := range []disputes.Queue{disputes.Issuer, disputes.AwaitingSubmission} {
				to := disputes.FirstLineIssuer
				if straight {
					to = disputes.FirstLineOperator
				}
				if lost {
					to = disputes.NotPossible
				}
				want[row{q, disputes.Submit, straight, lost}] = to
			}
			want[row{disputes.AwaitingFeedback, disputes.Acknowledge, straight, lost}] = disputes.Closed
			want[row{disputes.AwaitingFeedback, disputes.Reject, straight, lost}] = disputes.FirstLineIssuer
			want[row{disputes.FirstLineIssuer, disputes.Answer, straight, lost}] = disputes.AwaitingFeedback
			want[row{disputes.FirstLineOperator, disputes.Answer, straight, lost}] = disputes.AwaitingFeedback
			for _, q := range disputes.Queues() {
				require.NotEmpty(t, q.Name())
				for m := disputes.Prepare; m <= disputes.Answer; m++ {
					to, ok := disputes.Next(q, m, straight, lost)
					at := row{q, m, straight, lost}
					next, good := want[at]
					require.Equal(t, good, ok, "%v", at)
					if good {
						require.Equal(t, next, to, "%v", at)
					}
				}
			}
		}
	}
}

func TestCardNumbersAreReadWithThePrivateKeyOnly(t *testing.T) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	public, err := disputes.Publish(&key.PublicKey)
	require.NoError(t, err)
	const visa = "4111111111111111"
	sealed, err := public.Seal(wire.NewPAN(visa))
	require.NoError(t, err)
	again, err := public.Seal(wire.NewPAN(visa))
	require.NoError(t, err)
	require.NotEqual(t, sealed.Reveal(), again.Reveal())
	pan, err := disputes.Unseal(key, sealed)
	require.NoError(t, err)
	require.Equal(t, visa, pan.Reveal())

	write := func(h hash.Hash, text string) wire.Secret {
		data, err := rsa.EncryptOAEP(h, rand.Reader, &key.PublicKey, []byte(text), nil)
		require.NoError(t, err)
		return wire.Secret(base64.StdEncoding.EncodeToString(data))
	}
	mixed, err := rsa.EncryptOAEPWithOptions(rand.Reader, &key.PublicKey, []byte(visa), &rsa.OAEPOptions{Hash: crypto.SHA256, MGFHash: crypto.SHA1})
	require.NoError(t, err)
	for name, s := range map[string]wire.Secret{"sha-1": write(sha1.New(), visa), "sha-256": write(sha256.New(), visa), "sha-256 over sha-1": wire.Secret(base64.StdEncoding.EncodeToString(mixed))} {
		pan, err := disputes.Unseal(key, s)
		require.NoError(t, err, name)
		require.Equal(t, visa, pan.Reveal(), name)
	}
	other, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	_, err = disputes.Unseal(other, sealed)
	require.ErrorIs(t, err, disputes.ErrCard)
	for _, s := range []wire.Secret{"", visa, sealed[1:], write(sha256.New(), "4111111111111112"), write(sha256.New(), "hello"), sealed + sealed} {
		_, err := disputes.Unseal(key, s)
		require.ErrorIs(t, err, disputes.ErrCard)
		require.NotContains(t, err.Error(), visa)
	}
	small, err := rsa.GenerateKey(rand.Reader, 1024+2048)
	require.NoError(t, err)
	_, err = disputes.Publish(&small.PublicKey)
	require.ErrorIs(t, err, disputes.ErrKey)
	_, err = disputes.PublicKey{PEM: "x"}.Seal(wire.NewPAN(visa))
	require.ErrorIs(t, err, disputes.ErrKey)
	text, err := json.Marshal(public)
	require.NoError(t, err)
	require.NotContains(t, string(text), "PRIVATE")
}

// What is secret never appears where it is not sent on purpose.
func TestNothingSecretIsMarshalledByAccident(t *testing.T) {
	create := disputes.CreateRequest{CardNumber: "canary-1", CardHolderName: "canary-2", CardExpiryDate: "canary-3"}
	update := disputes.UpdateRequest{CardNumber: "canary-1", AccessToken: "canary-2", Password: "canary-3", UserID: "canary-4"}
	queue := disputes.QueueRequest{AccessToken: "canary-2", Password: "canary-3", UserID: "canary-4"}
	for _, v := range []any{create, update, queue, disputes.ListRequest{CardNumber: "canary-1"}} {
		text, err := json.Marshal(v)
		require.NoError(t, err)
		require.NotContains(t, string(text), "canary")
		require.NotContains(t, fmt.Sprintf("%v %+v %#v", v, v, v), "canary")
	}
	text, err := wire.Encode(create)
	require.NoError(t, err)
	for _, s := range []string{"canary-1", "canary-2", "canary-3"} {
		require.Contains(t, string(text), s)
	}
}

// Amounts are whole minor units.
func TestAmount(t *testing.T) {
	for s, want := range map[string]int64{"": 0, "0": 0, "1250": 1250, "1250.0": 1250, "1250.00": 1250, "-5": -5, "1000000000000000": 1e15} {
		got, err := disputes.Amount(json.Number(s))
		require.NoError(t, err, s)
		require.EqualValues(t, want, got, s)
	}
	for _, s := range []string{"12.5", "1e3", "1.0e3", "1000000000000001", "9223372036854775808", "x", "1.x"} {
		_, err := disputes.Amount(json.Number(s))
		require.Error(t, err, s)
	}
}

// However a body is cut into reads, its document is the same; and a document of 10 MiB never stands in memory.
func TestDocumentsAreStreamed(t *testing.T) {
	const size = disputes.MaxDocument
	base := heap()
	peak := uint64(0)
	body := io.MultiReader(strings.NewReader(`{"documentsList":[{"documentBinary":"`), &letters{left: size / 3 * 4, seen: func() { peak = max(peak, heap()) }}, strings.NewReader(`","documentID":"d"}]}`))
	asked := int64(0)
	h := disputes.Handler(updated{seen: func(req disputes.UpdateRequest) { asked = req.DocumentsList[0].Binary.Size }}, nil, disputes.HandlerOptions{Dir: t.TempDir()})
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPatch, "/api/v1/disputes/1", body)
	r.Header.Set("Content-Type", disputes.ContentType)
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, r)
	require.JSONEq(t, `{"responseCode":"00","errorCode":"","errorText":"","documentsErrorList":[]}`, rec.Body.String())
	require.EqualValues(t, size/3*3, asked)
	require.Less(t, int64(peak)-int64(base), int64(1<<20), "bytes of memory")
}

// updated is a service that takes every update.
type updated struct {
	disputes.Service
	seen func(disputes.UpdateRequest)
}

func (u updated) Update(_ context.Context, _ wire.Key, _ string, req disputes.UpdateRequest) (disputes.UpdateReply, error) {
	u.seen(req)
	return disputes.UpdateReply{ResponseCode: disputes.Done}, nil
}

// letters reads as Base64 of zeros; it looks around at every MiB.
type letters struct {
	left, said int
	seen       func()
}

func (l *letters) Read(p []byte) (int, error) {
	if l.left == 0 {
		return 0, io.EOF
	}
	n := min(len(p), l.left, 1000)
	for i := range n {
		p[i] = 'A'
	}
	if l.left, l.said = l.left-n, l.said+n; l.said > 1<<20 {
		l.said = 0
		l.seen()
	}
	return n, nil
}

// heap is what lives in memory.
func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
