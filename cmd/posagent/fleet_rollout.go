package main

import (
	"context"
	"fmt"

	"posagent/schemes/backend"
	"posagent/schemes/fleet"
	"posagent/schemes/wire"
)

func fleetRollout(ctx context.Context, c *call) error {
	o := c.opts.(*fleetOptions)
	ctx, cancel := context.WithTimeout(ctx, fleetWait)
	defer cancel()
	list, err := rolloutList(ctx, c, o)
	if err != nil {
		return err
	}
	if c.json {
		return printJSON(c.out, struct {
			Schema   string          `json:"schema"`
			Versions []fleet.Rollout `json:"versions"`
		}{"posagent.fleet.rollout/1", list})
	}
	fmt.Fprintf(c.out, "%-24s %6s %10s  %s\n", "VERSION", "KEPT", "TAKEN BACK", "HELD")
	for _, v := range list {
		how := "-"
		switch {
		case v.HeldAt != "":
			how = "since " + localTime(v.HeldAt) + " (posagent backend fleet list says why; rollout --lift " + v.Version + " ends it)"
		case v.LiftedAt != "":
			how = "lifted " + localTime(v.LiftedAt)
		}
		fmt.Fprintf(c.out, "%-24s %6d %10d  %s\n", v.Version, v.Kept, v.TakenBack, how)
	}
	return nil
}

// rolloutList reads what has become of all versions, or of the one whose hold it lifts.
func rolloutList(ctx context.Context, c *call, o *fleetOptions) ([]fleet.Rollout, error) {
	if o.lift == "" && o.backend == "" {
		cfg, err := loadConfig(c)
		if err != nil {
			return nil, err
		}
		list, err := backend.ReadVersions(ctx, backendDir(c, cfg))
		if err != nil {
			return nil, fail(exitFailed, "%w (is --state the backend's directory?)", err)
		}
		return list, nil
	}
	client, err := fleetAt(ctx, c)
	if err != nil {
		return nil, err
	}
	if o.lift == "" {
		got, err := client.Versions(ctx)
		if err != nil {
			return nil, fleetFailed(err)
		}
		return got.Versions, nil
	}
	got, err := client.Lift(ctx, wire.NewKey(), fleet.LiftRequest{Version: o.lift})
	if wire.CodeOf(err) == wire.NotFound {
		return nil, fail(exitFailed, "%s: %w (posagent backend fleet rollout prints those that are)", o.lift, err)
	}
	if err != nil {
		return nil, fleetFailed(err)
	}
	return []fleet.Rollout{got}, nil
}
