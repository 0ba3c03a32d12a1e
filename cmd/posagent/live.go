package main

import (
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"time"

	"posagent/agent/outbox"
	"posagent/agent/upstream"
	"posagent/agent/view"
	"posagent/device/line"
	"posagent/schemes/wire"
)

const (
	liveName  = "live.json"
	liveEvery = time.Second
)

// facts is where a live report comes from; serial may be nil.
type facts struct {
	schemes *upstream.Client
	methods func() error // of the last question for the list
	serial  *line.Port

	services func() []outbox.Service
}

// sample reports what is wrong now; what was wrong before keeps its beginning.
func (f facts) sample(before view.Live) view.Live {
	v := view.Live{At: time.Now().UTC()}
	if st := f.schemes.Stats(); !f.schemes.Healthy() {
		v.Schemes = view.Trouble{Reason: st.Reason}
	}
	if err := f.methods(); err != nil {
		v.Methods = view.Trouble{Reason: err.Error(), Code: wire.CodeOf(err)}
	}
	if f.serial != nil {
		if st := f.serial.Stats(); !st.Open && st.LastError != "" {
			v.Serial = view.Trouble{Reason: st.LastError}
		}
	}
	for _, t := range []struct{ now, was *view.Trouble }{{&v.Schemes, &before.Schemes}, {&v.Methods, &before.Methods}, {&v.Serial, &before.Serial}} {
		switch {
		case t.now.Reason == "":
		case t.was.Reason != "":
			t.now.Since = t.was.Since
		default:
			t.now.Since = v.At
		}
	}
	v.Services = undelivered(f.services(), before.Services, v.At)
	return v
}

// undelivered keeps those the outbox cannot deliver to.
func undelivered(all []outbox.Service, before []view.Service, at time.Time) (list []view.Service) {
	for _, s := range all {
		if !s.Down && !s.Refused {
			continue
		}
		now := view.Service{Name: s.Name, Refused: s.Refused, Kinds: s.Kinds, Trouble: view.Trouble{Reason: s.Reason, Since: at}}
		for _, was := range before {
			if was.Name == s.Name && was.Refused == s.Refused {
				now.Since = was.Since
			}
		}
		list = append(list, now)
	}
	return list
}

// watch keeps the report up to date until ctx ends, and says once in the log what has begun to be wrong.
func (f facts) watch(ctx context.Context, dir string, log *slog.Logger) error {
	path := filepath.Join(dir, liveName)
	var last view.Live
	tick := time.NewTicker(liveEvery)
	defer tick.Stop()
	for first := true; ; first = false {
		now := f.sample(last)
		if now.Serial.Reason != "" && last.Serial.Reason == "" {
			log.Warn("register line not open, waiting for it", "reason", now.Serial.Reason)
		}
		if now.Schemes.Reason != "" && last.Schemes.Reason == "" {
			log.Warn("backend does not answer, going on without it", "reason", now.Schemes.Reason)
		}
		same := last
		same.At = now.At
		if first || !reflect.DeepEqual(same, now) {
			if err := writeLive(path, now); err != nil {
				log.Warn("report for status not written", "err", err)
			}
		}
		last = now
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// writeLive replaces the report. It is not synced: after a power cut the next start writes its own.
func writeLive(path string, v view.Live) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if err := os.WriteFile(path+".new", data, 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// readLive reads the report of a running daemon; the zero value where there is none.
func readLive(dir string) (v view.Live) {
	data, err := os.ReadFile(filepath.Join(dir, liveName))
	if err == nil {
		_ = json.Unmarshal(data, &v) // a report that cannot be read says nothing
	}
	return v
}
