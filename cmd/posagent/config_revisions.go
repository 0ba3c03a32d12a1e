package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"strconv"

	"posagent/agent/config"
)

// revisionArgs reads the numbers of revisions that a verb is given, most at most.
func revisionArgs(c *call, most int) (list []int64, err error) {
	if len(c.args) > most {
		return nil, fail(exitUsage, "%s: at most %d revisions", c.path, most)
	}
	for _, arg := range c.args {
		n, err := strconv.ParseInt(arg, 10, 64)
		if err != nil || n < 1 {
			return nil, fail(exitUsage, "%s: %q is no number of a revision (posagent config diff --json lists them)", c.path, arg)
		}
		list = append(list, n)
	}
	return list, nil
}

// configOf is the configuration with a revision, 0 = without one.
func configOf(c *call, number int64) (config.Config, error) {
	if number == 0 {
		if own, err := config.Load(configPath(c), os.Environ()); err == nil {
			return own, nil
		}
		return config.Default(), nil // the box's own file is not whole without a revision
	}
	rev, err := enrolment(c).RevisionOf(number)
	if err != nil {
		return config.Config{}, fleetRefused(c, err)
	}
	cfg, err := configWith(c, number, rev.Text, nil)
	if err != nil {
		return cfg, exitWith(exitConfig, err)
	}
	return cfg, nil
}

func configDiff(_ context.Context, c *call) error {
	list, err := revisionArgs(c, 2)
	if err != nil {
		return err
	}
	s, err := enrolment(c).Summary()
	if err != nil {
		return fleetRefused(c, err)
	}
	if !s.Enrolled {
		return fail(exitNotEnrolled, "this terminal is not enrolled: it has no revisions (posagent config show lists its settings)")
	}
	from, to := s.Previous, s.Revision
	switch len(list) {
	case 1:
		from = list[0]
	case 2:
		from, to = list[0], list[1]
	}
	was, err := configOf(c, from)
	if err != nil {
		return err
	}
	is, err := configOf(c, to)
	if err != nil {
		return err
	}
	changed := was.Differences(is)
	if c.json {
		return printJSON(c.out, struct {
			Schema    string              `json:"schema"`
			From      int64               `json:"from"` // 0 = the defaults
			To        int64               `json:"to"`
			Active    int64               `json:"active"`
			Revisions []int64             `json:"revisions"` // that are kept
			Changed   []config.Difference `json:"changed"`
		}{"posagent.config.diff/1", from, to, s.Revision, s.Revisions, append([]config.Difference{}, changed...)})
	}
	name := "the defaults"
	if from > 0 {
		name = fmt.Sprintf("revision %d", from)
	}
	fmt.Fprintf(c.out, "%s -> revision %d: %d settings\n", name, to, len(changed))
	for _, d := range changed {
		fmt.Fprintf(c.out, "%-34s %s -> %s\n", d.Key, d.Was, d.Is)
	}
	return nil
}

func configRollback(ctx context.Context, c *call) error {
	list, err := revisionArgs(c, 1)
	if err != nil {
		return err
	}
	if err := asOwner(c.stateDir()); err != nil {
		return err
	}
	to := int64(0)
	if len(list) == 1 {
		to = list[0]
	}
	was, err := enrolment(c).Summary()
	if err != nil {
		return fleetRefused(c, err)
	}
	if to = cmp.Or(to, was.Previous); to != 0 {
		cfg, err := configOf(c, to)
		if err != nil {
			return err
		}
		if err := fitsJournal(ctx, c, cfg); err != nil {
			return err
		}
	}
	number, err := enrolment(c).Rollback(to)
	if err != nil {
		return fleetRefused(c, err)
	}
	if c.json {
		return printJSON(c.out, struct {
			Schema string `json:"schema"`
			Was    int64  `json:"was"`
			Active int64  `json:"active"`
		}{"posagent.config.rollback/1", was.Revision, number})
	}
	fmt.Fprintf(c.out, "revision %d is chosen, after %d: the terminal takes it up when no sale is open\n", number, was.Revision)
	return nil
}
