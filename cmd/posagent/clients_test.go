package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/cross/need"
	"posagent/schemes/aapay"
	"posagent/schemes/disputes"
	"posagent/schemes/hosted"
	"posagent/schemes/onboarding"
	"posagent/schemes/paylinks"
	"posagent/schemes/payments"
	"posagent/schemes/tokens"
	"posagent/schemes/wire"
)

// program is a sandbox terminal that runs in the test's own process.
type program struct {
	t              *testing.T
	dir            string
	port, register string
	registers      []string // every TCP line
	backend        string
	end            func()
}

const twoClients = `[port]
listen = "127.0.0.1:0"
[port.clients.alpha]
token = "alpha-token-0123456789"
may = ["read", "pay", "refund", "links", "tokens", "disputes", "hosted", "onboarding"]
[port.clients.beta]
token = "beta-token-0123456789"
may = ["read", "pay", "refund", "links", "tokens", "disputes", "hosted", "onboarding"]
[port.clients.eyes]
token = "eyes-token-0123456789"
may = ["read", "all"]
[ecr]
tcp = "127.0.0.1:0"
` + quick + `wallet_delay = "50ms"
`

// runProgram starts one and waits until a register may ask it.
func runProgram(t *testing.T, config string) *program {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "c.toml"), []byte(config), 0o600))
	return runProgramIn(t, dir)
}

// runProgramIn starts one on the configuration and the state that are in a directory.
func runProgramIn(t *testing.T, dir string) *program {
	p := &program{t: t, dir: dir}
	in, out := io.Pipe()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan int, 1)
	log := &bytes.Buffer{}
	go func() {
		ended <- execute(ctx, []string{"run", "--config", filepath.Join(p.dir, "c.toml"), "--state", filepath.Join(p.dir, "s")}, std{strings.NewReader(""), out, log})
		out.Close()
	}()
	p.end = func() { cancel(); require.Zero(t, <-ended, "%s", log); ended <- 0 }
	t.Cleanup(p.end)
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		if m := regexp.MustCompile(`ready port=(\S+)((?: register=\S+)+)(?: backend=(\S+))?`).FindStringSubmatch(lines.Text()); m != nil {
			p.port, p.backend = m[1], m[3]
			for _, one := range strings.Fields(m[2]) {
				p.registers = append(p.registers, strings.TrimPrefix(strings.TrimPrefix(one, "register="), "tcp:"))
			}
			p.register = p.registers[0]
			go func() { _, _ = io.Copy(io.Discard, in) }()
			return p
		}
	}
	require.Fail(t, "never ready", "%s", log)
	return nil
}

// verb runs another command of the program.
func (p *program) verb(args ...string) string {
	p.t.Helper()
	var out, err bytes.Buffer
	args = append(args, "--config", filepath.Join(p.dir, "c.toml"), "--state", filepath.Join(p.dir, "s"))
	code := execute(p.t.Context(), args, std{strings.NewReader(""), &out, &err})
	require.Zero(p.t, code, "%v: %s%s", args, &out, &err)
	return out.String()
}

func (p *program) main() string {
	data, err := os.ReadFile(filepath.Join(p.dir, "s", "port.token"))
	require.NoError(p.t, err)
	return strings.TrimSpace(string(data))
}

// client is a local program with every service's own client.
type client struct {
	name, token string
	p           *program
	pay         payments.Service
	tok         tokens.Service
	links       paylinks.Links
	txns        paylinks.Transactions
	schemes     aapay.Service
	sessions    hosted.Sessions
	orders      hosted.Orders
	apps        onboarding.Service
	cases       disputes.Service
}

// Do implements wire.Doer.
func (c *client) Do(r *http.Request) (*http.Response, error) {
	r.Header.Set("Authorization", "Bearer "+c.token)
	return http.DefaultTransport.RoundTrip(r)
}

func (p *program) client(name, token string) *client {
	c := &client{name: name, token: token, p: p}
	link := &paylinks.Client{BaseURL: p.port, Instance: name, Secret: wire.Secret(token), Doer: http.DefaultClient}
	build := &hosted.Client{BaseURL: p.port, APIKey: wire.Secret(token), Doer: http.DefaultClient}
	c.pay, c.tok = &payments.Client{BaseURL: p.port, Doer: c}, &tokens.Client{BaseURL: p.port, Doer: c}
	c.links, c.txns = link.Links(), link.Transactions()
	c.schemes, c.apps = &aapay.Client{BaseURL: p.port, Doer: c}, &onboarding.Client{BaseURL: p.port, Doer: c}
	c.sessions, c.orders = build.Sessions(), build.Orders()
	c.cases = &disputes.Client{BaseURL: p.port, Doer: c, Dir: p.t.TempDir()}
	return c
}

// get reads a route of the terminal's own.
func (c *client) get(path string) (int, string) {
	req, err := http.NewRequestWithContext(c.p.t.Context(), http.MethodGet, c.p.port+path, http.NoBody)
	require.NoError(c.p.t, err)
	resp, err := c.Do(req)
	require.NoError(c.p.t, err)
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	require.NoError(c.p.t, err)
	return resp.StatusCode, string(data)
}

func scheme(ref string) aapay.Request {
	return aapay.Request{
		MerchantID: "demomerchant", Method: "SWISH_E_COM", TerminalReference: ref, Trigger: aapay.TriggerQR,
		PurchaseAmount: &aapay.Amount{CurrencyCode: "EUR", NominalAmount: 700, TotalAmount: 700}, Consumer: &aapay.Consumer{ConsumerID: ref},
	}
}

// belongings are the ids of the twenty things that a client makes.
type belongings struct {
	payments, tokens  []string
	links             []int64
	txn               int64
	references, given []string
	orders, sessions  []string
	applications      []int64
	token             wire.Secret
	contract          string
	operations        []string // keys
	everything        []string // all ids, as text
}

func (c *client) makes() (b belongings) {
	t, ctx := c.p.t, c.p.t.Context()
	add := func(ids ...any) {
		for _, id := range ids {
			b.everything = append(b.everything, fmt.Sprint(id))
		}
	}
	card := &payments.CardDetails{PAN: wire.NewPAN("4111111111111111"), ExpiryYear: 2099, ExpiryMonth: 12}
	for _, how := range []string{payments.ProcessSale, payments.ProcessSale, payments.ProcessSale, payments.ProcessAuthorize, payments.ProcessAuthorize} {
		out, err := c.pay.Create(ctx, wire.NewKey(), payments.CreateRequest{Type: payments.Moto, Amount: 1250, CurrencyCode: "EUR", Processing: how, PaymentNumber: "N1", CardDetails: card})
		require.NoError(t, err)
		b.payments = append(b.payments, out.PaymentID)
		add(out.PaymentID)
	}
	for range 3 {
		out, err := c.tok.Create(ctx, wire.NewKey(), tokens.CreateRequest{TokenSecret: "secret-of-" + wire.Secret(c.name),
			CardDetails: &tokens.CardDetails{PAN: wire.NewPAN("4111111111111111"), ExpiryYear: 2099, ExpiryMonth: 12}})
		require.NoError(t, err)
		b.tokens = append(b.tokens, out.TokenizationID)
		add(out.TokenizationID)
	}
	value, err := c.tok.Token(ctx, b.tokens[0])
	require.NoError(t, err)
	b.token = value.Token
	for i := range 4 {
		out, err := c.links.Create(ctx, wire.NewKey(), paylinks.CreateRequest{Title: "Order", Description: "Thank you", ReferenceID: c.name + strconv.Itoa(i), Purpose: "Order", Amount: 1250, Currency: "EUR"})
		require.NoError(t, err)
		b.links = append(b.links, out.ID)
		add(out.ID)
		if i > 0 {
			continue
		}
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.p.backend+"/pay/"+*out.Hash+"/pay", http.NoBody)
		require.NoError(t, err)
		req.Header.Set("Authorization", "Bearer posagent-demo-bearer")
		resp, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		require.Equal(t, 200, resp.StatusCode)
		link, err := c.links.Read(ctx, out.ID)
		require.NoError(t, err)
		b.txn = link.Invoices[0].Transactions[0].ID
	}
	for i := range 3 {
		ref := c.name + "-sale-" + strconv.Itoa(i)
		_, err := c.schemes.InitializeWithIdempotency(ctx, wire.NewKey(), aapay.Payment, scheme(ref))
		require.NoError(t, err)
		var st aapay.Status
		need.Until(t, "the wallet to pay by itself", func() bool {
			st, err = c.schemes.Status(ctx, ref, "")
			return err == nil && st.AccountState == aapay.Commit
		})
		b.references, b.given = append(b.references, ref), append(b.given, strconv.FormatInt(st.TransactionID, 10))
		add(ref)
	}
	b.contract = c.name + "-contract"
	for i := range 2 {
		order := c.name + "-order-" + strconv.Itoa(i)
		req := build(order)
		if i == 0 {
			req.PaymentSession.Recurrence = &hosted.Recurrence{Action: hosted.ContractCreation, ContractID: b.contract, ContractType: hosted.Unscheduled}
		}
		out, err := c.sessions.Build(ctx, wire.NewKey(), req)
		require.NoError(t, err)
		b.orders, b.sessions = append(b.orders, order), append(b.sessions, out.SessionID)
		add(order, out.SessionID)
	}
	for range 2 {
		out, err := c.apps.Create(ctx, wire.NewKey(), application(c.name))
		require.NoError(t, err)
		b.applications = append(b.applications, out.OnboardingID)
		add(out.OnboardingID)
	}
	_, list := c.get("/agent/v1/operations?limit=200")
	for _, m := range regexp.MustCompile(`"key":"([^"]+)"`).FindAllStringSubmatch(list, -1) {
		b.operations = append(b.operations, m[1])
		add(m[1])
	}
	require.Len(t, b.operations, 12, "each write of a service that is stored: %s", list)
	return b
}

func build(order string) hosted.BuildRequest {
	return hosted.BuildRequest{
		MerchantURL: "https://shop.example", Order: hosted.Order{OrderID: order, Amount: "5000", Currency: "EUR"},
		PaymentSession: hosted.Session{ActionType: hosted.Pay, Amount: "5000", Language: "eng", PaymentService: hosted.CardService,
			ResultURL: "https://shop.example/result", CancelURL: "https://shop.example/cancel"},
	}
}

func application(name string) onboarding.Application {
	return onboarding.Application{Reference: name}
}

// Alpha sees and changes none of beta's twenty things, and none of the register's, over every route, list, stream and reversal path.
func TestField_P1AlphaReachesNothingOfBetas(t *testing.T) {
	t.Parallel()
	p := runProgram(t, twoClients)
	ctx := t.Context()
	alpha, beta, eyes, main := p.client("alpha", "alpha-token-0123456789"), p.client("beta", "beta-token-0123456789"), p.client("eyes", "eyes-token-0123456789"), p.client("demo", p.main())
	p.verb("register", "pay", "12.50", "--line", "tcp:"+p.register)
	b := beta.makes()
	before := p.verb("backend", "books", "--json")

	missing := func(what string, err error) {
		t.Helper()
		require.Equal(t, wire.NotFound, wire.CodeOf(err), "%s: %v", what, err)
	}
	forbidden := func(what string, err error) {
		t.Helper()
		require.Equal(t, wire.Forbidden, wire.CodeOf(err), "%s: %v", what, err)
	}
	for _, id := range b.payments {
		_, err := alpha.pay.Read(ctx, id)
		missing("read a payment", err)
		_, err = alpha.pay.Refund(ctx, wire.NewKey(), id, payments.RefundRequest{})
		missing("refund a payment", err)
		_, err = alpha.pay.Capture(ctx, wire.NewKey(), id, payments.CaptureRequest{})
		missing("capture a payment", err)
		_, err = alpha.pay.Cancel(ctx, wire.NewKey(), id, payments.CancelRequest{})
		missing("cancel a payment", err)
		_, err = alpha.pay.Authorize(ctx, wire.NewKey(), id, payments.AuthorizeRequest{})
		missing("authorize a payment", err)
		_, err = alpha.pay.Read(ctx, strings.ToUpper(id))
		missing("read a payment in other letters", err)
	}
	for _, id := range b.tokens {
		_, err := alpha.tok.Token(ctx, id)
		missing("read a token", err)
		_, err = alpha.tok.Verify(ctx, wire.NewKey(), id)
		missing("verify a token", err)
	}
	_, err := alpha.pay.Create(ctx, wire.NewKey(), payments.CreateRequest{Type: payments.MerchantHosted, Amount: 100, CurrencyCode: "EUR", PaymentNumber: "N2", Processing: payments.ProcessSale,
		PaymentMethodDetails: &payments.PaymentMethodDetails{Type: payments.WithToken, Token: b.token, TokenSecret: "secret-of-beta"}})
	missing("pay with a token", err)
	for _, id := range b.links {
		_, err := alpha.links.Read(ctx, id)
		missing("read a link", err)
		_, err = alpha.links.Delete(ctx, wire.NewKey(), id)
		missing("delete a link", err)
	}
	_, err = alpha.txns.Read(ctx, b.txn)
	missing("read a transaction", err)
	_, err = alpha.txns.Refund(ctx, wire.NewKey(), b.txn, paylinks.RefundRequest{})
	missing("refund a transaction", err)
	_, err = alpha.txns.Charge(ctx, wire.NewKey(), b.txn, paylinks.ChargeRequest{})
	missing("charge a transaction", err)
	_, err = alpha.txns.Capture(ctx, wire.NewKey(), b.txn)
	missing("capture a transaction", err)
	_, err = alpha.txns.Delete(ctx, wire.NewKey(), b.txn)
	missing("cancel a transaction", err)
	_, err = alpha.txns.List(ctx, paylinks.Filter{})
	forbidden("list transactions", err)
	for i, ref := range b.references {
		for _, id := range []string{ref, strings.ToUpper(ref), b.given[i]} {
			_, err := alpha.schemes.Status(ctx, id, "")
			missing("read a scheme transaction", err)
		}
		undo := scheme("alpha-undo-" + strconv.Itoa(i))
		undo.OriginalReference = ref
		_, err = alpha.schemes.InitializeWithIdempotency(ctx, wire.NewKey(), aapay.Reversal, undo)
		missing("reverse a scheme transaction", err)
		_, err = alpha.schemes.Initialize(ctx, aapay.Reversal, undo)
		missing("reverse a scheme transaction on the plain route", err)
		undo.OriginalReference = b.given[i]
		_, err = alpha.schemes.InitializeWithIdempotency(ctx, wire.NewKey(), aapay.Refund, undo)
		missing("refund a scheme transaction", err)
		_, err = alpha.schemes.Initialize(ctx, aapay.Payment, scheme(ref))
		missing("sell under another's reference", err)
	}
	for i, id := range b.sessions {
		_, err := alpha.sessions.State(ctx, id)
		missing("read a session", err)
		_, err = alpha.sessions.Card(ctx, id)
		missing("read a session's card", err)
		_, err = alpha.sessions.Cancel(ctx, wire.NewKey(), id)
		missing("cancel a session", err)
		_, err = alpha.sessions.Finalize(ctx, wire.NewKey(), id, "")
		missing("finalize a session", err)
		_, err = alpha.orders.Order(ctx, b.orders[i])
		missing("read an order", err)
		_, err = alpha.sessions.Build(ctx, wire.NewKey(), build(b.orders[i]))
		missing("build another's order", err)
	}
	for _, undo := range []func(context.Context, wire.Key, string, hosted.PostRequest) (hosted.Posted, error){alpha.orders.Refund, alpha.orders.Capture, alpha.orders.Cancel} {
		_, err = undo(ctx, wire.NewKey(), "4711", hosted.PostRequest{})
		missing("an operation that nobody here made", err)
	}
	mine := build("alpha-order")
	mine.PaymentSession.Recurrence = &hosted.Recurrence{Action: hosted.SubsequentPayment, ContractID: b.contract, ContractType: hosted.Unscheduled}
	_, err = alpha.sessions.Build(ctx, wire.NewKey(), mine)
	missing("charge another's contract", err)
	for _, id := range b.applications {
		_, err := alpha.apps.Read(ctx, id)
		missing("read an application", err)
		_, err = alpha.apps.Submit(ctx, wire.NewKey(), id)
		missing("submit an application", err)
		_, err = alpha.apps.Update(ctx, wire.NewKey(), id, application("alpha"))
		missing("change an application", err)
	}
	_, err = alpha.cases.List(ctx, disputes.ListRequest{CaseNumber: "100001"})
	forbidden("list disputes", err)
	for _, id := range append(append([]string{}, b.operations...), b.payments...) {
		status, text := alpha.get("/agent/v1/operations/" + id)
		require.Equal(t, 404, status, text)
		status, _ = eyes.get("/agent/v1/operations/" + id)
		require.Equal(t, 200, status, "all is the sight of everything")
	}
	for path, want := range map[string]int{"/agent/v1/sales": 403, "/metrics": 403, "/agent/v1/operations?limit=200": 200, "/agent/v1/operations?open=true": 200, "/agent/v1/status": 200} {
		status, text := alpha.get(path)
		require.Equal(t, want, status, "%s: %s", path, text)
		for _, id := range b.everything {
			require.NotContains(t, text, `"`+id+`"`, path)
		}
		require.NotContains(t, text, `"receipt"`, path)
	}

	// The stream: alpha's own end of it comes, and nothing of beta's before it.
	own, err := alpha.tok.CreateRecurring(ctx, wire.NewKey(), tokens.RecurringRequest{TokenSecret: "secret-of-alpha"})
	require.NoError(t, err)
	require.NotContains(t, alpha.stream(1), "beta")
	require.NotEmpty(t, own.TokenizationID)
	require.Contains(t, beta.stream(12), b.operations[0])

	// A client that only looks changes nothing, its own neither.
	_, err = eyes.pay.Refund(ctx, wire.NewKey(), b.payments[0], payments.RefundRequest{})
	forbidden("refund where only read and all are given", err)
	require.ErrorContains(t, err, "[port.clients.eyes] may")
	_, err = eyes.pay.Read(ctx, b.payments[0])
	require.NoError(t, err)

	// The register's sale: no way past the checkout, for the terminal's own token neither.
	var sales struct {
		Sales []struct {
			Reference     string
			TransactionID int64
		}
	}
	require.NoError(t, json.Unmarshal([]byte(p.verb("sale", "list", "--json")), &sales))
	sold := sales.Sales[0]
	for who, want := range map[*client]wire.Code{main: wire.Conflict, alpha: wire.NotFound} {
		for typ, original := range map[aapay.Type]string{aapay.Reversal: sold.Reference, aapay.Refund: strconv.FormatInt(sold.TransactionID, 10)} {
			undo := scheme("undo-" + who.name + "-" + string(typ))
			undo.OriginalReference = original
			undo.PurchaseAmount = &aapay.Amount{CurrencyCode: "EUR", NominalAmount: 1250, TotalAmount: 1250}
			for _, send := range []func() (aapay.Reply, error){
				func() (aapay.Reply, error) { return who.schemes.Initialize(ctx, typ, undo) },
				func() (aapay.Reply, error) {
					return who.schemes.InitializeWithIdempotency(ctx, wire.NewKey(), typ, undo)
				},
			} {
				_, err := send()
				require.Equal(t, want, wire.CodeOf(err), "%s of the register's sale by %s: %v", typ, who.name, err)
				if want == wire.Conflict {
					require.ErrorContains(t, err, "receipt 1")
				}
			}
		}
	}
	missingOr := func(id string) { _, err := alpha.schemes.Status(ctx, id, ""); missing("read the register's sale", err) }
	missingOr(sold.Reference)
	missingOr(strconv.FormatInt(sold.TransactionID, 10))
	require.Equal(t, before, p.verb("backend", "books", "--json"), "nothing of beta's or the register's has moved")
	require.Contains(t, p.verb("register", "reverse", "1", "--line", "tcp:"+p.register), "approved", "at the register it can be taken back")

	// Beta reaches all of it.
	_, err = beta.pay.Refund(ctx, wire.NewKey(), b.payments[0], payments.RefundRequest{})
	require.NoError(t, err)
	_, err = beta.txns.Refund(ctx, wire.NewKey(), b.txn, paylinks.RefundRequest{})
	require.NoError(t, err)
	_, err = beta.sessions.State(ctx, b.sessions[0])
	require.NoError(t, err)
	_, err = beta.pay.Create(ctx, wire.NewKey(), payments.CreateRequest{Type: payments.MerchantHosted, Amount: 100, CurrencyCode: "EUR", PaymentNumber: "N3", Processing: payments.ProcessSale,
		PaymentMethodDetails: &payments.PaymentMethodDetails{Type: payments.WithToken, Token: b.token, TokenSecret: "secret-of-beta"}})
	require.NoError(t, err)
}

// stream reads the events of a client from the beginning until n operations are done.
func (c *client) stream(n int) string {
	ctx, cancel := context.WithTimeout(c.p.t.Context(), need.Limit())
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.p.port+"/agent/v1/events", http.NoBody)
	require.NoError(c.p.t, err)
	resp, err := c.Do(req)
	require.NoError(c.p.t, err)
	defer resp.Body.Close()
	require.Equal(c.p.t, 200, resp.StatusCode)
	var all strings.Builder
	for lines := bufio.NewScanner(resp.Body); n > 0; {
		require.True(c.p.t, lines.Scan(), "the stream ended: %s", &all)
		all.WriteString(lines.Text() + "\n")
		if lines.Text() == "event: operation.done" {
			n--
		}
	}
	return all.String()
}

// What one client made is given to another with its history; the first does not reach it any more.
func TestField_P1OpsOwnMovesAThing(t *testing.T) {
	t.Parallel()
	p := runProgram(t, twoClients)
	ctx := t.Context()
	alpha, main := p.client("alpha", "alpha-token-0123456789"), p.client("demo", p.main())
	out, err := main.pay.Create(ctx, wire.NewKey(), payments.CreateRequest{Type: payments.Moto, Amount: 1250, CurrencyCode: "EUR", Processing: payments.ProcessSale, PaymentNumber: "N1",
		CardDetails: &payments.CardDetails{PAN: wire.NewPAN("4111111111111111"), ExpiryYear: 2099, ExpiryMonth: 12}})
	require.NoError(t, err)
	_, err = main.pay.Refund(ctx, wire.NewKey(), out.PaymentID, payments.RefundRequest{Amount: new(int32(100))})
	require.NoError(t, err)
	_, err = alpha.pay.Read(ctx, out.PaymentID)
	require.Equal(t, wire.NotFound, wire.CodeOf(err))
	require.Contains(t, p.verb("ops", "own", out.PaymentID, "alpha"), "given to alpha")
	_, err = alpha.pay.Read(ctx, out.PaymentID)
	require.NoError(t, err)
	_, list := alpha.get("/agent/v1/operations")
	require.Equal(t, 2, strings.Count(list, `"state":"DONE"`), "%s", list)
	require.Contains(t, alpha.stream(2), "payments.refund")
	_, err = alpha.pay.Refund(ctx, wire.NewKey(), out.PaymentID, payments.RefundRequest{Amount: new(int32(100))})
	require.NoError(t, err, "its row verifies still")
	given := p.verb("ops", "own", out.PaymentID, "main", "--json")
	require.Contains(t, given, `"verb": "own"`)
	require.NoError(t, schemaOf(" ops own", []byte(given)))
	_, err = alpha.pay.Read(ctx, out.PaymentID)
	require.Equal(t, wire.NotFound, wire.CodeOf(err))
	require.Contains(t, p.verb("audit", "--json"), "belongs to alpha")
}

// A write is found again by every name its caller may know: the answer's Location, our Key, its own Idempotency-Key, and the ids of
// what it made; what is read has the id that was asked, and the events carry all of them.
func TestField_P5IdsThatStay(t *testing.T) {
	t.Parallel()
	p := runProgram(t, twoClients)
	main, alpha := p.client("demo", p.main()), p.client("alpha", "alpha-token-0123456789")
	post := func(c *client, path, key, body string) (int, http.Header, map[string]any) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.port+path, strings.NewReader(body))
		require.NoError(t, err)
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set(wire.KeyHeader, key)
		resp, err := c.Do(req)
		require.NoError(t, err)
		defer resp.Body.Close()
		var v map[string]any
		require.NoError(t, json.NewDecoder(resp.Body).Decode(&v))
		return resp.StatusCode, resp.Header, v
	}
	const create = `{"type":"Moto","amount":1250,"currencyCode":"EUR","processing":"Sale","cardDetails":{"pan":"4111111111111111","expiryYear":2090,"expiryMonth":1}}`
	status, header, made := post(main, "/api/v1/payments", "till-1-order-7", create)
	require.Equal(t, 201, status)
	at := header.Get("Location")
	require.Regexp(t, `^/agent/v1/operations/[0-9a-f-]{36}$`, at, "an online write answers it too")
	id, _ := made["paymentId"].(string)
	key := strings.TrimPrefix(at, "/agent/v1/operations/")
	if upper := strings.ToUpper(id); upper != id {
		status, _ := main.get("/agent/v1/operations/" + upper)
		require.Equal(t, 404, status, "ids are compared as they are spelled")
	}
	for _, name := range []string{key, "L" + key, id, "till-1-order-7"} {
		status, text := main.get("/agent/v1/operations/" + name)
		require.Equal(t, 200, status, "%s: %s", name, text)
		require.Contains(t, text, `"key":"`+key+`"`, name)
		status, _ = alpha.get("/agent/v1/operations/" + name)
		require.Equal(t, 404, status, "another client's")
	}
	for _, name := range []string{id, "L" + key, key} {
		status, text := main.get("/api/v1/payments/" + name)
		require.Equal(t, 200, status)
		require.Contains(t, text, `"paymentId":"`+name+`"`)
		status, header, done := post(main, "/api/v1/payments/"+name+"/Refund", "refund-by-"+name, `{"amount":10}`)
		require.Equal(t, 200, status, "%s %v", name, done)
		require.Equal(t, name, done["paymentId"])
		require.NotEmpty(t, header.Get("Location"))
	}
	status, header, _ = post(main, "/api/v1/payments/"+id+"/Refund", "too-much", `{"amount":999999}`)
	require.Equal(t, 422, status)
	status, text := main.get(header.Get("Location"))
	require.Equal(t, 200, status, "a refused write is found, too")
	require.Contains(t, text, `"state":"FAILED"`)

	link, err := main.links.Create(t.Context(), "", paylinks.CreateRequest{Title: "Order", Description: "Thank you", ReferenceID: "r", Purpose: "Order", Amount: 1250, Currency: "EUR"})
	require.NoError(t, err)
	status, text = main.get("/agent/v1/operations/" + strconv.FormatInt(link.ID, 10))
	require.Equal(t, 200, status)
	local := regexp.MustCompile(`"localId":"(2\d{9})"`).FindStringSubmatch(text)
	require.NotNil(t, local, text)
	status, again := main.get("/agent/v1/operations/" + local[1])
	require.Equal(t, 200, status, "the local id of a link, as it is listed")
	require.Equal(t, text, again)
	n, err := strconv.ParseInt(local[1], 10, 64)
	require.NoError(t, err)
	read, err := main.links.Read(t.Context(), n)
	require.NoError(t, err)
	require.Equal(t, n, read.ID)
	told := main.stream(5)
	for _, want := range []string{`"key":"` + key + `"`, `"localId":"L` + key + `"`, `"backendId":"` + id + `"`, `"localId":"` + local[1] + `"`} {
		require.Contains(t, told, want)
	}
}
