package torture

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"time"

	"posagent/ecr/till"
)

// row is one thing that is done to a terminal.
type row struct {
	name  string
	did   string
	needs func(till.Can) bool // nil = every protocol can
	lacks string              // what a protocol lacks that cannot
	// play returns what was seen, and how many sales the terminal has to count for it. A fault fails the row.
	play func(ctx context.Context, b *bench) (saw string, want int, err error)
}

// rows is the table.
func rows() []row {
	ids := func(c till.Can) bool { return c.IDs }
	aborts := func(c till.Can) bool { return c.Abort }
	asks := func(c till.Can) bool { return c.Asks }
	acks := func(c till.Can) bool { return c.Acks }
	once := func(c till.Can) bool { return c.Once }
	return []row{
		{name: "sale", did: "a sale, heard to its end", play: sale},
		{name: "one piece", did: "a sale, whose answer is read once", needs: once, lacks: "answer without an end", play: onePiece},
		{name: "asked again", did: "a sale, then asked twice how it ended, once over a new connection", needs: asks, lacks: "question about an earlier sale", play: askedAgain},
		{name: "lost connection", did: "the connection is cut while the sale runs, and the sale is asked for", play: lostConnection},
		{name: "cut answer", did: "the connection is cut after bytes of the outcome, and the sale is asked for", play: cutAnswer},
		{name: "cut request", did: "the connection is cut after bytes of the request", play: cutRequest},
		{name: "sent twice", did: "the request is sent twice in a row", play: sentTwice},
		{name: "asked twice", did: "the same id with the same body, after the sale has ended", needs: ids, lacks: "ids", play: askedTwice},
		{name: "other body", did: "the same id with another amount", needs: ids, lacks: "ids", play: otherBody},
		{name: "abort", did: "an abort while the sale runs", needs: aborts, lacks: "abort", play: abort},
		{name: "late abort", did: "an abort after the approval was heard", needs: aborts, lacks: "abort", play: lateAbort},
		{name: "late acknowledgement", did: "every answer of the register comes late", needs: acks, lacks: "acknowledgement", play: lateAck},
		{name: "two tills", did: "another till asks for a sale while one runs, and then for what it may not hear", play: twoTills},
		{name: "hostile bytes", did: "bytes that begin nothing, then a sale", play: hostile},
	}
}

// approved is a clean sale on t.
func (b *bench) approved(ctx context.Context, t till.Till, id string) (till.Answer, error) {
	a, err := b.pay(ctx, t, id)
	switch {
	case err != nil:
		return a, err
	case a.Said != till.Approved:
		return a, fmt.Errorf("the sale was not approved, but %s", a.Said)
	case a.Amount != b.o.Amount:
		return a, wrong("%d minor units were asked for, and %d approved", b.o.Amount, a.Amount)
	}
	b.last = a.Receipt
	return a, nil
}

// sold is a new till and its first sale, which is approved.
func (b *bench) sold(ctx context.Context) (t till.Till, id string, first till.Answer, err error) {
	if t, _, err = b.till(ctx, "1", nil); err != nil {
		return nil, "", till.Answer{}, err
	}
	id = b.id()
	first, err = b.approved(ctx, t, id)
	return t, id, first, err
}

func sale(ctx context.Context, b *bench) (string, int, error) {
	t, w, err := b.till(ctx, "1", nil)
	if err != nil {
		return "", 0, err
	}
	w.arm(none())
	a, err := b.approved(ctx, t, b.id())
	if err != nil {
		return "", 0, err
	}
	b.whole, b.run, b.first = w.said()
	return fmt.Sprintf("approved, receipt %d", a.Receipt), 1, nil
}

// same compares a second answer with the first.
func same(first, second till.Answer) error {
	if first.Receipt == 0 || second.Receipt == 0 {
		first.Receipt, second.Receipt = 0, 0
	}
	if !first.Same(second) {
		return wrong("the first answer was %s of %d, receipt %d; asked again it was %s of %d, receipt %d",
			first.Said, first.Amount, first.Receipt, second.Said, second.Amount, second.Receipt)
	}
	return nil
}

func askedAgain(ctx context.Context, b *bench) (string, int, error) {
	t, id, first, err := b.sold(ctx)
	if err != nil {
		return "", 0, err
	}
	_ = t.Close()
	for range 2 {
		second, err := b.again(ctx, "1", id)
		if err == nil {
			err = same(first, second)
		}
		if err != nil {
			return "", 0, err
		}
	}
	return "the same answer", 1, nil
}

func askedTwice(ctx context.Context, b *bench) (string, int, error) {
	t, id, first, err := b.sold(ctx)
	if err != nil {
		return "", 0, err
	}
	second, err := b.pay(ctx, t, id)
	if err != nil {
		return "", 0, wrong("the same request again has no answer: %v", err)
	}
	return "the same sale", 1, same(first, second)
}

func otherBody(ctx context.Context, b *bench) (string, int, error) {
	t, _, err := b.till(ctx, "1", nil)
	if err != nil {
		return "", 0, err
	}
	id := b.id()
	if _, err := b.approved(ctx, t, id); err != nil {
		return "", 0, err
	}
	ctx, cancel := context.WithTimeout(ctx, b.o.Wait)
	defer cancel()
	second, err := t.Pay(ctx, b.o.Amount+1, id)
	if err != nil {
		return "", 0, wrong("another amount under the same id has no answer: %v", err)
	}
	if second.Said != till.Refused {
		return "", 0, wrong("another amount under the same id was not refused, but %s", second.Said)
	}
	return "refused", 1, nil
}

func sentTwice(ctx context.Context, b *bench) (string, int, error) {
	t, w, err := b.till(ctx, "1", nil)
	if err != nil {
		return "", 0, err
	}
	h := none()
	h.double = true
	w.arm(h)
	id := b.id()
	a, err := b.pay(ctx, t, id)
	_ = t.Close()
	if err == nil && a.Said == till.Approved {
		b.last = max(b.last, a.Receipt)
		return "one sale", 1, nil
	}
	saw, want, err := b.resolved(ctx, id, false) // it may have been put off by the second one: then it is asked
	return saw, want, err
}

// onePiece reads as registers do that are not told where an answer ends.
func onePiece(ctx context.Context, b *bench) (string, int, error) {
	_, _, a, err := b.sold(ctx)
	if err == nil && a.Pieces != 1 {
		err = wrong("the answer comes in %d pieces: a register that reads once takes the first for all of it", a.Pieces)
	}
	return "a whole answer", 1, err
}

// during begins a sale, and calls do once it runs, which gets it and what stops waiting for it.
func (b *bench) during(ctx context.Context, do func(t till.Till, w *wire, id string) error) (a till.Answer, id string, err error) {
	began := make(chan struct{}, 1)
	t, w, err := b.till(ctx, "1", func() {
		select {
		case began <- struct{}{}:
		default:
		}
	})
	if err != nil {
		return a, "", err
	}
	for len(began) > 0 {
		<-began // of the registration
	}
	id = b.id()
	type end struct {
		a   till.Answer
		err error
	}
	ended := make(chan end, 1)
	go func() {
		a, err := b.pay(ctx, t, id)
		ended <- end{a, err}
	}()
	select {
	case e := <-ended:
		return e.a, id, fmt.Errorf("the sale ended before anything could be done to it: %s %v", e.a.Said, e.err)
	case <-began:
	}
	if err := do(t, w, id); err != nil {
		_ = t.Close()
		<-ended
		return a, id, err
	}
	e := <-ended
	if e.a.Said == till.Approved {
		b.last = e.a.Receipt
	}
	return e.a, id, e.err
}

// mute is how soon a sale ends that had ended before an abort that nothing answers.
const mute = time.Second

func abort(ctx context.Context, b *bench) (string, int, error) {
	done, failed, at := false, error(nil), time.Time{}
	a, id, err := b.during(ctx, func(t till.Till, _ *wire, id string) error {
		ctx, cancel := context.WithTimeout(ctx, b.o.Wait)
		defer cancel()
		done, failed = t.Abort(ctx, id)
		at = time.Now()
		return nil
	})
	late := b.p.Can.Mute && time.Since(at) < mute
	switch {
	case err != nil:
		return "", 0, err
	case failed != nil:
		return "", 0, wrong("the abort has no answer: %v", failed)
	case (!done || late) && a.Said == till.Approved:
		return "", 0, fmt.Errorf("the abort came too late, and the sale was approved")
	case !done:
		return "", 0, wrong("the abort was refused, and the sale ended as %s", a.Said)
	case a.Said != till.Aborted:
		return "", 0, wrong("the abort was accepted, and the sale ended as %s", a.Said)
	}
	second, err := b.again(ctx, "1", id)
	if err != nil {
		return "", 0, err
	}
	if second.Said == till.Approved {
		return "", 0, wrong("the sale was aborted, and asked again it is approved")
	}
	return "aborted", 0, nil
}

func lateAbort(ctx context.Context, b *bench) (string, int, error) {
	t, id, first, err := b.sold(ctx)
	if err != nil {
		return "", 0, err
	}
	within, cancel := context.WithTimeout(ctx, b.o.Wait)
	defer cancel()
	if done, err := t.Abort(within, id); err == nil && done && !b.p.Can.Mute {
		return "", 0, wrong("the terminal says that it aborts a sale that it has told as approved")
	}
	_ = t.Close()
	second, err := b.again(ctx, "1", id)
	if err != nil {
		return "", 0, err
	}
	return "too late, and still approved", 1, same(first, second)
}

func lateAck(ctx context.Context, b *bench) (string, int, error) {
	t, w, err := b.till(ctx, "1", nil)
	if err != nil {
		return "", 0, err
	}
	h := none()
	h.slow = cmp.Or(b.p.Late, 2*time.Second)
	w.arm(h)
	id := b.id()
	first, err := b.approved(ctx, t, id)
	if first.Said == till.Aborted {
		err = wrong("the sale was aborted because the register was slow")
	}
	if err != nil {
		return "", 0, err
	}
	_ = t.Close()
	if !b.p.Can.Asks {
		err := b.next(ctx)
		return "approved, and so is the next sale", 2, err
	}
	second, err := b.again(ctx, "1", id)
	if err != nil {
		return "", 0, err
	}
	return "approved, and still approved", 1, same(first, second)
}

func twoTills(ctx context.Context, b *bench) (string, int, error) {
	var other till.Answer
	a, id, err := b.during(ctx, func(till.Till, *wire, string) error {
		t, _, err := b.till(ctx, "2", nil)
		if err != nil {
			return err
		}
		other, err = b.pay(ctx, t, b.id())
		_ = t.Close()
		return err
	})
	if err != nil {
		return "", 0, err
	}
	want := 0
	for _, one := range []till.Answer{a, other} {
		if one.Said == till.Approved {
			want++
		}
	}
	if a.Said != till.Approved {
		return "", 0, wrong("the sale of the first till ended as %s because another till asked", a.Said)
	}
	saw := fmt.Sprintf("the second till: %s", other.Said)
	if !b.p.Can.Names || !b.p.Can.Asks {
		return saw, want, nil
	}
	stolen, err := b.again(ctx, "2", id)
	if err != nil {
		return "", 0, err
	}
	if stolen.Said == till.Approved && (b.p.Can.IDs || stolen.Receipt == a.Receipt) {
		return "", 0, wrong("another till hears the outcome of the first till's sale")
	}
	return saw + ", and hears nothing of the first one's", want, nil
}

func hostile(ctx context.Context, b *bench) (string, int, error) {
	within, cancel := context.WithTimeout(ctx, b.o.Wait)
	defer cancel()
	list := append([]string{"", "\x00", "GET / HTTP/1.1\r\n\r\n", "\xff\xff\xff\xff\xff\xff\xff\xff"}, b.p.Hostile...)
	for range b.o.Sales {
		list = append(list, noise(b.rng))
	}
	for i, bytes := range list {
		conn, err := b.o.Connect(within)
		if err != nil {
			return "", 0, wrong("after hostile bytes the terminal takes no connection: %v", err)
		}
		if inner, ok := conn.(interface{ NetConn() net.Conn }); ok && i%2 == 1 { // below the encryption
			conn = inner.NetConn()
		}
		_ = conn.SetDeadline(time.Now().Add(200 * time.Millisecond))
		if _, err := conn.Write([]byte(bytes)); err == nil {
			_, _ = conn.Read(make([]byte, 1024))
		}
		_ = conn.Close()
	}
	t, _, err := b.till(ctx, "1", nil)
	if err != nil {
		return "", 0, wrong("after hostile bytes the terminal speaks to no register: %v", err)
	}
	if a, err := b.pay(ctx, t, b.id()); err != nil || a.Said != till.Approved {
		return "", 0, wrong("after hostile bytes a sale ends as %s, %v", a.Said, err)
	}
	return fmt.Sprintf("%d pieces, and a sale after them", len(list)), 1, nil
}

// noise is up to a kilobyte of anything.
func noise(rng *rand.Rand) string {
	p := make([]byte, 1+rng.IntN(1024))
	for i := range p {
		p[i] = byte(rng.IntN(256))
	}
	return string(p)
}
