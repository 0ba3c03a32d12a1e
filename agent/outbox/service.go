package outbox

import "time"

const (
	firstWait  = time.Second
	shortCap   = 20 * time.Second // back-off while the service answers, and between cheap probes
	longCap    = 5 * time.Minute  // back-off otherwise, and the most a Retry-After is worth
	quickTries = 3
	urgentGap  = 2 * time.Second // between two urgent operations while their service is down
)

// service is what is known about one backend service, in memory only.
type service struct {
	name    string
	down    bool
	refused bool
	probing bool
	urgent  bool  // an urgent operation is under way while it is down
	after   int64 // running time before which no other urgent one follows it
	fails   int
	next    int64 // running time of the next probe
	okRun   int64 // running time of the last answer; 0 = none yet
	reason  string
	kinds   []string // never changed after NewOutbox
	asked   int      // how often it was said that it may be tried at once
}

// flight is an attempt that is under way.
type flight struct {
	service *service
	asked   int // the service's when it began
}

// late reports whether somebody asked to try at once after the attempt began: what it finds says
// nothing of the network that came back meanwhile, and puts nothing off.
func (f flight) late() bool { return f.service != nil && f.service.asked != f.asked }

// ask lets it be probed at once.
func (s *service) ask() {
	s.asked++
	s.next = 0
}

// up notes that the service answered.
func (s *service) up(run int64) {
	s.down, s.refused, s.fails, s.reason, s.okRun = false, false, 0, "", max(run, 1)
}
