package change

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"posagent/cross/need"
	"posagent/cross/program"
	"posagent/cross/tills"
	"posagent/schemes/money"
)

const (
	// The stale age of meanDelay 1 is 3 s; the time-outs are milliseconds here.
	method = `{"priority":%d,"paymentProviderId":%d,"name":%q,"label":%q,"meanDelay":1,"trigger":["QR"],"defaultTrigger":"QR",
 "transactionTypes":["PAYMENT","REFUND","REVERSAL"],"staleTimeOut":300,"finalizeTimeOut":300,"delayedAmount":0}`
	backendConfig = "[methods]\ntimeout_unit = \"ms\"\n[backend]\nseed = %q\nwallet_delay = %q\n"
	agentConfig   = `[terminal]
bax_id = %q
terminal_id = "29001006"
merchant_id = %q
merchant_name = "Change"
currency = %q
[port]
listen = %q
token = %q
[port.clients]
second.token = %q
second.may = ["read", "pay", "refund", "links", "sales"]
[upstream]
base = %q
payments = %q
paylinks = %q
timeout = "1s"
[upstream.auth]
consumer_key = "demo-consumer"
consumer_secret = "demo-consumer-secret"
instance = "demo"
secret = "demo-secret"
[paylinks]
method = %v
priority = 0
mean_delay = "1s"
[methods]
timeout_unit = "ms"
poll = "40ms"
exclude = [%d]
[display]
console = false
[offline]
max_amount = ["* 100000"]
max_total = ["* 10000000"]
answer_within = "300ms"
`
	second = "second-till-token-0123"
)

// firstPort is that of the first line of every terminal, each of which has an address of its own.
const firstPort = 21_007

// spoken is one register line.
type spoken struct {
	protocol, name string
	port           int
}

// lines are those of a new terminal. Two tills need two lines where the protocol has no names of tills.
func lines() []spoken {
	return []spoken{
		{"zvt", "", firstPort}, {"jsonl", "", firstPort + 1}, {"ecr17", "", firstPort + 2}, {"caisse-ap", "", firstPort + 3}, {"nexo", "", firstPort + 4},
		{"zvt", "second", firstPort + 5}, {"jsonl", "till2", firstPort + 6},
	}
}

const httpPort = firstPort + 7

// config is what a terminal's configuration says, as far as a world changes it.
type config struct {
	currency, merchant, bax  string
	exclude                  int
	base, payments, paylinks int // which backend
	link                     bool
	lines                    []spoken
}

func (w *world) text(c config) string {
	text := fmt.Sprintf(agentConfig, c.bax, c.merchant, c.currency, w.at(httpPort), tills.Token, second, w.net.urls[c.base], w.net.urls[c.payments], w.net.urls[c.paylinks], c.link, c.exclude)
	for _, l := range c.lines {
		text += fmt.Sprintf("[[ecr]]\nprotocol = %q\ntcp = %q\ngrace = \"3s\"\npatience = \"20s\"\n", l.protocol, w.at(l.port))
		if l.name != "" {
			text += fmt.Sprintf("name = %q\n", l.name)
		}
		if l.protocol == "nexo" {
			text += "poi_id = \"POSAGENT-000020000001\"\n"
		}
	}
	return text
}

// enough is how long a till waits for one answer, and how long a run waits at its end for what goes on: a link that nobody pays, and its
// undo, take minutes. A till that has waited has heard nothing, and a sale that goes on is the terminal's.
const enough = 40 * time.Second

// site is one backend with books of its own.
type site struct {
	*program.Process
	at string
}

// world is one terminal with everything around it.
type world struct {
	plan
	bin, dir string // dir has a folder for each program
	host     string
	net      *network
	ctx      context.Context

	opening sync.Mutex
	sites   [2]site

	// Of the changes alone.
	config, agreed config // agreed is the last one that the terminal has started with
	terminal       *program.Process
	log            *program.Talk
	bundles        []string
	mounted        bool
	replaced       int

	mu     sync.Mutex
	sales  []*sale
	writes []*write
	trail  []string
	wrong  []string
}

// errEnded is what a world says that cannot go on; why stands in wrong.
var errEnded = errors.New("the run ended early")

func (w *world) note(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.trail = append(w.trail, time.Now().Format("05.000 ")+fmt.Sprintf(format, args...))
}

// violate says what is wrong.
func (w *world) violate(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.wrong = append(w.wrong, fmt.Sprintf(format, args...))
}

func (w *world) path(name ...string) string {
	return filepath.Join(append([]string{w.dir}, name...)...)
}

// open makes a world in a folder.
func open(ctx context.Context, p plan, bin, dir, host string) (*world, error) {
	w := &world{plan: p, bin: bin, dir: dir, host: host, ctx: ctx}
	w.config = config{currency: "EUR", merchant: "changemerchant", bax: "1000001", link: p.link, exclude: 99, lines: lines()}
	w.agreed = w.config
	if err := errors.Join(os.MkdirAll(w.path("a"), 0o700), os.WriteFile(w.path("backup.key"), []byte("a key of enough bytes for a test\n"), 0o600)); err != nil {
		return w, err
	}
	if p.full && os.Geteuid() == 0 { // elsewhere the disk is not filled
		w.mounted = syscall.Mount("tmpfs", w.path("a"), "tmpfs", 0, "size=48m,mode=0700") == nil
	}
	var err error
	if w.net, err = openNetwork(w.site); err != nil {
		return w, err
	}
	if _, err := w.site(0); err != nil {
		return w, err
	}
	return w, w.start()
}

// site returns the address of a backend, and starts one that was not needed before.
func (w *world) site(i int) (string, error) {
	w.opening.Lock()
	defer w.opening.Unlock()
	s := &w.sites[i]
	if s.Process != nil && s.Alive() {
		return s.at, nil
	}
	name := fmt.Sprintf("backend%d", i)
	methods := fmt.Sprintf("["+method+","+method+"]", 1, 1, "SWISH_E_COM", "Swish", 2, 2, "EASY", "Easy")
	if err := errors.Join(os.WriteFile(w.path(name+".json"), []byte(methods), 0o600),
		os.WriteFile(w.path(name+".toml"), fmt.Appendf(nil, backendConfig, w.path(name+".json"), paidAfter.String()), 0o600)); err != nil {
		return "", err
	}
	cmd := exec.Command(w.bin, "backend", "--listen", "127.0.0.1:0", "--config", w.path(name+".toml"), "--state", w.path(name))
	p, line, err := program.Start(cmd, "listening on ")
	if err != nil {
		return "", err
	}
	s.Process, s.at = p, strings.TrimPrefix(line, "listening on ")
	return s.at, nil
}

// close ends everything.
func (w *world) close() {
	if w.terminal != nil {
		w.terminal.Kill()
	}
	if w.net != nil {
		w.net.close()
	}
	for _, s := range w.sites {
		if s.Process != nil {
			s.Kill()
		}
	}
	if w.mounted {
		_ = syscall.Unmount(w.path("a"), syscall.MNT_DETACH)
	}
}

// flags are those of every verb on the terminal.
func (w *world) flags(args ...string) *exec.Cmd {
	return exec.Command(w.bin, append(args, "--config", w.path("config.toml"), "--state", w.path("a"))...)
}

// verb runs a verb of the program on the terminal's state.
func (w *world) verb(args ...string) (string, error) {
	out, err := w.flags(args...).CombinedOutput()
	w.note("posagent %s: %v %.300s", strings.Join(args, " "), err, out)
	return string(out), err
}

// start starts the terminal with its configuration, and waits until it says whether it is ready. A
// terminal that does not agree to its configuration gets the last one again that it has agreed to.
func (w *world) start() error {
	err := w.try()
	for err != nil && w.filled() && pass(w.ctx, 100*time.Millisecond) { // it says that there is no room, and there is none
		err = w.try()
	}
	if err != nil && w.text(w.config) != w.text(w.agreed) {
		w.note("refused: %v", err)
		w.config = w.agreed
		err = w.try()
	}
	for range 5 { // each service by itself
		if err == nil || !w.release(err) {
			break
		}
		err = w.try()
	}
	if err != nil {
		w.violate("the terminal does not start: %v", err)
		return errEnded
	}
	w.agreed = w.config
	return nil
}

// release says to a terminal that does not know what its journal before has sent where, as the technician does who has looked there, that
// other books stand where it is now. It returns false where the terminal asks for nothing of that kind.
func (w *world) release(refused error) bool {
	_, text, found := strings.Cut(refused.Error(), "posagent journal moved")
	text, _, whole := strings.Cut(text, " --reason")
	words := strings.Fields(text)
	if !found || !whole || len(words) == 0 {
		return false
	}
	w.retire()
	_, err := w.verb("journal", "moved", words[len(words)-1], "--other-books", "--reason", "the campaign has looked")
	return err == nil
}

// retire keeps tills and clients from asking again for what they have asked for: the technician has told them so.
func (w *world) retire() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, s := range w.sales {
		s.retired = true
	}
	for _, x := range w.writes {
		x.retired = true
	}
}

// filled reports whether the disk of the terminal is full.
func (w *world) filled() bool {
	_, err := os.Stat(w.path("a", "filler"))
	return err == nil
}

func (w *world) try() error {
	if err := os.WriteFile(w.path("config.toml"), []byte(w.text(w.config)), 0o600); err != nil {
		return err
	}
	cmd := w.flags("run")
	w.log = &program.Talk{}
	cmd.Stdout, cmd.Stderr = w.log, w.log
	p, err := program.Run(cmd)
	if err != nil {
		return err
	}
	w.terminal = p
	for end := need.Deadline(); ; {
		text := "\n" + w.log.String()
		if at := strings.Index(text, "\nready"); at >= 0 {
			w.note("started: ready")
			return nil
		} else if at := strings.Index(text, "\nnot ready"); at >= 0 {
			w.note("started: %.200s", text[at+1:])
			return nil
		}
		select {
		case <-p.Dead:
			return fmt.Errorf("%s: %s", p.Cmd.ProcessState, last(w.log.String(), 700))
		case <-time.After(10 * time.Millisecond):
		}
		if time.Now().After(end) {
			p.Kill()
			return fmt.Errorf("it says neither ready nor not ready: %s", last(w.log.String(), 700))
		}
	}
}

func last(text string, n int) string { return strings.TrimSpace(text[max(0, len(text)-n):]) }

// stop ends the terminal as an init system does.
func (w *world) stop() {
	_ = w.terminal.Cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-w.terminal.Dead:
	case <-time.After(need.Limit()):
		w.terminal.Kill()
	}
}

// row is what another process reads of a sale in the terminal's journal.
type row struct {
	ID, Key, Line, Kind, Phase, Result, Told, Reference, Aside string
	Amount                                                     int64
	Receipt                                                    int
	Settled, Quarantined                                       bool
}

func (w *world) rows() (list []row, err error) {
	out, err := w.flags("sale", "list", "--json", "--limit", "1000").Output()
	if err != nil {
		return nil, fmt.Errorf("sale list: %w", err)
	}
	var v struct{ Sales []row }
	err = json.Unmarshal(out, &v)
	return v.Sales, err
}

// operation is what another process reads of what is owed to the backend.
type operation struct {
	Key, Kind, State, Subject string
	Amount                    int64
}

func (w *world) operations() (list []operation, err error) {
	out, err := w.flags("ops", "list", "--json").Output()
	if err != nil {
		return nil, fmt.Errorf("ops list: %w", err)
	}
	var v struct{ Operations []operation }
	err = json.Unmarshal(out, &v)
	return v.Operations, err
}

// attention is what the terminal says to a person: its lines and alerts, as one text.
func (w *world) attention() (string, error) {
	out, _ := w.flags("status", "--json").Output() // its exit code says whether it is ready
	var v struct {
		Attention   []string
		Alerts      json.RawMessage
		Differences json.RawMessage
	}
	if err := json.Unmarshal(out, &v); err != nil {
		return "", fmt.Errorf("status: %w: %s", err, out)
	}
	return strings.Join(v.Attention, "\n") + "\n" + string(v.Alerts) + "\n" + string(v.Differences), nil
}

// till is a till of the terminal: the first of its protocol, or the second. Its connections break after
// so many bytes of the terminal; below 0 they do not.
func (w *world) till(p tills.Protocol, which, cut int, counts bool) *tills.Till {
	way := tills.Way{Counts: counts, Name: []string{"01", "02"}[which], Token: []string{tills.Token, second}[which], Wait: min(need.Limit(), enough)}
	way.Addr = w.at(w.portOf(p.Name, which))
	way.Dial = func(ctx context.Context) (net.Conn, error) {
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", way.Addr)
		if err == nil && cut >= 0 {
			conn = tills.Breaking(conn, cut)
		}
		return conn, err
	}
	if p.Name == "nexo" {
		way.Roots = w.roots
	}
	return p.New(way)
}

// portOf is where a till finds the terminal: a till is on a cable, whatever the terminal calls its lines.
func (w *world) portOf(protocol string, which int) int {
	if protocol == "http" {
		return httpPort
	}
	var ports []int
	for _, l := range lines() {
		if l.protocol == protocol {
			ports = append(ports, l.port)
		}
	}
	return ports[min(which, len(ports)-1)]
}

// spelled is an amount as a person reads it.
func spelled(amount int64) string {
	euro, _ := money.Lookup("EUR")
	return money.FormatNumber(money.Minor(amount), euro)
}

// whole reports whether a text has a number that is no part of a longer one.
func whole(text, number string) bool {
	for rest := text; ; {
		i := strings.Index(rest, number)
		if i < 0 {
			return false
		}
		before, after := byte(' '), byte(' ')
		if i > 0 {
			before = rest[i-1]
		}
		if i+len(number) < len(rest) {
			after = rest[i+len(number)]
		}
		if !bytes.ContainsAny([]byte{before}, "0123456789.") && !bytes.ContainsAny([]byte{after}, "0123456789") {
			return true
		}
		rest = rest[i+len(number):]
	}
}
