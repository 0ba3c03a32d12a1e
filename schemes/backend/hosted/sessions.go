package hosted

import (
	"time"

	"posagent/schemes/backend/room"
	"posagent/schemes/backend/webhooks"
	"posagent/schemes/hosted"
	"posagent/store"
)

// Service is the name of the service in the books.
const Service = "hosted"

// Emitter takes what the merchant is to be told, in the commit of what it tells about.
type Emitter interface {
	Check(url string) error
	Register(tx store.Tx, subject string, hooks []webhooks.Hook) error
	Emit(tx store.Tx, m webhooks.Message) (int, error)
}

var _ Emitter = (*webhooks.Deliver)(nil)

// Options are what Sessions needs.
type Options struct {
	room.Options
	Deliver Emitter
	Life    time.Duration // of a session that is built from now on; 0 = DefaultLife
}

// Where the pages live.
const (
	FieldPrefix = "/fields/" // hosted fields, for frames of the platform's pages
	AwayPrefix  = "/away/"   // the bank's challenge, and alternative methods
	ScriptPath  = "/monetaweb/resources/hfsdk.js"
)

// Sessions is the service.
type Sessions struct {
	*room.Room
	opt Options
}

var _ hosted.Sessions = (*Sessions)(nil)

// DefaultLife is how long a session lives.
const DefaultLife = 5 * time.Minute
