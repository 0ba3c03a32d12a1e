package main

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"posagent/agent"
	"posagent/agent/checkout/drive/journal"
	"posagent/agent/config"
	"posagent/agent/control"
	"posagent/agent/doctor"
	"posagent/agent/lifecycle/enrol"
	"posagent/agent/outbox"
	"posagent/agent/ready"
	"posagent/agent/records/audit"
	"posagent/agent/records/deletedrows"
	"posagent/agent/support/daily"
	"posagent/agent/view"
	"posagent/cmd/usage"
	"posagent/device"
	"posagent/device/file"
	"posagent/device/keypad"
	"posagent/device/line"
	"posagent/store"
)

// gathered are the facts of an examination, and what has to be closed after it.
type gathered struct {
	facts *doctor.Facts
	stop  context.CancelFunc

	mu     sync.Mutex
	closed bool
	reads  sync.WaitGroup // of the journal: a check whose time was up leaves one behind
	db     atomic.Pointer[store.Journal]
}

// readEnds is how long close waits for a read that it has told to end.
const readEnds = time.Second

// during runs a read of the journal, none after close.
func (g *gathered) during(read func()) {
	g.mu.Lock()
	if g.closed {
		g.mu.Unlock()
		return
	}
	g.reads.Add(1)
	g.mu.Unlock()
	defer g.reads.Done()
	read()
}

// close ends the reads that still run, so that each removes the copy it has made, and closes what is open. It waits no longer than
// readEnds: a medium may never answer.
func (g *gathered) close() {
	g.mu.Lock()
	g.closed = true
	g.mu.Unlock()
	g.stop()
	ended := make(chan struct{})
	go func() { g.reads.Wait(); close(ended) }()
	late := time.NewTimer(readEnds)
	defer late.Stop()
	select {
	case <-ended:
	case <-late.C:
	}
	if db := g.db.Load(); db != nil {
		_ = (*db).Close() // it was opened for reading
	}
}

// gather makes the facts. What takes time is looked up when a check asks for it; journal and backend once.
func gather(ctx context.Context, c *call) *gathered {
	g := &gathered{}
	ctx, g.stop = context.WithCancel(ctx)
	quiet := slog.New(slog.DiscardHandler)
	cfg, err := readConfig(c)
	f := &doctor.Facts{
		Now: time.Now().UTC().Truncate(time.Millisecond), Place: placeOf(c), State: c.stateDir(), Mine: os.Getpid(), Proc: "/proc", Sys: "/sys",
		Config:   doctorConfig(c, cfg, err),
		Sane:     func(now time.Time) bool { return device.ClockSane(now, usage.BuiltAt(version)) },
		Zone:     func() (string, *ready.Said) { return doctorZone(c) },
		Dir:      func() error { return ownDir(c.stateDir(), os.Geteuid()) },
		InMemory: file.InMemory,
		Answers:  func(ctx context.Context) error { return answers(ctx, controlSocket(c)) },
	}
	f.Daemon = doctorDaemon(c)
	f.Token = func() error { return doctorToken(c, cfg) }
	f.Key = func() doctor.Key { k, _ := doctorKey(c); return k }
	f.Lines = func() []doctor.Line { return doctorLines(f.Config.Serial) }
	f.List = func() (string, string) { return doctorList(cfg) }
	f.Pad = func() *ready.Trouble { return doctorPad(cfg) }
	f.Screens = func() []ready.Trouble { return doctorScreens(cfg) }
	var (
		journal       doctor.Journal
		list, schemes doctor.Answer
	)
	read := sync.OnceFunc(func() { journal = g.journal(ctx, c, f.Now) })
	askList := sync.OnceFunc(func() { list = askMethods(ctx, cfg, f.Config, quiet) })
	ask := sync.OnceFunc(func() { schemes = askSchemes(ctx, cfg, f.Config, quiet) })
	f.Journal = func(context.Context) doctor.Journal { g.during(read); return journal }
	f.Backend = func(context.Context) doctor.Answer { askList(); return list }
	f.Schemes = func(context.Context) doctor.Answer { ask(); return schemes }
	f.Accounts = func(ctx context.Context) []doctor.Account { return askAccounts(ctx, cfg, f.Config) }
	g.facts = f
	return g
}

func doctorConfig(c *call, cfg config.Config, err error) doctor.Config {
	v := doctor.Config{File: configPath(c), Named: configPath(c) != "" || len(cfg.Origin()) > 0, Ignored: cfg.Ignored()}
	if err != nil {
		v.Named = true
		if errors.Is(err, enrol.ErrDamaged) {
			v.NoRecord = unreadBecause(err)
		}
		for _, p := range config.Problems(err) {
			v.Problems = append(v.Problems, doctor.Problem{Where: p.Where, Key: p.Key, Text: p.Err.Error(), NoFile: errors.Is(p.Err, config.ErrNoFile)})
		}
		return v
	}
	for _, p := range config.Problems(exposed(cfg)) {
		v.Problems = append(v.Problems, doctor.Problem{Key: p.Key, Text: p.Err.Error()})
	}
	for _, p := range config.Problems(cfg.Twice()) {
		v.Twice = append(v.Twice, p.Key+": "+p.Err.Error())
	}
	if err := connectable(c, cfg); err != nil {
		v.Files = err.Error()
	}
	about := aboutTerminal(cfg, cfg.Sandbox())
	v.Unenrolled = v.Named && unenrolled(c, cfg)
	v.Sandbox, v.Terminal, v.Backend, v.First, v.Sellers = cfg.Sandbox(), about.Terminal, about.Backend, about.Serial, about.Sellers
	v.Separate = cfg.Upstream.URL("schemes") != cfg.Upstream.URL("methods")
	if s, err := enrolment(c).Summary(); err == nil {
		v.Revision, v.GivenUp = s.Revision, s.Refused
	}
	if cfg.Upstream.Device != nil {
		v.Device = cfg.Upstream.Device().Certificate[0]
	}
	v.Keypad, v.List = cfg.Keypad.Device, cfg.Compare.File
	for _, path := range []string{cfg.Display.Framebuffer, cfg.Display.File} {
		if path != "" {
			v.Screens = append(v.Screens, path)
		}
	}
	v.Proxy, v.Port, v.ClientCert, v.Mark = cfg.Upstream.Proxy != "", cfg.Port.Listen, cfg.Upstream.ClientCert, cfg.Store.Mark
	v.Credentials = authKeys(cfg, "schemes") != "" && authKeys(cfg, "methods") != "" || v.ClientCert != "" || v.Device != nil
	v.Refresh, v.MaxAge, v.MaxCount = cfg.Methods.Refresh, cfg.Offline.MaxAge, cfg.Offline.MaxCount
	for _, e := range cfg.Registers() {
		host, _, err := net.SplitHostPort(e.TCP)
		ip := net.ParseIP(host)
		here := err != nil || host == "localhost" || ip != nil && ip.IsLoopback()
		if !here && e.Open && e.Password == "" && len(e.Allow) == 0 {
			v.Open = append(v.Open, e.TCP)
		}
		if e.Serial != "" {
			v.Serial = append(v.Serial, e.Serial)
		}
		if e.TCP != "" {
			v.TCP = append(v.TCP, e.TCP)
		}
	}
	return v
}

// doctorDaemon is what the running terminal says of itself.
func doctorDaemon(c *call) doctor.Daemon {
	pid, running, err := runningPID(c)
	d := doctor.Daemon{PID: pid, Running: running}
	if err != nil && !errors.Is(err, os.ErrPermission) {
		d.Err = err.Error()
	}
	if !running {
		d.PID = 0
		return d
	}
	live, _ := says(c, pid)
	return daemonSays(d, live)
}

// doctorZone is zoneFault in words.
func doctorZone(c *call) (name string, fault *ready.Said) {
	name, t := zoneFault()
	if t == nil {
		return name, nil
	}
	said := ready.Say(*t, placeOf(c))
	return name, &said
}

// daemonSays adds what the running terminal says of itself.
func daemonSays(d doctor.Daemon, live view.Live) doctor.Daemon {
	if live.PID != d.PID {
		return d
	}
	d.Told = live.Report.Ready || live.Report.NotReady != nil
	d.Report, d.Troubles, d.Sandbox = live.Report, live.Troubles, live.Sandbox
	d.Zone, d.Terminal, d.Backend, d.Serial = live.Zone, live.Names.Terminal, live.Names.Backend, live.Names.Serial
	if p := live.Printer; p != nil {
		d.Printer = doctor.Printer{Set: true, Waiting: p.Waiting, Reason: p.Reason, NearEnd: p.NearEnd, Behind: p.Behind}
	}
	for _, s := range live.Services {
		u := doctor.Undelivered{Name: s.Name, Words: s.Reason, Since: s.Since, Kinds: s.Kinds}
		if s.Said != nil {
			u.Words, u.Remedy = s.Said.Words, s.Said.Remedy
		}
		d.Undone = append(d.Undone, u)
	}
	for _, l := range live.Lines {
		h := doctor.Heard{Name: l.Name, Deaf: l.Deaf(), Bad: l.Bad, Noise: l.Noise}
		if live.At.Sub(l.WrongAt) < 24*time.Hour {
			h.Passwords, h.From = l.WrongPasswords, l.WrongFrom
		}
		d.Lines = append(d.Lines, h)
	}
	return d
}

// answers asks the running terminal's control socket for anything at all.
func answers(ctx context.Context, socket string) error {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	heard := false
	err := (&control.Client{Path: socket}).Events(ctx, func() { heard = true; cancel() }, func(view.Event) bool { return true })
	switch {
	case heard:
		return nil
	case ctx.Err() != nil:
		return errors.New("it does not answer")
	}
	return err
}

// doctorKey looks at the device key; the error is why it cannot be used.
func doctorKey(c *call) (doctor.Key, error) {
	k := doctor.Key{Path: filepath.Join(keyDir(c), "device.key")}
	_, err := device.LoadKeys(keyDir(c))
	if err == nil {
		return k, nil
	}
	k.Text = strings.TrimPrefix(err.Error(), "device: ")
	switch {
	case errors.Is(err, device.ErrNoKey):
		fi, noJournal := os.Stat(agentDB(c))
		k.Missing = noJournal == nil && fi.Size() > 0
	case errors.Is(err, device.ErrKeyFile):
		k.Unfit = !othersPrivate(k.Path, ownerOf(c.stateDir()))
	}
	return k, err
}

// doctorToken says why the token of the local port cannot be used, nil where it can or the start makes one.
func doctorToken(c *call, cfg config.Config) error {
	if cfg.Port.Listen == "" || cfg.Port.Token != "" {
		return nil
	}
	_, err := readToken(filepath.Join(c.stateDir(), "port.token"), ownerOf(c.stateDir()))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

// ownerOf is the account that a directory belongs to, this one where that is not known.
func ownerOf(dir string) int {
	var st unix.Stat_t
	if unix.Stat(dir, &st) != nil {
		return os.Geteuid()
	}
	return int(st.Uid)
}

// othersPrivate says whether root looks at a private file of the account that runs the terminal: root itself must not use such a key.
func othersPrivate(path string, owner int) bool {
	var st unix.Stat_t
	return os.Geteuid() == 0 && owner != 0 && unix.Lstat(path, &st) == nil && int(st.Uid) == owner && st.Mode&unix.S_IFMT == unix.S_IFREG && st.Mode&0o077 == 0
}

// doctorList reads the till's list as the daily comparison does.
func doctorList(cfg config.Config) (words, remedy string) {
	var t *daily.Trouble
	if errors.As(daily.Look(cfg.Compare.File, cfg.Terminal.Currency, time.Local), &t) {
		return t.Words, t.Remedy
	}
	return "", ""
}

// doctorPad looks at the keypad, from which it takes no key.
func doctorPad(cfg config.Config) *ready.Trouble {
	keys, err := cfg.Keypad.Keys()
	if err == nil {
		_, err = keypad.Config{Path: cfg.Keypad.Device, Map: keys}.Look()
	}
	if err == nil {
		return nil
	}
	return padTrouble(cfg.Keypad.Device, err)
}

// doctorLines looks at the serial lines of a terminal that does not run, without opening it.
func doctorLines(paths []string) (list []doctor.Line) {
	for _, name := range paths {
		path, err := line.Config{Path: name}.Look()
		l := doctor.Line{Name: name, Device: path}
		if err != nil {
			l.Text = err.Error()
			t := lineTrouble(line.Stats{Path: name, Reason: err, LastError: l.Text, WaitingForLock: errors.Is(err, line.ErrInUse)}, nil)
			l.Cause, l.Remedy = t.Cause, t.Remedy
		}
		list = append(list, l)
	}
	return list
}

// journal reads the journal beside the running terminal, or without it.
func (g *gathered) journal(ctx context.Context, c *call, now time.Time) doctor.Journal {
	j := doctor.Journal{State: doctor.NoJournal}
	_, missing := os.Stat(agentDB(c))
	var with store.Wrapper
	keys, err := device.LoadKeys(keyDir(c))
	if err == nil {
		with = keys
	}
	pid, _, _ := runningPID(c) // the terminal itself holds nobody up
	db, err := fileOf(c).read(ctx, with, false)
	if err == nil {
		g.db.Store(&db)
		err = db.Read(ctx, func(r store.Reader) error {
			h := db.Health(ctx)
			j.WALBytes, j.ShortBytes, j.Holders = h.WALBytes, h.ShortBytes, view.Holders(h, pid)
			return readQueue(r, &j, now)
		})
	}
	if missing != nil && errors.Is(err, os.ErrNotExist) { // none was here, or a reset has ended it, and says so in the mark
		return j
	}
	if err != nil {
		j.State, j.Text = journalState(agentDB(c), err), err.Error()
		if cut := (*store.CutError)(nil); errors.As(err, &cut) {
			j.Text = cut.Why
		}
		if j.State == doctor.WrongKey {
			t, _ := barredBy(c.stateDir(), err)
			j.Text = t.Detail
		}
		return j
	}
	j.State, j.Quick, j.Keyed = doctor.Readable, db.QuickCheck, with != nil
	if with != nil {
		j.Audit = func(ctx context.Context) ([]string, error) { return auditFindings(ctx, db) }
	}
	return j
}

// journalState names why a journal cannot be read.
func journalState(path string, err error) doctor.JournalState {
	var cut *store.CutError
	switch {
	case errors.As(err, &cut) && cut.Missing:
		return doctor.LostJournal
	case errors.As(err, &cut):
		return doctor.CutShort
	case errors.Is(err, store.ErrNewer):
		return doctor.NewerSchema
	case errors.Is(err, device.ErrWrongKey):
		return doctor.WrongKey
	case errors.Is(err, store.ErrFull), errors.Is(err, unix.ENOSPC):
		return doctor.FullDisk
	case errors.Is(err, os.ErrPermission):
		return doctor.Forbidden
	case errors.Is(err, store.ErrDamaged) && isJournal(path):
		return doctor.Damaged
	case errors.Is(err, store.ErrDamaged):
		return doctor.NoDatabase
	}
	return doctor.Unreadable
}

// readQueue reads what sales and operations wait for.
func readQueue(r store.Reader, j *doctor.Journal, now time.Time) error {
	var v view.Status
	if err := v.Read(r, false); err != nil {
		return err
	}
	if v.MethodsFetched != nil {
		j.Fetched = *v.MethodsFetched
	}
	j.Unconfirmed, j.Alerts = v.Unconfirmed, v.Waiting()
	for _, o := range v.Operations {
		switch outbox.State(o.State) {
		case outbox.Pending, outbox.Sent:
			j.Waiting += o.Count
		case outbox.Doubt:
			j.Doubt += o.Count
		case outbox.Held:
			j.Held += o.Count
		}
	}
	j.Kinds = waitingKinds(v.Operations)
	receipts, err := journal.ReceiptsOf(r)
	if err != nil {
		return err
	}
	if j.Full = receipts.Left == 0; receipts.Few() {
		j.Few = receipts.Said()
	}
	open, err := journal.Waiting(r, -1) // whatever came since
	if err != nil {
		return err
	}
	for _, s := range open {
		if s.Aside != "" {
			j.Aside = append(j.Aside, string(s.Key)+": "+s.Aside)
		}
	}
	altered, err := journal.Altered(r)
	if err != nil {
		return err
	}
	for _, s := range altered {
		j.Altered = append(j.Altered, string(s.Key))
	}
	if j.Missing, err = deletedrows.Read(r); err != nil {
		return err
	}
	if j.Restored, err = outbox.Past(r); err != nil {
		return err
	}
	for _, state := range []outbox.State{outbox.Pending, outbox.Sent} {
		list, err := outbox.LookAll(r, outbox.Filter{State: state, Limit: 1})
		if err != nil {
			return err
		}
		for _, op := range list {
			if j.Oldest.IsZero() || op.Created.Before(j.Oldest) {
				j.Oldest, j.OldestIs = op.Created, string(op.Key)
			}
		}
	}
	j.Starts, err = starts(r, now)
	return err
}

// waitingKinds counts what waits by its kind.
func waitingKinds(lines []view.OpsCount) map[string]int64 {
	count := map[string]int64{}
	for _, o := range lines {
		if s := outbox.State(o.State); s == outbox.Pending || s == outbox.Sent {
			count[o.Kind] += o.Count
		}
	}
	return count
}

// auditFindings verifies the audit log as posagent audit --verify does.
func auditFindings(ctx context.Context, db store.Journal) (wrong []string, err error) {
	err = db.Read(ctx, func(r store.Reader) error {
		end, err := db.EndIn(ctx, r)
		if err != nil {
			return err
		}
		head := &end.Head
		if *head == (audit.Head{}) {
			head = nil
		}
		report, err := audit.Check(r, db.MAC, head)
		for _, found := range report.Findings {
			wrong = append(wrong, found.String())
		}
		return err
	})
	return wrong, err
}

// starts counts the starts of the last 24 hours among the newest lines of the audit log.
func starts(r store.Reader, now time.Time) (n int, err error) {
	after, err := audit.Behind(r, 500)
	if err != nil {
		return 0, err
	}
	list, err := audit.Page(r, after)
	for _, l := range list {
		if l.Deed.Deed == agent.DeedStart && now.Sub(l.Time()) < 24*time.Hour {
			n++
		}
	}
	return n, err
}
