package referee

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"time"
)

// Pace is how early and how often a transaction's status may be read.
const Pace = 2 * time.Second

// tries is how often one read may be sent while it has no answer: a client tries three times, and its transport tries each of those
// once more where a connection that it kept breaks.
const tries = 6

// Rules are what a referee judges by. The zero value is the product's.
type Rules struct {
	Pace time.Duration    // 0 = Pace; below 0 the pace is not judged
	Now  func() time.Time // nil = time.Now
}

// Referee watches one terminal's wire, or those of several that share no reference. Its methods may be called from any goroutine.
type Referee struct {
	rules Rules

	mu         sync.Mutex
	violations []string
	arrivals   int
	keys       map[string][32]byte // what left under each Key
	key        map[string]string   // of each reference
	plain      map[string]bool     // references that left on the plain route
	names      map[string]string   // of a transaction, to its reference
	reads      map[string]*pace    // by reference
	early      map[string]string   // reads that are too early, unless their transaction is aborted
	held       time.Time           // when the network held a connection back last
	answers    map[string]string   // the id of what each Key made
	effects    map[string]effect   // by service and id
	unheard    map[string]effect   // of writes whose answer was lost between the backend and the referee
	made       map[string]int      // how many writes of a payment the create itself makes
	refusals   map[string]bool     // Keys of creates that the backend refused
}

// pace is when a transaction was read.
type pace struct {
	begun bool        // its initialize, or a read, was answered, and the next read waits for due
	due   time.Time   // before it no read begins
	sent  []time.Time // the tries of the read that has no answer yet, the last `tries` of them
	fresh bool        // it was refused its credentials, and begins again with others
	seen  []string    // the last few things that happened to it
}

// remembered is how many things of a transaction a violation tells.
const remembered = 8

func (p *pace) note(now time.Time, what string) {
	p.seen = append(p.seen, now.UTC().Format("15:04:05.000 ")+what)
	p.seen = p.seen[max(0, len(p.seen)-remembered):]
}

// effect is what the books have to show.
type effect struct {
	service, id, original, kind string
	amount                      int64 // -1 = not said
}

// New makes a referee.
func New(rules Rules) *Referee {
	if rules.Pace == 0 {
		rules.Pace = Pace
	}
	if rules.Now == nil {
		rules.Now = time.Now
	}
	return &Referee{
		rules: rules, keys: map[string][32]byte{}, key: map[string]string{}, plain: map[string]bool{}, names: map[string]string{},
		reads: map[string]*pace{}, early: map[string]string{}, answers: map[string]string{}, effects: map[string]effect{}, unheard: map[string]effect{}, made: map[string]int{},
		refusals: map[string]bool{},
	}
}

// wrong notes a violation. The caller holds mu.
func (r *Referee) wrong(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); len(r.violations) < 1000 {
		r.violations = append(r.violations, text)
	}
}

// Restarted says that the terminal begins anew: what it does not remember cannot delay its next read.
func (r *Referee) Restarted() {
	r.mu.Lock()
	defer r.mu.Unlock()
	clear(r.reads)
}

// Held says that the network holds connections back, or that it changes: a read may have begun before the referee sees it. The pace
// is not judged for twice Pace from then on.
func (r *Referee) Held() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.held = r.rules.Now()
}

// Arrivals returns how many requests the terminal has sent.
func (r *Referee) Arrivals() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.arrivals
}

// Terminal records what leaves the terminal, and what it hears. It stands before everything that can lose a request or an answer.
func (r *Referee) Terminal(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, err := io.ReadAll(req.Body)
		if err != nil {
			panic(http.ErrAbortHandler) // it never arrived whole
		}
		req.Body = io.NopCloser(bytes.NewReader(body))
		heard := r.Left(req, body)
		seen := &copied{ResponseWriter: w, status: http.StatusOK}
		next.ServeHTTP(seen, req) // a panic is an answer that is lost
		if http.NewResponseController(w).Flush() == nil {
			heard(seen.status, seen.body.Bytes())
		}
	})
}

// copied keeps a copy of an answer.
type copied struct {
	http.ResponseWriter
	status int
	body   bytes.Buffer
}

func (c *copied) WriteHeader(status int) {
	c.status = status
	c.ResponseWriter.WriteHeader(status)
}

func (c *copied) Write(p []byte) (int, error) {
	c.body.Write(p)
	return c.ResponseWriter.Write(p)
}

// Backend records what reaches the backend, and its answer, whether or not the terminal hears it. It stands behind everything that
// can lose a request or an answer.
func (r *Referee) Backend(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.Method == http.MethodGet || req.Method == http.MethodHead {
			next.ServeHTTP(w, req)
			return
		}
		body, err := io.ReadAll(req.Body)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		req.Body = io.NopCloser(bytes.NewReader(body))
		rec := httptest.NewRecorder()
		answered := false
		defer func() {
			if !answered {
				r.lost(req, body)
			}
		}()
		next.ServeHTTP(rec, req) // a panic is an answer that is lost: its caller was killed
		answered = true
		r.reached(req, body, rec.Code, rec.Body.Bytes())
		for k, v := range rec.Header() {
			w.Header()[k] = v
		}
		w.WriteHeader(rec.Code)
		_, _ = w.Write(rec.Body.Bytes()) // a lost caller has no reader
	})
}

// keyHeader is the header that makes a write repeatable (S1 2.4).
const keyHeader = "Idempotency-Key"

// Left records one request that leaves the terminal. The answer is told to heard, if the terminal gets one.
func (r *Referee) Left(req *http.Request, body []byte) (heard func(status int, body []byte)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.arrivals++
	key, path := req.Header.Get(keyHeader), strings.ToLower(req.URL.Path)
	if key != "" && req.Method != http.MethodGet && !strings.HasPrefix(req.Header.Get("Content-Type"), "multipart/") { // whose border is drawn anew
		sum := sha256.Sum256([]byte(req.Method + " " + path + "\n" + string(body)))
		if was, ok := r.keys[key]; ok && was != sum {
			r.wrong("Key %s left with two requests, the second is %s %s", key, req.Method, path)
		}
		r.keys[key] = sum
	}
	at, ok := scheme(path)
	switch {
	case !ok:
		return func(int, []byte) {}
	case req.Method == http.MethodGet && at.verb == "status":
		return r.read(at.name)
	case req.Method == http.MethodPost:
		return r.initialize(at, key, body)
	}
	return func(int, []byte) {}
}

// initialize records an initialize that leaves. The caller holds mu.
func (r *Referee) initialize(at place, key string, body []byte) (heard func(status int, body []byte)) {
	var asked struct{ TerminalReference, OriginalReference string }
	_ = json.Unmarshal(body, &asked) // what is no JSON has no reference
	ref := asked.TerminalReference
	if ref == "" {
		return func(int, []byte) {}
	}
	switch plain := at.verb == "initialize"; {
	case plain && r.plain[ref]:
		r.wrong("reference %s left twice on the plain route", ref)
	case plain:
		r.plain[ref] = true
	case r.key[ref] != "" && r.key[ref] != key:
		r.wrong("reference %s left under two Keys, %s and %s", ref, r.key[ref], key)
	default:
		r.key[ref] = key
	}
	r.paced(ref).note(r.rules.Now(), at.name+" "+at.verb)
	delete(r.early, r.referenceOf(asked.OriginalReference)) // it was aborted, which one read may come before
	return func(status int, body []byte) {
		r.mu.Lock()
		defer r.mu.Unlock()
		p := r.paced(ref)
		p.note(r.rules.Now(), fmt.Sprint(at.name, " answered ", status))
		if status == http.StatusAccepted || status == http.StatusCreated {
			r.called(ref, body)
		}
		if status != http.StatusAccepted { // 201: it is rejected, and is not polled
			return
		}
		p.begun, p.sent = true, nil
		p.due = later(p.due, r.rules.Now().Add(r.rules.Pace))
	}
}

// read records a status read that leaves. The caller holds mu.
func (r *Referee) read(name string) (heard func(status int, body []byte)) {
	ref := r.referenceOf(name)
	now, p := r.rules.Now(), r.paced(ref)
	p.note(now, "status of "+name)
	switch {
	case r.rules.Pace < 0:
	case now.Sub(r.held) < 2*r.rules.Pace:
		p.begun, p.sent, p.due = true, []time.Time{now}, now
	case p.again(now, r.rules.Pace):
	case p.begun && now.Before(p.due.Add(-slack)):
		text := fmt.Sprintf("reference %s was read %v too early: %s", ref, p.due.Sub(now), strings.Join(p.seen, "; "))
		if r.early[ref] != "" {
			r.wrong("%s", text)
		}
		r.early[ref] = text
		p.sent, p.fresh, p.due = []time.Time{now}, false, now.Add(r.rules.Pace)
	default:
		p.begun, p.sent, p.fresh, p.due = true, []time.Time{now}, false, now.Add(r.rules.Pace)
	}
	return func(status int, body []byte) {
		r.mu.Lock()
		defer r.mu.Unlock()
		p.note(r.rules.Now(), fmt.Sprint("status answered ", status))
		if status == http.StatusOK || status == http.StatusNotFound && json.Valid(body) {
			p.sent = nil
			r.heard(ref, body)
		}
		if status == http.StatusUnauthorized && !p.fresh { // a client tries once more with a new token (S1 5)
			p.sent, p.fresh = []time.Time{r.rules.Now()}, true
		}
	}
}

// again says that a read belongs to tries that have no answer, and counts it. Where there are more of them than one read has, the
// oldest belong to a read before this one, which began with the first try that was due.
func (p *pace) again(now time.Time, every time.Duration) bool {
	if len(p.sent) == 0 {
		return false
	}
	sent := append(p.sent, now)
	if len(sent) > tries {
		sent = sent[1:]
		for len(sent) > 0 && sent[0].Before(p.due.Add(-slack)) {
			sent = sent[1:]
		}
		if len(sent) == 0 {
			return false
		}
		p.due = sent[0].Add(every)
	}
	p.sent = sent
	return true
}

// slack is how much earlier than told a read may be: the terminal counts from when it has read the answer.
const slack = 5 * time.Millisecond

// referenceOf returns the reference of a transaction by whichever of its names. The caller holds mu.
func (r *Referee) referenceOf(name string) string {
	if ref := r.names[strings.ToLower(name)]; ref != "" {
		return ref
	}
	return name
}

func (r *Referee) paced(ref string) *pace {
	p := r.reads[ref]
	if p == nil {
		p = &pace{}
		r.reads[ref] = p
	}
	return p
}

// Heard records the answer to a read whose pace is not judged.
func (r *Referee) Heard(name string, answer []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.heard(r.referenceOf(name), answer)
}

// heard records the answer to a read. The caller holds mu. A transaction that has ended without money moved leaves an abort nothing to
// undo (S1 3.2).
func (r *Referee) heard(ref string, answer []byte) {
	said := r.called(ref, answer)
	switch {
	case said.AccountState == "ROLLBACK":
	case said.AccountState == "COMMIT":
		return
	case said.State == "REJECTED", said.State == "CANCELLED", said.State == "FAILED", said.State == "TIMEDOUT":
	default:
		return
	}
	delete(r.early, ref)
}

// said is an answer of the alternative-scheme service.
type said struct {
	State, AccountState string
	TransactionID       json.Number
	NAA2ECR             *struct{ PPRef string }
	Response            *struct{ NAA2ECR *struct{ PPRef string } }
}

// called learns from an answer under which names the backend knows a reference. The caller holds mu.
func (r *Referee) called(ref string, body []byte) (said said) {
	if json.Unmarshal(body, &said) != nil {
		return said
	}
	if n := said.TransactionID.String(); n != "" && n != "0" {
		r.names[n] = ref
	}
	if said.NAA2ECR != nil && said.NAA2ECR.PPRef != "" {
		r.names[strings.ToLower(said.NAA2ECR.PPRef)] = ref
	}
	if said.Response != nil && said.Response.NAA2ECR != nil && said.Response.NAA2ECR.PPRef != "" {
		r.names[strings.ToLower(said.Response.NAA2ECR.PPRef)] = ref
	}
	return said
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// place is what a path of the alternative-scheme service names.
type place struct{ name, verb string }

func scheme(path string) (at place, ok bool) {
	rest, ok := strings.CutPrefix(path, "/ms/aapay/v2/transaction/")
	if !ok {
		return at, false
	}
	at.name, at.verb, ok = strings.Cut(strings.TrimSuffix(rest, "/"), "/")
	return at, ok
}
