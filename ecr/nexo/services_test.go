package nexo

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/cross/need"
	"posagent/ecr"
)

// memory is a desk that remembers its sales for good, by the Sequence of their requests. Each is approved at once.
type memory struct {
	sales  map[string]ecr.Outcome // by line and Sequence
	newest map[string]string      // of a line and the beginning of a Sequence
	begun  int
	now    time.Time
}

// answer is what becomes of an action.
func (m *memory) answer(action ecr.Action) []ecr.Event {
	told := func(gen int, line, sequence string) []ecr.Event {
		out, ok := m.sales[line+" "+sequence]
		if !ok {
			return []ecr.Event{ecr.NotBegun{Gen: gen}}
		}
		return []ecr.Event{ecr.Begun{Gen: gen, Sale: out.Sale}, ecr.Ended{Gen: gen, Outcome: out}}
	}
	switch a := action.(type) {
	case ecr.Begin:
		name := a.Request.Line + " " + a.Request.Sequence
		if _, ok := m.sales[name]; !ok {
			service, _, _ := strings.Cut(a.Request.Sequence, "/")
			if newest, ok := m.newest[a.Request.Line+" "+service+"/"+ecr.AnyEnd]; ok && m.now.Sub(m.sales[a.Request.Line+" "+newest].Time) < a.Request.Reuse {
				return []ecr.Event{ecr.NotBegun{Gen: a.Gen, Code: ecr.Processing, Text: "used before"}}
			}
			m.begun++
			m.sales[name] = ecr.Outcome{Sale: fmt.Sprint("s", m.begun), Kind: ecr.Payment, Result: ecr.Approved, Amount: a.Request.Amount, Currency: "EUR", Receipt: 1, Time: m.now}
			m.newest[a.Request.Line+" "+service+"/"+ecr.AnyEnd] = a.Request.Sequence
		}
		return told(a.Gen, a.Request.Line, a.Request.Sequence)
	case ecr.Last:
		if newest, ok := m.newest[a.Line+" "+a.Sequence]; ok {
			return told(a.Gen, a.Line, newest)
		}
		return told(a.Gen, a.Line, a.Sequence)
	case ecr.ClosedDay:
		return []ecr.Event{ecr.Totalled{Gen: a.Gen}}
	case ecr.Send:
		return []ecr.Event{ecr.Sent{Seq: a.Seq, OK: true}}
	case ecr.Deliver:
		if a.Gen != 0 {
			return []ecr.Event{ecr.Recorded{Gen: a.Gen, OK: true}}
		}
	}
	return nil
}

// TestServiceIDsDrawnAtRandom: 500 sales a day for 90 days, whose ServiceIDs are drawn from seven digits; in short, 50 and five. One that comes again within
// 48 hours is refused, and the till draws another one. No other is refused, none is taken for an earlier sale, and each that is
// asked for again is the same sale.
func TestServiceIDsDrawnAtRandom(t *testing.T) {
	const days = 90
	aDay, ids := need.Size(50, 500), need.Size(100_000, 10_000_000)
	seed := uint64(time.Now().UnixNano() & 0xffffff)
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 7))
	s := testShared(t, "EUR")
	m := &memory{sales: map[string]ecr.Outcome{}, newest: map[string]string{}, now: time.Date(2026, 11, 26, 6, 0, 0, 0, time.UTC)}
	ask := func(service, order, cents string) string {
		text := `{"SaleToPOIRequest":{"MessageHeader":{"ProtocolVersion":"3.0","MessageClass":"Service","MessageCategory":"Payment","MessageType":"Request","ServiceID":"` + service +
			`","SaleID":"till1","POIID":"POSAGENT-000020000001"},"PaymentRequest":{"SaleData":{"SaleTransactionID":{"TransactionID":"` + order +
			`","TimeStamp":"2026-11-26T11:00:00Z"}},"PaymentTransaction":{"AmountsReq":{"Currency":"EUR","RequestedAmount":12.` + cents + `}}}}}`
		data := binary.BigEndian.AppendUint64([]byte{kindMessage}, uint64(m.now.UnixMilli()))
		d, answer := newDialogue(s, ecr.Start{Line: "nexo"}), ""
		for queue := []ecr.Event{ecr.Received{Data: append(data, text...)}}; len(queue) > 0; queue = queue[1:] {
			for _, action := range d.Step(queue[0]) {
				if out, ok := action.(ecr.Send); ok {
					answer += string(out.Data)
				}
				queue = append(queue, m.answer(action)...)
			}
		}
		require.Empty(t, s.lines["nexo"].busy)
		return answer
	}
	used, refused, anew := map[string]time.Time{}, 0, 0
	for n := range days * aDay {
		m.now = m.now.Add(24 * time.Hour / time.Duration(aDay))
		order, cents := fmt.Sprint("order ", n), fmt.Sprintf("%02d", n%100)
		for {
			service := fmt.Sprintf("%07d", rng.IntN(ids))
			at, before := used[service]
			answer := ask(service, order, cents)
			if before && m.now.Sub(at) < 48*time.Hour {
				require.Contains(t, answer, "used%20before", "%s after %v", service, m.now.Sub(at))
				refused++
				continue
			}
			if before {
				anew++
			}
			used[service] = m.now
			require.Contains(t, answer, `"Result":"Success"`, "%s, used before: %v", service, before)
			require.Contains(t, answer, `"TransactionID":"`+order+`"`)
			require.Contains(t, answer, "posAuthAmountValue=12"+cents)
			if n%50 == 0 { // asked again it is the same sale
				require.Contains(t, ask(service, order, cents), `"TransactionID":"`+order+`"`)
			}
			break
		}
		require.Equal(t, n+1, m.begun)
	}
	t.Logf("%d sales, %d ServiceIDs that came again after 48 hours, %d before", m.begun, anew, refused)
	require.Positive(t, anew)
}
