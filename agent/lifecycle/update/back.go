package update

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Opens says whether a program can open the journal: by its own word.
type Opens func(ctx context.Context, program string) error

// Back puts the program before in place again because a person asks for it, and counts it as a failure of the one that was in place.
// ErrNoWay where that program cannot open the journal any more.
func (d *Driver) Back(ctx context.Context, reason string, opens Opens) error {
	d.Times = d.Times.orDefault()
	release, err := d.lock(false)
	if err != nil {
		return err
	}
	defer release()
	r, err := load(d.Dir)
	if err != nil {
		return err
	}
	if r.State != Idle {
		return d.finish(ctx, &r, cut)
	}
	was, err := sum(d.Place.previous())
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: there is no %s", ErrNoWay, d.Place.previous())
	}
	if err != nil {
		return err
	}
	is, err := sum(d.Place.Program)
	if err != nil {
		return err
	}
	if is == was {
		return fmt.Errorf("%w: it is in place already", ErrNoWay)
	}
	if err := opens(ctx, d.Place.previous()); err != nil {
		return fmt.Errorf("%w: %w", ErrNoWay, err)
	}
	before, _ := d.Terminal.look(ctx) // one that does not serve has nothing to compare
	version, err := d.Version(ctx, d.Place.previous())
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNoWay, err)
	}
	now, err := d.Version(ctx, d.Place.Program)
	if err != nil {
		now = "the program in place" // it may be the reason
	}
	r.From, r.To, r.Before = program{version, was}, program{now, is}, before
	r.Reason, r.Unbegun, r.Away = reason, false, nil
	r.State = Returning
	if err := r.save(d.Dir); err != nil {
		return err
	}
	return d.giveBack(ctx, &r, d.Times.Idle)
}

// Summary is what an update has come to, for people (posagent.update/1).
type Summary struct {
	Schema    string   `json:"schema"`
	State     State    `json:"state"`
	From      string   `json:"from,omitempty"`
	To        string   `json:"to,omitempty"`
	Last      *Outcome `json:"last,omitempty"`
	Previous  bool     `json:"previous"` // the program before is kept
	OnTrial   bool     `json:"onTrial"`
	Asked     string   `json:"asked,omitempty"` // when the repository was asked last
	TakenBack []string `json:"takenBack,omitempty"`
}

// Look says what an update has come to. It takes nothing on.
func (d *Driver) Look() (Summary, error) {
	s := Summary{Schema: "posagent.update/1", State: Idle}
	if _, err := os.Lstat(filepath.Join(d.Dir, recordName)); err == nil {
		r, err := load(d.Dir)
		if err != nil {
			return s, err
		}
		s.State = r.State
		if r.State != Idle {
			s.From, s.To = r.From.Version, r.To.Version
		}
		if !r.Last.At.IsZero() {
			s.Last = &r.Last
		}
		if !r.Seen.At.IsZero() {
			s.Asked = r.Seen.At.UTC().Format("2006-01-02T15:04:05Z")
		}
		for version, t := range r.Tries {
			s.TakenBack = append(s.TakenBack, fmt.Sprintf("%s (%d times: %s)", version, t.Count, strings.TrimSpace(t.Reason)))
		}
	}
	_, err := os.Lstat(d.Place.previous())
	s.Previous = err == nil
	_, err = os.Lstat(d.Place.trial())
	s.OnTrial = err == nil
	return s, nil
}
