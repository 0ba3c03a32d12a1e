package crashfs

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
)

// event is one entry of the record.
type event struct {
	op      Op
	file    string
	off     int64 // write: offset; truncate: size; sync, dropped: entries before it are meant
	data    []byte
	durable bool
	ack     any
}

// Ack notes that v was acknowledged: every state from here on must hold it.
func (r *Recorder) Ack(v any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.log = append(r.log, event{op: ack, ack: v})
}

// Len is the number of entries so far.
func (r *Recorder) Len() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.log)
}

// Variant is what a power cut makes of the writes that were not synced.
type Variant string

// The variants of a state.
const (
	Synced Variant = "synced" // none of them arrived
	All    Variant = "all"    // all arrived
	Some   Variant = "some"   // every sector for itself
	Torn   Variant = "torn"   // as Some, and sectors are cut in the middle
)

// State is one thing that a power cut may have left behind.
type State struct {
	Dir     string // holds the files under the names they were recorded with; removed after the check
	N       int
	Prefix  int // entries of the record before the cut
	Variant Variant
	Acked   []any // acknowledged before the cut, in order
}

func (s State) String() string {
	return fmt.Sprintf("state %d: cut after %d entries, %s, %d acknowledged", s.N, s.Prefix, s.Variant, len(s.Acked))
}

// Plan says which states to make.
type Plan struct {
	States int
	Seed   uint64
	Dir    string // where the states are made, one at a time
	From   int    // shortest prefix
	To     int    // longest prefix, 0 = the whole record
}

// Scratch makes a directory for recording and for states, in memory where the system has such a place: what is made
// there is thrown away, and syncing it for good would take most of the time. The caller removes it.
func Scratch() (dir string, err error) {
	for _, parent := range []string{"/dev/shm", ""} {
		if dir, err = os.MkdirTemp(parent, "crashfs-"); err == nil {
			return dir, nil
		}
	}
	return "", err
}

// Failure is a state that its check did not accept.
type Failure struct {
	State State
	Err   error
}

// Report sums up an enumeration.
type Report struct {
	Seed     uint64
	States   int
	Entries  int
	Acks     int
	Failures []Failure
}

func (r Report) String() string {
	said := fmt.Sprintf("seed %d: %d states of %d entries with %d acknowledgements, %d failed", r.Seed, r.States, r.Entries, r.Acks, len(r.Failures))
	if len(r.Failures) == 0 && r.States > 0 {
		said += fmt.Sprintf(": at most %.1e at 95 %%", 3/float64(r.States))
	}
	return said
}

// Enumerate makes plan.States states, spread over the record and the variants, and checks each. An error of check is a
// Failure in the report; the error of Enumerate itself is one of the test's own directory.
func (r *Recorder) Enumerate(plan Plan, check func(State) error) (Report, error) {
	r.mu.Lock()
	log, base := slices.Clone(r.log), maps.Clone(r.base)
	r.mu.Unlock()
	rng := rand.New(rand.NewPCG(plan.Seed, 0))
	if plan.To == 0 {
		plan.To = len(log)
	}
	cuts := make([]int, plan.States)
	for i := range cuts {
		cuts[i] = plan.From + rng.IntN(plan.To-plan.From+1)
	}
	slices.Sort(cuts)
	rep := Report{Seed: plan.Seed, States: plan.States, Entries: len(log)}
	m := newMedium(base)
	variants := []Variant{Synced, All, Some, Torn}
	var acked []any
	at := 0
	for n, cut := range cuts {
		for ; at < cut; at++ {
			if e := log[at]; e.op == ack {
				acked = append(acked, e.ack)
			} else {
				m.apply(at, e)
			}
		}
		st := State{
			Dir:     filepath.Join(plan.Dir, fmt.Sprintf("state-%d", n)),
			N:       n,
			Prefix:  cut,
			Variant: variants[rng.IntN(len(variants))],
			Acked:   slices.Clone(acked),
		}
		if err := m.write(st.Dir, st.Variant, rng); err != nil {
			return rep, err
		}
		if err := check(st); err != nil {
			rep.Failures = append(rep.Failures, Failure{State: st, Err: err})
		}
		if err := os.RemoveAll(st.Dir); err != nil {
			return rep, err
		}
	}
	for _, e := range log {
		if e.op == ack {
			rep.Acks++
		}
	}
	return rep, nil
}

// medium is the disk at one moment: per file what is durable, and what is on its way.
type medium struct{ files map[string]*medFile }

type medFile struct {
	durable []byte
	there   bool // the name is durable
	pending []pendingOp
}

type pendingOp struct {
	at   int  // index in the record
	lost bool // a sync of it failed: it may have arrived, and no later sync makes sure
	event
}

func newMedium(base map[string][]byte) *medium {
	m := &medium{files: make(map[string]*medFile)}
	for name, content := range base {
		m.files[name] = &medFile{durable: slices.Clone(content), there: true}
	}
	return m
}

func (m *medium) apply(i int, e event) {
	f := m.files[e.file]
	if f == nil {
		f = &medFile{}
		m.files[e.file] = f
	}
	switch {
	case e.op == Sync:
		n := 0
		fresh := false
		for n < len(f.pending) && int64(f.pending[n].at) < e.off {
			fresh = fresh || f.pending[n].op == create
			n++
		}
		f.settleFirst(n)
		f.there = true
		if fresh {
			m.syncDir(e.off)
		}
	case e.op == dropped:
		for i, p := range f.pending {
			f.pending[i].lost = p.lost || p.op == Write && int64(p.at) < e.off
		}
	case e.op == remove && e.durable:
		*f = medFile{}
	default:
		f.pending = append(f.pending, pendingOp{at: i, event: e})
	}
}

// syncDir makes the removals before entry upTo durable: SQLite's VFS syncs the directory with the first sync of a log
// or journal it has made.
func (m *medium) syncDir(upTo int64) {
	for _, f := range m.files {
		n := 0
		for i, p := range f.pending {
			if p.op == remove && int64(p.at) < upTo {
				n = i + 1
			}
		}
		f.settleFirst(n)
	}
}

func (f *medFile) settleFirst(n int) {
	synced, rest := f.pending[:n:n], f.pending[n:]
	var lost []pendingOp
	for i, p := range synced {
		if !p.lost {
			f.settle(p.event)
		} else if !slices.ContainsFunc(synced[i+1:], p.overtaken) {
			lost = append(lost, p)
		}
	}
	f.pending = append(lost, rest...)
}

// overtaken reports whether a later entry has made out what is on the medium where p wrote.
func (p pendingOp) overtaken(by pendingOp) bool {
	if by.op != Write {
		return true
	}
	return !by.lost && by.off < p.off+int64(len(p.data)) && p.off < by.off+int64(len(by.data))
}

func (f *medFile) settle(e event) {
	switch e.op {
	case Write:
		f.durable = overlay(f.durable, e.off, e.data)
	case truncate:
		f.durable = resize(f.durable, e.off)
	case remove, create:
		f.durable = nil
		f.there = e.op == create
	}
}

func overlay(b []byte, off int64, data []byte) []byte {
	if end := off + int64(len(data)); end > int64(len(b)) {
		b = resize(b, end)
	}
	copy(b[off:], data)
	return b
}

func resize(b []byte, size int64) []byte {
	if size <= int64(len(b)) {
		return b[:size:size]
	}
	return append(b, make([]byte, size-int64(len(b)))...)
}

func (m *medium) write(dir string, v Variant, rng *rand.Rand) error {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	names := slices.Sorted(maps.Keys(m.files))
	var errs []error
	for _, name := range names {
		if content, there := m.files[name].cut(v, rng); there {
			errs = append(errs, os.WriteFile(filepath.Join(dir, name), content, 0o600))
		}
	}
	return errors.Join(errs...)
}

const sector = 512

// cut is the file as found after the power is back.
func (f *medFile) cut(v Variant, rng *rand.Rand) ([]byte, bool) {
	g := medFile{durable: slices.Clone(f.durable), there: f.there}
	switch v {
	case Synced:
	case All:
		for _, p := range f.pending {
			g.settle(p.event)
			g.there = g.there || p.op == Write
		}
	default:
		g.lottery(f.pending, v == Torn, rng)
	}
	return g.durable, g.there
}

// lottery lets every sector stop at some version of its own. A version older than a truncation or a new file of the
// same name never mixes with a later one: the file system orders its own metadata.
func (g *medFile) lottery(pending []pendingOp, torn bool, rng *rand.Rand) {
	meta := 0 // pending entries up to the last change of metadata that arrived
	for i, p := range pending {
		if p.op == Write {
			continue
		}
		if rng.IntN(2) == 0 {
			break
		}
		meta = i + 1
	}
	for _, p := range pending[:meta] {
		g.settle(p.event)
		g.there = true
	}
	if meta > 0 && pending[meta-1].op == remove {
		g.there = false
		return
	}
	stop := make(map[int64]int)
	for i := meta; i < len(pending); i++ {
		p := pending[i]
		if p.op != Write {
			break
		}
		g.there = true
		for off := p.off; off < p.off+int64(len(p.data)); {
			s := off / sector
			n := min((s+1)*sector, p.off+int64(len(p.data))) - off
			if _, ok := stop[s]; !ok {
				stop[s] = i + rng.IntN(len(pending)-i+1)
			}
			if i < stop[s] {
				data := p.data[off-p.off : off-p.off+n]
				if torn && rng.IntN(8) == 0 {
					data = data[:rng.IntN(len(data))]
					stop[s] = i
				}
				g.durable = overlay(g.durable, off, data)
			}
			off += n
		}
	}
}
