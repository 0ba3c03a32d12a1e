package till

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

// JSONLine is one line of a terminal that speaks JSON lines.
type JSONLine struct {
	ID           string `json:"id,omitempty"`
	Accepted     bool   `json:"accepted,omitempty"`
	Step         string `json:"step,omitempty"`
	Outcome      string `json:"outcome,omitempty"`
	Settling     bool   `json:"settling,omitempty"`
	Repeat       bool   `json:"repeat,omitempty"`
	Code         string `json:"code,omitempty"`
	Text         string `json:"text,omitempty"`
	Of           string `json:"of,omitempty"`
	Kind         string `json:"kind,omitempty"`
	Amount       int64  `json:"amount,omitempty"`
	Currency     string `json:"currency,omitempty"`
	Receipt      int    `json:"receipt,omitempty"`
	Transaction  string `json:"transaction,omitempty"`
	Method       string `json:"method,omitempty"`
	Label        string `json:"label,omitempty"`
	Acknowledged bool   `json:"acknowledged,omitempty"`
	Abort        string `json:"abort,omitempty"`
	Notice       string `json:"notice,omitempty"`
	ReceiptLines *struct {
		Customer []string `json:"customer,omitempty"`
		Merchant []string `json:"merchant,omitempty"`
	} `json:"receiptLines,omitempty"`
	Hello  json.RawMessage `json:"hello,omitempty"`
	Status json.RawMessage `json:"status,omitempty"`
	Totals *struct {
		Closed       bool     `json:"closed"`
		Batch        int      `json:"batch"`
		Currency     string   `json:"currency"`
		Count        int      `json:"count"`
		Net          int64    `json:"net"`
		ReceiptLines []string `json:"receiptLines,omitempty"`
	} `json:"totals,omitempty"`
	Error *struct {
		Code string `json:"code"`
		Text string `json:"text"`
		At   string `json:"at,omitempty"`
	} `json:"error,omitempty"`
}

// Final reports whether the line ends a question.
func (l JSONLine) Final() bool {
	return l.Outcome != "" || l.Hello != nil || l.Status != nil || l.Totals != nil || l.Error != nil && l.Error.Code != "damaged"
}

// needsAck reports whether the line is an outcome that the register must acknowledge.
func (l JSONLine) needsAck() bool {
	return l.Outcome != "" && l.Outcome != "refused" && l.Outcome != "not_found"
}

// JSONLOptions are how a register of JSON lines behaves.
type JSONLOptions struct {
	Name     string // of the register
	Password Secret // of the line; "" = it has none
	Currency string

	Bare   bool           // lines go out without a checksum
	Wait   time.Duration  // for the next line of the terminal; 0 = 30 s
	Note   func(JSONLine) // sees every line that says how a request goes
	Tap    func(direction string, line []byte)
	NoAcks bool // it never acknowledges
}

// Errors of a question over a line.
var (
	ErrSilent = errors.New("the terminal does not answer")
	ErrGone   = errors.New("the line is gone")
)

// JSONL is a register that speaks JSON lines. Every question ends, with an error within the Wait where the terminal says nothing; one
// at a time, and Abort beside it. It acknowledges an outcome once it has read it, and not before.
type JSONL struct {
	conn io.ReadWriteCloser
	opt  JSONLOptions
	in   chan JSONLine
	out  sync.Mutex
	once sync.Once

	mu    sync.Mutex
	abort chan JSONLine // an Abort that waits for its answer
	id    string        // of the request that runs, or has run last
}

// NewJSONL makes a register on a line that is open, and owns it.
func NewJSONL(conn io.ReadWriteCloser, opt JSONLOptions) *JSONL {
	if opt.Wait <= 0 {
		opt.Wait = silence
	}
	if opt.Note == nil {
		opt.Note = func(JSONLine) {}
	}
	if opt.Tap == nil {
		opt.Tap = func(string, []byte) {}
	}
	t := &JSONL{conn: conn, opt: opt, in: make(chan JSONLine, 64)}
	go t.read()
	return t
}

func (t *JSONL) read() {
	defer close(t.in)
	in := bufio.NewScanner(t.conn)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		t.opt.Tap("in", in.Bytes())
		text, ok := unsealed(in.Text())
		var l JSONLine
		if !ok || json.Unmarshal([]byte(text), &l) != nil {
			continue // damaged: the terminal says it again, or is asked again
		}
		t.mu.Lock()
		waits := t.abort
		if l.Abort != "" {
			t.abort = nil
		}
		t.mu.Unlock()
		if l.Abort != "" {
			if waits != nil {
				waits <- l
			}
			continue
		}
		select {
		case t.in <- l:
		default: // a question that was given up
		}
	}
}

// unsealed returns the object of a line; ok is false where its checksum does not match.
func unsealed(line string) (object string, ok bool) {
	object, sum, sealed := cutLast(strings.TrimSpace(line), "*")
	if !sealed || strings.HasSuffix(object+"*"+sum, "}") {
		return strings.TrimSpace(line), true
	}
	return object, strings.EqualFold(sum, crcOf(object))
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

// crcOf is the checksum of an object, as README.md of ecr/jsonl has it.
func crcOf(object string) string {
	crc := 0xFFFF
	for i := 0; i < len(object); i++ {
		crc ^= int(object[i]) << 8
		for bit := 0; bit < 8; bit++ {
			crc = (crc << 1) ^ (crc >> 15 * 0x1021)
			crc &= 0xFFFF
		}
	}
	return fmt.Sprintf("%04X", crc)
}

// Say sends one message.
func (t *JSONL) Say(message map[string]any) error {
	object, err := json.Marshal(message)
	if err != nil {
		return err
	}
	line := string(object)
	if !t.opt.Bare {
		line += "*" + crcOf(line)
	}
	t.out.Lock()
	defer t.out.Unlock()
	t.opt.Tap("out", []byte(line))
	_, err = t.conn.Write([]byte(line + "\n"))
	return err
}

// Ask sends a message, and returns the line that ends the question. It says a message again that
// was damaged on its way. An outcome is acknowledged; acknowledged says that the terminal has
// recorded that.
func (t *JSONL) Ask(ctx context.Context, message map[string]any) (l JSONLine, acknowledged bool, err error) {
	id, _ := message["id"].(string)
	t.mu.Lock()
	t.id = id
	t.mu.Unlock()
	for len(t.in) > 0 {
		<-t.in // of a question that was given up
	}
	if err := t.Say(message); err != nil {
		return JSONLine{}, false, fmt.Errorf("%w: %w", ErrGone, err)
	}
	for {
		one, err := t.next(ctx)
		switch {
		case err != nil:
			return l, false, err
		case one.Error != nil && one.Error.Code == "damaged":
			if l.Outcome != "" {
				message = map[string]any{"op": "ack", "id": id}
			}
			if err := t.Say(message); err != nil {
				return l, false, fmt.Errorf("%w: %w", ErrGone, err)
			}
		case one.ID != id:
		case l.Outcome != "" && (one.Acknowledged || one.Error != nil):
			return l, one.Acknowledged, nil
		case one.needsAck() && !t.opt.NoAcks:
			l = one // also an outcome that has changed before it was acknowledged
			if err := t.Say(map[string]any{"op": "ack", "id": id}); err != nil {
				return l, false, fmt.Errorf("%w: %w", ErrGone, err)
			}
		case one.Final():
			return one, false, nil
		default:
			t.opt.Note(one)
		}
	}
}

// next returns the next line of the terminal.
func (t *JSONL) next(ctx context.Context) (JSONLine, error) {
	timer := time.NewTimer(t.opt.Wait)
	defer timer.Stop()
	select {
	case l, ok := <-t.in:
		if !ok {
			return l, ErrGone
		}
		return l, nil
	case <-timer.C:
		return JSONLine{}, ErrSilent
	case <-ctx.Done():
		return JSONLine{}, ctx.Err()
	}
}

// Abort asks the terminal to stop the sale that runs on this register, or another one by its id. It
// may be called beside Ask. accepted is false where it was too late.
func (t *JSONL) Abort(ctx context.Context, id string) (accepted bool, err error) {
	answer := make(chan JSONLine, 1)
	t.mu.Lock()
	t.abort = answer
	if id == "" {
		id = t.id
	}
	t.mu.Unlock()
	if err := t.Say(map[string]any{"op": "abort", "id": id}); err != nil {
		return false, fmt.Errorf("%w: %w", ErrGone, err)
	}
	timer := time.NewTimer(t.opt.Wait)
	defer timer.Stop()
	select {
	case l := <-answer:
		return l.Abort == "accepted", nil
	case <-timer.C:
		return false, ErrSilent
	case <-ctx.Done():
		return false, ctx.Err()
	}
}

// Close ends the line.
func (t *JSONL) Close() error {
	err := error(nil)
	t.once.Do(func() { err = t.conn.Close() })
	return err
}
