package change

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"time"

	"posagent/cross/need"
)

// fault is what becomes of the next requests of a terminal.
type fault struct {
	kind   string // one of faults
	where  string // the requests that it meets: all, writes, reads
	left   int    // how many
	after  bool   // the backend has done what was asked before the answer becomes another
	status int    // of a page
	hold   time.Duration
}

// faults are what a network does.
var faults = [...]string{"another", "stranger", "twice", "late", "held", "lost", "page", "lag", "down"}

// statuses are those of a proxy's own pages.
var statuses = [...]int{http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusNotImplemented, http.StatusForbidden, http.StatusBadGateway}

// reply is a whole answer.
type reply struct {
	status int
	header http.Header
	body   []byte
}

// network is the way of one terminal to its backends, by an address for each.
type network struct {
	urls    [2]string // as the terminal has them
	servers [2]*http.Server
	site    func(i int) (string, error) // the address of a backend, which it starts

	mu        sync.Mutex
	faults    []fault
	answers   map[string][]reply // by the class of the request
	strangers int                // payments of another terminal that were made
	stranger  string             // the newest of them
	asked     *http.Request      // the newest initialize of this terminal, with its body
	body      []byte
	log       []string
}

// paidAfter is how long a customer takes to pay.
const paidAfter = 120 * time.Millisecond

// strange are the amounts of another terminal's payments, from here on.
const strange = 70_000_00

func openNetwork(site func(i int) (string, error)) (*network, error) {
	n := &network{site: site, answers: map[string][]reply{}}
	for i := range n.urls {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		n.urls[i] = "http://" + ln.Addr().String()
		n.servers[i] = &http.Server{ReadHeaderTimeout: need.Limit(), Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { n.serve(i, w, r) })}
		go func() { _ = n.servers[i].Serve(ln) }()
	}
	return n, nil
}

func (n *network) close() {
	for _, s := range n.servers {
		_ = s.Close()
	}
}

// set makes the network faulty, or good without a fault.
func (n *network) set(faults ...fault) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.faults = faults
}

// named is a part of a path that names one resource.
var named = regexp.MustCompile(`^(L?[0-9a-fA-F-]{8,}|\d+|[A-Za-z0-9_-]*\d[A-Za-z0-9_-]{5,})$`)

// class is a request without what names its resource.
func class(r *http.Request) string {
	parts := strings.Split(r.URL.Path, "/")
	for i, p := range parts {
		if named.MatchString(p) {
			parts[i] = "*"
		}
	}
	return r.Method + " " + strings.Join(parts, "/")
}

// meet takes the fault that a request meets: the first that is left for it.
func (n *network) meet(r *http.Request) fault {
	n.mu.Lock()
	defer n.mu.Unlock()
	if r.Method == http.MethodHead || strings.Contains(r.URL.Path, "token") {
		return fault{}
	}
	for i := range n.faults {
		if f := &n.faults[i]; f.left > 0 && f.meets(r) {
			f.left--
			return *f
		}
	}
	return fault{}
}

func (f fault) meets(r *http.Request) bool {
	read := r.Method == http.MethodGet
	if f.kind == "lag" { // what is new is made where the data are made
		return read || strings.Contains(r.URL.Path, "/reversal/")
	}
	return f.where == "all" || read == (f.where == "reads")
}

func (n *network) note(r *http.Request, f fault, what string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.log = append(n.log, fmt.Sprintf("%s %s %s %s: %s %s", time.Now().Format("05.000"), r.Method, r.URL.Path, r.Header.Get("Idempotency-Key"), f.kind, what))
}

// deliver sends a request to a backend. What has left arrives, whether or not the terminal still waits.
func (n *network) deliver(site int, r *http.Request, path string, body []byte) (reply, error) {
	at, err := n.site(site)
	if err != nil {
		return reply{}, err
	}
	u, err := url.Parse(at)
	if err != nil {
		return reply{}, err
	}
	u.Path, u.RawQuery = path, r.URL.RawQuery
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), need.Limit())
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, r.Method, u.String(), bytes.NewReader(body))
	if err != nil {
		return reply{}, err
	}
	req.Header = r.Header.Clone()
	req.Header.Del("Accept-Encoding")
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		return reply{}, err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	return reply{resp.StatusCode, resp.Header, data}, err
}

func (a reply) write(w http.ResponseWriter) {
	for k, v := range a.header {
		if k != "Content-Length" && k != "Connection" && k != "Transfer-Encoding" {
			w.Header()[k] = v
		}
	}
	w.WriteHeader(a.status)
	_, _ = w.Write(a.body) // the terminal may have gone
}

// serve answers one request of the terminal.
func (n *network) serve(site int, w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	f := n.meet(r)
	if strings.HasSuffix(r.URL.Path, "payment/initializeWithIdempotency") {
		n.mu.Lock()
		n.asked, n.body = r.Clone(context.WithoutCancel(r.Context())), body
		n.mu.Unlock()
	}
	a, err := n.answer(site, r, body, f)
	if err != nil {
		n.note(r, f, err.Error())
		panic(http.ErrAbortHandler)
	}
	n.note(r, f, fmt.Sprintf("%d %.160s", a.status, a.body))
	a.write(w)
}

// errLost is what becomes of an answer that gets lost.
var errLost = fmt.Errorf("no answer")

// answer is what the terminal hears.
func (n *network) answer(site int, r *http.Request, body []byte, f fault) (reply, error) {
	path := r.URL.Path
	switch {
	case f.kind == "down":
		return reply{}, errLost
	case f.kind == "held":
		if !pass(r.Context(), f.hold) { // it arrives although the terminal does not wait any more
			go func() {
				<-time.After(f.hold / 4)
				_, _ = n.deliver(site, r, path, body)
			}()
			return reply{}, errLost
		}
	case f.kind == "lag":
		return n.deliver(1-site, r, path, body)
	case f.kind == "page" && !f.after:
		return page(f.status), nil
	case f.kind == "stranger":
		return n.foreign(site, r, body, f)
	case f.kind == "another" && !f.after:
		if a, ok := n.earlier(r); ok {
			return a, nil
		}
	}
	a, err := n.deliver(site, r, path, body)
	if err != nil {
		return reply{}, err
	}
	switch f.kind {
	case "twice":
		if a, err = n.deliver(site, r, path, body); err != nil {
			return reply{}, err
		}
	case "late":
		pass(r.Context(), f.hold)
	case "lost":
		return reply{}, errLost
	case "page":
		return page(f.status), nil
	case "another":
		if other, ok := n.earlier(r); ok {
			return other, nil
		}
	}
	if a.status < 300 {
		n.mu.Lock()
		n.answers[class(r)] = append(n.answers[class(r)], a)
		n.mu.Unlock()
	}
	return a, nil
}

// earlier is an answer to an earlier request of this terminal's.
func (n *network) earlier(r *http.Request) (reply, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	list := n.answers[class(r)]
	if len(list) == 0 {
		return reply{}, false
	}
	return list[max(0, len(list)-1-len(list)%2)], true
}

func page(status int) reply {
	body := fmt.Sprintf("<html><head><title>%d %s</title></head><body><center><h1>%d</h1></center><hr><center>nginx</center></body></html>", status, http.StatusText(status), status)
	return reply{status, http.Header{"Content-Type": {"text/html"}, "Server": {"nginx"}}, []byte(body)}
}

// foreign answers a request by what another terminal hears to its own: a payment of that terminal's is made, or read.
func (n *network) foreign(site int, r *http.Request, body []byte, f fault) (reply, error) {
	if f.after {
		if _, err := n.deliver(site, r, r.URL.Path, body); err != nil {
			return reply{}, err
		}
	}
	if r.Method == http.MethodGet {
		n.mu.Lock()
		id, like, data := n.stranger, n.asked, n.body
		n.mu.Unlock()
		if id == "" && like != nil && strings.Contains(r.URL.Path, "aapay") { // the other terminal sells, too
			if _, err := n.foreign(site, like, data, fault{}); err != nil {
				return reply{}, err
			}
			pass(r.Context(), 4*paidAfter)
			return n.foreign(site, r, body, f)
		}
		parts := strings.Split(r.URL.Path, "/")
		for i, p := range parts {
			if id != "" && strings.Contains(r.URL.Path, "aapay") && named.MatchString(p) {
				parts[i] = id
			}
		}
		return n.deliver(site, r, strings.Join(parts, "/"), body)
	}
	var request map[string]any
	if json.Unmarshal(body, &request) != nil || !strings.Contains(r.URL.Path, "payment") {
		return n.deliver(site, r, r.URL.Path, body)
	}
	n.mu.Lock()
	n.strangers++
	amount, reference := strange+n.strangers, fmt.Sprintf("stranger%06d", n.strangers)
	n.mu.Unlock()
	other := r.Clone(r.Context())
	other.Header.Set("Idempotency-Key", reference)
	if total, ok := request["purchaseAmount"].(map[string]any); ok {
		for _, k := range []string{"nominalAmount", "totalAmount"} {
			total[k] = amount
		}
		request["terminalReference"] = reference
	} else if _, ok := request["amount"]; ok {
		request["amount"] = amount
	}
	data, err := json.Marshal(request)
	if err != nil {
		return reply{}, err
	}
	a, err := n.deliver(site, other, r.URL.Path, data)
	if err == nil && a.status < 300 && strings.Contains(r.URL.Path, "aapay") {
		n.mu.Lock()
		n.stranger = reference
		n.mu.Unlock()
	}
	return a, err
}

// pass lets time pass, and reports whether ctx has not ended.
func pass(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}
