package caisseap

// phase is the state of a dialogue, which has one request.
type phase uint8

const (
	idle      phase = iota // no request has come
	asking                 // the desk accepts the sale
	running                // the sale runs
	answering              // the answer leaves, and the register has to close
	recording              // the desk records what became of an outcome
	leaving                // the register has gone, or was told no: what becomes of the sale is not told
	over
	phases
)

var phaseNames = [phases]string{"idle", "asking", "running", "answering", "recording", "leaving", "over"}

func (p phase) String() string { return phaseNames[p] }

// happening is a kind of event.
type happening uint8

const (
	bytesCame    happening = iota // a request; after the first: bytes behind it
	saleBegun                     // the desk has accepted
	saleHeld                      // the desk takes its journal up
	saleRefused                   // nothing was accepted
	saleEnded                     // the outcome is there
	answerLeft                    // the transport is done with the answer
	lossRecorded                  // the desk has recorded a delivery
	deadline                      // the register's patience ends
	registerGone                  // the connection ended
	happenings
)

// rule is what to do with an event in a phase.
type rule uint8

const (
	ignore  rule = iota
	take         // read the request and begin it
	spoil        // bytes behind the request: it was not that request; nothing may be paid for it
	follow       // the sale runs
	wait         // remember that the journal is taken up: no answer may be final
	deny         // answer the refusal
	tell         // answer the outcome
	give         // the sale has ended and is not told: the desk hears what that means
	deliver      // the desk hears whether the register has the outcome
	finish       // nothing is under way any more
	late         // answer without an outcome; what comes of the sale is undone
	leave        // the register has gone: the sale is aborted, and its outcome is lost
	abandon      // the same, the sale exists only now
)

// table is the whole behaviour of a dialogue. It is never written to.
var table = [happenings][phases]rule{
	//            idle    asking  running answering recording leaving  over
	bytesCame:    {take, spoil, spoil, ignore, ignore, ignore, ignore},
	saleBegun:    {ignore, follow, ignore, abandon, ignore, abandon, ignore},
	saleHeld:     {ignore, wait, ignore, ignore, ignore, ignore, ignore},
	saleRefused:  {ignore, deny, deny, give, ignore, give, ignore},
	saleEnded:    {ignore, ignore, tell, give, ignore, give, ignore},
	answerLeft:   {ignore, ignore, ignore, deliver, ignore, ignore, ignore},
	lossRecorded: {ignore, ignore, ignore, ignore, finish, ignore, ignore},
	deadline:     {ignore, late, late, ignore, ignore, ignore, ignore},
	registerGone: {finish, leave, leave, ignore, ignore, ignore, ignore},
}
