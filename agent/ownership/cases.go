package ownership

import (
	"context"
	"strconv"

	"posagent/schemes/disputes"
	"posagent/schemes/onboarding"
	"posagent/schemes/wire"
)

const application = "application"

// Onboarding gives a client its own applications of next alone.
func Onboarding(c Claims, next onboarding.Service) onboarding.Service { return applications{c, next} }

// applications implements the contract. It writes out every method: a new one must not pass by.
type applications struct {
	c    Claims
	next onboarding.Service
}

var _ onboarding.Service = applications{}

// Create implements onboarding.Service.
func (a applications) Create(ctx context.Context, key wire.Key, app onboarding.Application) (out onboarding.State, err error) {
	if err = wire.Allow(ctx, "onboarding.create", mayOnboarding); err != nil {
		return out, err
	}
	if out, err = a.next.Create(ctx, a.c.key(ctx, key), app); err == nil {
		err = made("onboarding.create", a.c.got(ctx, application, strconv.FormatInt(out.OnboardingID, 10)))
	}
	return out, err
}

func (a applications) reach(ctx context.Context, op string, id int64) error {
	return a.c.allow(ctx, op, application, strconv.FormatInt(id, 10), mayOnboarding)
}

// Read implements onboarding.Service.
func (a applications) Read(ctx context.Context, id int64) (onboarding.State, error) {
	if err := a.reach(ctx, "onboarding.read", id); err != nil {
		return onboarding.State{}, err
	}
	return a.next.Read(ctx, id)
}

// Update implements onboarding.Service.
func (a applications) Update(ctx context.Context, key wire.Key, id int64, app onboarding.Application) (onboarding.State, error) {
	if err := a.reach(ctx, "onboarding.update", id); err != nil {
		return onboarding.State{}, err
	}
	return a.next.Update(ctx, a.c.key(ctx, key), id, app)
}

// Submit implements onboarding.Service.
func (a applications) Submit(ctx context.Context, key wire.Key, id int64) (onboarding.State, error) {
	if err := a.reach(ctx, "onboarding.submit", id); err != nil {
		return onboarding.State{}, err
	}
	return a.next.Submit(ctx, a.c.key(ctx, key), id)
}

// Disputes passes on the calls of a caller that may dispute and reaches everything: the terminal does not know the owner of a card
// transaction.
func Disputes(next disputes.Service) disputes.Service { return cases{next} }

// cases implements the contract. It writes out every method: a new one must not pass by.
type cases struct{ next disputes.Service }

var _ disputes.Service = cases{}

func (cases) allow(ctx context.Context, op string) error {
	if err := wire.Allow(ctx, op, mayDisputes); err != nil {
		return err
	}
	return wire.Everything(ctx, op, "use the backend's disputes")
}

// Create implements disputes.Service.
func (c cases) Create(ctx context.Context, key wire.Key, req disputes.CreateRequest) (disputes.CreateReply, error) {
	if err := c.allow(ctx, "disputes.create"); err != nil {
		return disputes.CreateReply{}, err
	}
	return c.next.Create(ctx, key, req)
}

// List implements disputes.Service.
func (c cases) List(ctx context.Context, req disputes.ListRequest) (disputes.ListReply, error) {
	if err := c.allow(ctx, "disputes.list"); err != nil {
		return disputes.ListReply{}, err
	}
	return c.next.List(ctx, req)
}

// Queue implements disputes.Service.
func (c cases) Queue(ctx context.Context, req disputes.QueueRequest) (disputes.QueueReply, error) {
	if err := c.allow(ctx, "disputes.queue"); err != nil {
		return disputes.QueueReply{}, err
	}
	return c.next.Queue(ctx, req)
}

// Update implements disputes.Service.
func (c cases) Update(ctx context.Context, key wire.Key, number string, req disputes.UpdateRequest) (disputes.UpdateReply, error) {
	if err := c.allow(ctx, "disputes.update"); err != nil {
		return disputes.UpdateReply{}, err
	}
	return c.next.Update(ctx, key, number, req)
}

// Document implements disputes.Service.
func (c cases) Document(ctx context.Context, id string, limit int64) (disputes.File, error) {
	if err := c.allow(ctx, "disputes.document"); err != nil {
		return disputes.File{}, err
	}
	return c.next.Document(ctx, id, limit)
}
