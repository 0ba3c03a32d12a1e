package kill

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/gateway/offlinetest"
	"posagent/cross/env"
	"posagent/cross/need"
	"posagent/schemes/money"
	"posagent/store"
	"posagent/store/crashfs"
	"posagent/store/sqlite"
)

// journals is how many terminals the mutations and the kills of these tests are spread over.
const journals = 8

// exitDamaged is the exit code of a program that does not go on with a journal that was cut.
const exitDamaged = 9

// shop is a terminal with sales that its register has acknowledged, and operations that its clients were told are stored: some done,
// some pending, and some whose answer was lost.
type shop struct {
	*terminal
	g     *gate
	sales []told
	all   []*client
}

// shop makes the ith; its backend is gone, and the terminal was killed.
func (c *campaign) shop(ctx context.Context, i int) (*shop, error) {
	x, g, err := c.clientTerminal(i)
	if err != nil {
		return nil, err
	}
	s := &shop{terminal: x, g: g}
	if err := s.start(""); err != nil {
		return s, err
	}
	for k := range 3 {
		if err := s.sell(ctx, money.Minor(1000+100*i+k)); err != nil {
			return s, err
		}
	}
	for k, name := range []string{"collected", "card", "taken-back", "given-up", "terms", "taken-back", "collected"} {
		one := &client{Story: offlinetest.Tell(name, 10*i+k)}
		s.all = append(s.all, one)
		g.state.Store(isUp)
		switch {
		case k >= 6:
			g.state.Store(losesAnswers)
		case k >= 3:
			g.state.Store(isDown)
		}
		if err := s.write(ctx, one, k < 3); err != nil {
			return s, err
		}
	}
	s.kill()
	return s, nil
}

// sell lets the register of a terminal sell, and acknowledge that it was told so.
func (s *shop) sell(ctx context.Context, amount money.Minor) error {
	heard := <-s.pay(ctx, amount, 0, false)
	if !heard.definite || !heard.Approved {
		return fmt.Errorf("a sale of %d: %+v", amount, heard.Result)
	}
	s.sales = append(s.sales, told{name: s.dir, approved: true, amount: amount})
	return nil
}

// ask asks a restarted terminal what became of a sale, and waits until it has settled.
func (s *shop) ask(ctx context.Context, res *told, first answer) error {
	again, err := s.again(ctx)
	if err != nil {
		return err
	}
	res.approved = again.Approved && again.Amount == res.amount // else it is of the sale before: this one was never accepted
	if first.definite && first.Approved != res.approved {
		return fmt.Errorf("told one thing (%+v), then another (%+v)", first, again)
	}
	if res.approved {
		s.sales = append(s.sales, *res)
	}
	_, dead, err := s.settled(ctx)
	if dead {
		err = fmt.Errorf("the terminal died: %s", s.Cmd.ProcessState)
	}
	return err
}

// image is the regular files of a terminal's state, by name.
func (s *shop) image() (map[string][]byte, error) {
	files := map[string][]byte{}
	err := fs.WalkDir(os.DirFS(s.dir), ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() || strings.HasPrefix(name, "log") {
			return err
		}
		files[name], err = os.ReadFile(filepath.Join(s.dir, name))
		return err
	})
	return files, err
}

// put makes the state of a terminal what it was.
func (s *shop) put(files map[string][]byte) error {
	err := errors.Join(os.RemoveAll(s.dir), os.MkdirAll(s.dir, 0o700))
	for name, data := range files {
		path := filepath.Join(s.dir, name)
		err = errors.Join(err, os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, data, 0o600))
	}
	return err
}

// holds lists the sales of a journal with their phases and receipts, and its operations; states with their states.
func (s *shop) holds(states bool) (list []string, open int, err error) {
	db, err := sqlite.OpenReader(context.Background(), filepath.Join(s.dir, "agent.db"))
	if err != nil {
		return nil, 0, err
	}
	defer db.Close()
	err = db.Read(context.Background(), func(r store.Reader) error {
		list, err = store.Column[string](r, `SELECT 'sale ' || key || ' ' || phase || ' ' || receipt FROM checkout_sales UNION ALL
			SELECT 'operation ' || key || CASE WHEN ? THEN ' ' || state ELSE '' END FROM outbox_ops ORDER BY 1`, states)
		if err != nil {
			return err
		}
		return r.QueryRow(`SELECT COUNT(*) FROM outbox_ops WHERE open = 1`).Scan(&open)
	})
	return list, open, err
}

// emptied waits until every operation of a running terminal is at its end.
func (s *shop) emptied(ctx context.Context) error {
	asked := time.Now()
	for {
		list, open, err := s.holds(true)
		if err != nil || open == 0 {
			return err
		}
		if time.Since(asked) > patience {
			s.nudge(ctx)
			asked = time.Now()
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("still open: %v", list)
		case <-s.Dead:
			return fmt.Errorf("the terminal died: %s", s.Cmd.ProcessState)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// cut says whether the last start ended because the journal was cut.
func (s *shop) cut() bool {
	return s.Process != nil && !s.Alive() && s.Cmd.ProcessState.ExitCode() == exitDamaged
}

// verb runs another command of the program on this terminal.
func (s *shop) verb(args ...string) *exec.Cmd {
	return exec.Command(s.c.bin, append(args, "--config", filepath.Join(s.dir, "config.toml"), "--state", s.dir)...)
}

// end asks for the end of every write under its key once more, and reads under which names the backend knows the sales.
func (s *shop) end(ctx context.Context) error {
	s.g.state.Store(isUp)
	if err := s.start(""); err != nil {
		return err
	}
	for _, one := range s.all {
		one.id = nil
		if err := s.write(ctx, one, true); err != nil {
			return err
		}
	}
	if err := s.emptied(ctx); err != nil {
		return err
	}
	list, _, err := s.holds(true)
	if err != nil {
		return err
	}
	for _, one := range list {
		if strings.HasPrefix(one, "operation ") && !strings.HasSuffix(one, " DONE") {
			return fmt.Errorf("%s", one)
		}
	}
	sales, err := s.journal()
	for _, sold := range sales {
		if i := slices.IndexFunc(s.sales, func(t told) bool { return int64(t.amount) == sold.Amount }); i >= 0 {
			s.sales[i].references = append(s.sales[i].references, sold.Reference)
		}
	}
	return err
}

// checkShops holds what registers and clients were told against the books: each sale moved money once, and each write was done once.
func (c *campaign) checkShops(shops []*shop) {
	var all []client
	for _, s := range shops {
		for _, one := range s.all {
			all = append(all, *one)
		}
	}
	c.checkClients(all)
	net, moves := c.moved("aapay")
	sold := 0
	for _, s := range shops {
		for _, t := range s.sales {
			require.Len(c.t, t.references, 1, "%+v", t)
			require.EqualValues(c.t, t.amount, net[t.references[0]], "%+v", t)
			require.Equal(c.t, 1, moves[t.references[0]], "%+v was paid and given back", t)
			delete(net, t.references[0])
			sold++
		}
	}
	for ref, n := range net {
		require.Zero(c.t, n, "no register was told of %s", ref)
	}
	require.Positive(c.t, sold)
}

// newest is where the last frame of a log begins that belongs to its present life (https://sqlite.org/walformat.html).
func newest(log []byte) (at int) {
	size := 24 + int(binary.BigEndian.Uint32(log[8:]))
	for next := 32; next+size <= len(log) && bytes.Equal(log[next+8:next+16], log[16:24]); next += size {
		at = next
	}
	return at
}

// open opens the shops, some at a time, and plays in each; play finishes it.
func (c *campaign) open(shops []*shop, seedNo uint64, play func(ctx context.Context, i int, s *shop, rng *rand.Rand) error) {
	c.all(len(shops), func(i int) error {
		ctx, cancel := context.WithTimeout(context.Background(), 20*saleTime())
		defer cancel()
		s, err := c.shop(ctx, i)
		shops[i] = s
		if err != nil {
			return err
		}
		defer s.g.server.Close()
		return play(ctx, i, s, rand.New(rand.NewPCG(seedNo, uint64(i))))
	})
}

// The log of a killed terminal is damaged, MUTATIONS bits and as many sectors: the terminal starts with everything that it had
// acknowledged, or it says that its journal was cut and does nothing. In the books nothing is undone, and nothing was sent twice.
func TestField_J1DamagedLogsOfRealTerminals(t *testing.T) {
	need.Verify(t, "damages the logs of real terminals; the store and the agent do so to theirs")
	t.Parallel()
	n, seedNo := 2*env.Number("POSAGENT_MUTATIONS", 4), env.Seed()
	c := begin(t, false)
	c.port += 4
	shops := make([]*shop, min(journals, n/2))
	var whole, cuts atomic.Int64
	t.Logf("seed %d, %d mutations of %d journals", seedNo, n, len(shops))
	c.open(shops, seedNo, func(ctx context.Context, i int, s *shop, rng *rand.Rand) (err error) {
		files, err := s.image()
		if err != nil {
			return s.finish(err)
		}
		want, _, err := s.holds(false)
		if err != nil {
			return s.finish(err)
		}
		for m := i; m < n; m += len(shops) {
			bad := crashfs.Spoiled(files["agent.db-wal"], m/len(shops)%2 == 0, rng)
			if m < len(shops) { // one is sure to meet the newest commit
				bad = slices.Clone(files["agent.db-wal"])
				bad[newest(bad)+100] ^= 1 << rng.IntN(8)
			}
			if err := errors.Join(s.put(files), os.WriteFile(filepath.Join(s.dir, "agent.db-wal"), bad, 0o600)); err != nil {
				return s.finish(err)
			}
			if err := s.damaged(ctx, want, &whole, &cuts); err != nil {
				return s.finish(fmt.Errorf("mutation %d: %w", m, err))
			}
		}
		if err = s.put(files); err == nil {
			err = s.end(ctx)
		}
		return s.finish(err)
	})
	require.False(t, t.Failed())
	c.checkShops(shops)
	t.Logf("%d mutations: %d journals held everything, %d were said to be cut", n, whole.Load(), cuts.Load())
	require.EqualValues(t, n, whole.Load()+cuts.Load())
	require.Positive(t, cuts.Load(), "no damage was met")
}

// damaged starts a terminal whose log was damaged.
func (s *shop) damaged(ctx context.Context, want []string, whole, cuts *atomic.Int64) error {
	s.g.state.Store(isUp)
	if err := s.start(""); err != nil {
		said, _ := s.verb("status").Output()
		log, _ := os.ReadFile(filepath.Join(s.dir, "log"))
		if !s.cut() || !bytes.Contains(log, []byte("journal cut")) || !bytes.HasPrefix(said, []byte("NOT READY: the journal of ")) {
			return fmt.Errorf("neither whole nor cut: %w, status %s", err, said)
		}
		cuts.Add(1)
		return nil
	}
	if err := s.emptied(ctx); err != nil {
		return err
	}
	s.kill()
	has, _, err := s.holds(false)
	if err == nil && !slices.Equal(want, has) {
		err = fmt.Errorf("nothing was said, and it holds %v instead of %v", has, want)
	}
	whole.Add(1)
	return err
}

// No start says that a journal was cut where none was: 4 × KILLS terminals are killed while they sell, with backups taken and put
// back in between, and KILLS verbs while they migrate, restore, change the key and reset.
func TestField_J1NoFalseAlarm(t *testing.T) {
	need.Verify(t, "builds the program with a version after it")
	t.Parallel()
	kills, seedNo := env.Number("POSAGENT_KILLS", 4), env.Seed()
	c := begin(t, true)
	c.port += 5
	secret := filepath.Join(c.dir, "backup.key")
	require.NoError(t, os.WriteFile(secret, []byte("a key of enough bytes for a test\n"), 0o600))
	shops := make([]*shop, min(journals, kills))
	var starts, restores atomic.Int64
	died := make([]atomic.Int64, len(dangers))
	t.Logf("seed %d, %d kills while selling, %d in verbs, of %d journals", seedNo, 4*kills, kills, len(shops))
	c.open(shops, seedNo, func(ctx context.Context, i int, s *shop, rng *rand.Rand) error {
		bundle := filepath.Join(c.dir, fmt.Sprintf("shop%d.bundle", i))
		begun := func() error {
			starts.Add(1)
			err := s.start("")
			if s.cut() {
				err = fmt.Errorf("FALSE ALARM: %w", err)
			}
			return err
		}
		s.g.state.Store(isUp)
		if err := begun(); err != nil {
			return s.finish(err)
		}
		if err := s.emptied(ctx); err != nil {
			return s.finish(err)
		}
		for k := i; k < 4*kills; k += len(shops) {
			if k/len(shops)%8 == 3 { // what is put back is what is there
				if err := s.backedUp(bundle, secret, begun); err != nil {
					return s.finish(err)
				}
				restores.Add(1)
			}
			res := told{name: s.dir, amount: money.Minor(100_000 + k)}
			asked := s.pay(ctx, res.amount, 0, false)
			<-time.After(moment(rng))
			s.kill()
			first := <-asked
			if err := begun(); err != nil {
				return s.finish(err)
			}
			if err := s.ask(ctx, &res, first); err != nil {
				return s.finish(err)
			}
		}
		if err := s.backedUp(bundle, secret, begun); err != nil {
			return s.finish(err)
		}
		if err := s.sell(ctx, money.Minor(200_000+i)); err != nil { // 06 20 answers from this journal again
			return s.finish(err)
		}
		s.kill()
		files, err := s.image()
		if err != nil {
			return s.finish(err)
		}
		took := make([]time.Duration, len(dangers))
		for k := i; k < kills; k += len(shops) {
			at := (i + k/len(shops)) % len(dangers)
			if s.newer = ""; dangers[at] == "run" {
				s.newer = newer
			}
			if took[at] == 0 {
				if took[at], err = s.endangered(dangers[at], files, bundle, secret, 0); err != nil {
					return s.finish(err)
				}
			}
			if _, err := s.endangered(dangers[at], files, bundle, secret, 1+time.Duration(rng.Int64N(int64(took[at]+took[at]/8)))); err != nil {
				return s.finish(err)
			}
			died[at].Add(1)
			if err := begun(); err != nil {
				return s.finish(fmt.Errorf("%s: %w", dangers[at], err))
			}
			s.kill()
		}
		s.newer = ""
		if err = s.put(files); err == nil {
			err = s.end(ctx)
		}
		return s.finish(err)
	})
	require.False(t, t.Failed())
	c.checkShops(shops)
	text := ""
	for i, d := range dangers {
		text += fmt.Sprintf(", %d in %q", died[i].Load(), d)
	}
	t.Logf("%d kills%s; %d restores between; %d starts, 0 alarms", c.kills.Load(), text, restores.Load(), starts.Load())
}

// dangers are the verbs that change what lies in the place of the journal; run stands for the next version's migration.
var dangers = []string{"run", "restore", "config rotate-key", "reset --yes"}

// endangered runs a verb on a terminal's state as it was, and kills it after a while; 0 = never. It returns how long it took.
func (s *shop) endangered(verb string, files map[string][]byte, bundle, secret string, after time.Duration) (time.Duration, error) {
	if err := s.put(files); err != nil {
		return 0, err
	}
	began := time.Now()
	args := strings.Fields(verb)
	switch {
	case verb == "run" && after == 0:
		err := s.start("")
		took := time.Since(began)
		if err == nil {
			s.kill()
		}
		return took, err
	case verb == "restore":
		args = append(args, bundle, "--key-file", secret, "--force", "older")
	}
	cmd := s.verb(args...)
	if verb == "run" {
		cmd = s.program("")
	}
	var said bytes.Buffer
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	if after > 0 {
		<-time.After(after)
		_ = cmd.Process.Kill()
		s.c.kills.Add(1)
	}
	err := cmd.Wait()
	if after > 0 {
		err = nil
	}
	if err != nil {
		err = fmt.Errorf("%s: %w: %s", verb, err, &said)
	}
	return time.Since(began), err
}

// backedUp takes a backup beside a running terminal, and puts it back in the place of what is there.
func (s *shop) backedUp(bundle, secret string, begun func() error) error {
	_ = os.Remove(bundle)
	if out, err := s.verb("backup", bundle, "--key-file", secret).CombinedOutput(); err != nil {
		return fmt.Errorf("backup: %w: %s", err, out)
	}
	_ = s.Cmd.Process.Signal(os.Interrupt)
	<-s.Dead
	if out, err := s.verb("restore", bundle, "--key-file", secret, "--force", "older").CombinedOutput(); err != nil {
		return fmt.Errorf("restore: %w: %s", err, out)
	}
	return begun()
}
