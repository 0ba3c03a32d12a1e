package deliver

import "context"

// looks is how many short looks follow an Emit whose commit may still be on its way.
const looks = 5

// Run sends what is due until ctx ends; it returns ctx's error.
func (d *Deliver) Run(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}
