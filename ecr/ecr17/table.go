package ecr17

// phase is the state of a dialogue.
type phase uint8

const (
	idle      phase = iota
	waiting         // G waits until no other connection of the line is in the middle of a request
	tagging         // a payment is acknowledged, its tags have to come
	asking          // the desk has not accepted or found the sale yet
	clearing        // the till's earlier sale, which it has forgotten, is being aborted first
	running         // the sale runs
	telling         // what was answered has to be acknowledged
	recording       // the desk records what became of the telling
	working         // totals, close or status are on their way
	phases
)

var phaseNames = [phases]string{"idle", "waiting", "tagging", "asking", "clearing", "running", "telling", "recording", "working"}

func (p phase) String() string { return phaseNames[p] }

// happening is a kind of event.
type happening uint8

const (
	sameCame   happening = iota // the bytes of the running request once more: a retransmission
	saleCame                    // a payment or a reversal
	lastCame                    // G
	otherCame                   // status, totals, close, receipts, reprint
	tagsCame                    // U
	saved                       // the memory of the line is stored
	begun                       // the desk has the sale
	refused                     // the desk has accepted or found nothing
	ended                       // the outcome is there
	answerLeft                  // the transport is done with what was answered
	recorded                    // the desk has recorded a delivery
	worked                      // totals or health are there
	unanswered                  // the register does not wait for its ACK any longer
	deadline                    // nor for the result
	beat                        // the next progress text is due
	freed                       // no other connection is in the middle of a request
	gone                        // the connection ended
	happenings
)

// rule is what to do with an event in a phase.
type rule uint8

const (
	ignore   rule = iota
	take          // begin the request
	refuse        // NAK
	again         // ACK once more, and nothing else
	hold          // it will be acknowledged when the desk has it
	later         // begin it once what runs is over
	giveUp        // the register does not wait for what runs: it is not told; then begin the request
	rejoin        // the register asks for what runs: its end answers that
	untag         // answer that the tag is not known
	ask           // ask the desk
	follow        // acknowledge, and follow the sale
	clear         // abort the earlier sale
	deny          // answer the refusal, or NAK
	tell          // answer the outcome
	goOn          // begin the request at last
	next          // send what has to follow, or hear what became of the telling
	finish        // nothing is under way any more
	answer        // answer totals or status
	noAnswer      // NAK, and nothing may come of it; a reversal is acknowledged
	late          // answer without an outcome; what comes of a payment is undone
	progress      // send a progress text
	leave         // the register has gone: its sale goes on, and it will ask
)

// table is the whole behaviour of a dialogue. It is never written to.
var table = [happenings][phases]rule{
	//           idle    waiting  tagging  asking    clearing  running   telling recording working
	sameCame:   {take, hold, again, hold, hold, again, ignore, later, again},
	saleCame:   {take, refuse, giveUp, refuse, refuse, giveUp, later, later, refuse},
	lastCame:   {take, refuse, giveUp, refuse, refuse, rejoin, later, later, refuse},
	otherCame:  {take, refuse, giveUp, refuse, refuse, giveUp, later, later, refuse},
	tagsCame:   {refuse, refuse, untag, refuse, refuse, refuse, refuse, refuse, refuse},
	saved:      {ignore, ignore, ignore, ask, ignore, ignore, ignore, ignore, ignore},
	begun:      {ignore, ignore, ignore, follow, clear, ignore, ignore, ignore, ignore},
	refused:    {ignore, ignore, ignore, deny, deny, finish, ignore, ignore, ignore},
	ended:      {ignore, ignore, ignore, ignore, goOn, tell, ignore, ignore, ignore},
	answerLeft: {ignore, ignore, ignore, ignore, ignore, ignore, next, ignore, ignore},
	recorded:   {ignore, ignore, ignore, ignore, ignore, ignore, ignore, finish, ignore},
	worked:     {ignore, ignore, ignore, ignore, ignore, ignore, ignore, ignore, answer},
	unanswered: {ignore, noAnswer, ignore, noAnswer, noAnswer, ignore, noAnswer, noAnswer, ignore},
	deadline:   {ignore, ignore, late, late, ignore, late, ignore, ignore, late},
	beat:       {ignore, ignore, ignore, ignore, ignore, progress, ignore, ignore, progress},
	freed:      {ignore, ask, ignore, ignore, ignore, ignore, ignore, ignore, ignore},
	gone:       {ignore, finish, leave, leave, leave, leave, leave, leave, finish},
}
