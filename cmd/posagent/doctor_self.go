package main

import (
	"context"
	"os"
	"sync"
	"time"

	"posagent/agent/config"
	"posagent/agent/doctor"
	"posagent/agent/doctor/exam"
	"posagent/agent/ready"
	"posagent/agent/view"
	"posagent/cmd/usage"
	"posagent/device"
	"posagent/device/file"
	"posagent/store"
)

// What the running terminal spends on its own examination.
const (
	selfEvery = 3 * time.Second // a page that is loaded again sooner shows the last one
	selfEach  = 2 * time.Second
	selfAll   = 4 * time.Second
)

// selfExamined makes the checks of the doctor that the running terminal can make of itself. A page that asks meanwhile waits for
// them, and shows the same.
func selfExamined(c *call, db store.Journal, live func() view.Live) func(ctx context.Context) (view.Checks, error) {
	var mu sync.Mutex
	var last view.Checks
	var made time.Time
	return func(ctx context.Context) (view.Checks, error) {
		mu.Lock()
		defer mu.Unlock()
		if !made.IsZero() && time.Since(made) < selfEvery {
			return last, nil
		}
		ctx = context.WithoutCancel(ctx) // the next one to ask gets it too
		last, made = selfChecks(ctx, c, db, live()), time.Now()
		return last, nil
	}
}

// selfChecks makes the checks.
func selfChecks(ctx context.Context, c *call, db store.Journal, live view.Live) view.Checks {
	cfg, err := readConfig(c)
	f := selfFacts(ctx, c, cfg, err, db, live)
	v := view.Checks{At: f.Now}
	for _, r := range exam.Examine(ctx, doctor.OfItself(), f, exam.Limits{Each: selfEach, All: selfAll, Parallel: 1}) {
		switch r.Status {
		case exam.Skip:
			continue
		case exam.Pass:
			v.Passed++
		default:
			v.Found = append(v.Found, view.Check{
				ID: r.ID, Failed: r.Status == exam.Fail, Title: r.Title, Seen: r.Evidence["seen"], Remedy: r.Remedy.Text, Command: r.Remedy.Command,
			})
		}
		v.Made++
	}
	return v
}

// selfFacts are the facts as the running terminal has them: its own journal is open, and nothing is asked of the network.
func selfFacts(ctx context.Context, c *call, cfg config.Config, bad error, db store.Journal, live view.Live) *doctor.Facts {
	f := &doctor.Facts{
		InMemory: file.InMemory,
		Now:      time.Now().UTC().Truncate(time.Millisecond), Place: placeOf(c), State: c.stateDir(), Mine: os.Getpid(), Proc: "/proc", Sys: "/sys",
		Config: doctorConfig(c, cfg, bad),
		Sane:   func(now time.Time) bool { return device.ClockSane(now, usage.BuiltAt(version)) },
		Zone:   func() (string, *ready.Said) { return doctorZone(c) },
		Dir:    func() error { return ownDir(c.stateDir(), os.Geteuid()) },
		Token:  func() error { return doctorToken(c, cfg) },
		Daemon: daemonSays(doctor.Daemon{PID: os.Getpid(), Running: true}, live),
	}
	read := sync.OnceValue(func() doctor.Journal {
		j := doctor.Journal{State: doctor.Readable, Keyed: true}
		h := db.Health(ctx)
		j.WALBytes, j.ShortBytes, j.Holders = h.WALBytes, h.ShortBytes, view.Holders(h, os.Getpid())
		if err := db.Read(ctx, func(r store.Reader) error { return readQueue(r, &j, f.Now) }); err != nil {
			j.State, j.Text = doctor.Unreadable, err.Error()
		}
		return j
	})
	f.Journal = func(context.Context) doctor.Journal { return read() }
	return f
}
