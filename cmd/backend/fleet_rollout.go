package backend

import (
	"context"
	"fmt"

	"posagent/cmd/usage"
	"posagent/schemes/backend"
	"posagent/schemes/fleet"
	"posagent/schemes/wire"
)

func fleetRollout(ctx context.Context, c *Call) error {
	o := &c.fleet
	ctx, cancel := context.WithTimeout(ctx, fleetWait)
	defer cancel()
	list, err := rolloutList(ctx, c, o)
	if err != nil {
		return err
	}
	if c.JSON {
		return usage.PrintJSON(c.Out, struct {
			Schema   string          `json:"schema"`
			Versions []fleet.Rollout `json:"versions"`
		}{"posagent.fleet.rollout/1", list})
	}
	fmt.Fprintf(c.Out, "%-24s %6s %10s  %s\n", "VERSION", "KEPT", "TAKEN BACK", "HELD")
	for _, v := range list {
		how := "-"
		switch {
		case v.HeldAt != "":
			how = "since " + usage.LocalTime(v.HeldAt) + " (" + c.Program + " fleet list says why; rollout --lift " + v.Version + " ends it)"
		case v.LiftedAt != "":
			how = "lifted " + usage.LocalTime(v.LiftedAt)
		}
		fmt.Fprintf(c.Out, "%-24s %6d %10d  %s\n", v.Version, v.Kept, v.TakenBack, how)
	}
	return nil
}

// rolloutList reads what has become of all versions, or of the one whose hold it lifts.
func rolloutList(ctx context.Context, c *Call, o *fleetOptions) ([]fleet.Rollout, error) {
	if o.lift == "" && o.backend == "" {
		dir, _, err := c.dir()
		if err != nil {
			return nil, err
		}
		list, err := backend.ReadVersions(ctx, c.at(dir))
		if err != nil {
			return nil, c.unread(err)
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
			return nil, c.fleetFailed(err)
		}
		return got.Versions, nil
	}
	got, err := client.Lift(ctx, wire.NewKey(), fleet.LiftRequest{Version: o.lift})
	if wire.CodeOf(err) == wire.NotFound {
		return nil, usage.Fail(usage.ExitFailed, "%s: %w (%s fleet rollout prints those that are)", o.lift, err, c.Program)
	}
	if err != nil {
		return nil, c.fleetFailed(err)
	}
	return []fleet.Rollout{got}, nil
}
