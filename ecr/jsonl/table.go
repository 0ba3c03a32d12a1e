package jsonl

// phase is the state of a dialogue.
type phase uint8

const (
	idle      phase = iota
	asking          // the desk has not accepted or found the sale yet
	running         // the sale runs
	telling         // its outcome waits for ack
	recording       // the desk records what became of the telling
	working         // totals are on their way
	phases
)

var phaseNames = [phases]string{"idle", "asking", "running", "telling", "recording", "working"}

// rule is what to do with a message in a phase.
type rule uint8

const (
	busy    rule = iota // error busy, nothing is begun
	take                // begin it
	aside               // answer it beside what runs
	same                // it asks for what runs: say again how that stands
	rejoin              // give what runs up, and begin the message: it asks for the same sale in another way
	forget              // the register does not know the outcome that it is being told: that is lost; then begin the message
	later               // begin it once the desk has recorded what became of the telling
	stop                // ask the desk to abort what runs
	tooLate             // it has ended
	confirm             // the outcome is told
	unknown             // error not_told, or acknowledged once more
	silent              // the answer to it is on its way
)

// ways are the columns of the table for one message: per phase, where it names another id than what
// runs, and where it names the same.
type ways struct{ other, same [phases]rule }

// table is the whole behaviour of the terminal towards a message. It is never written to.
var table = [ops]ways{
	//           idle    asking  running telling recording working
	hello:   {[phases]rule{aside, aside, aside, aside, aside, aside}, [phases]rule{aside, aside, aside, aside, aside, aside}},
	health:  {[phases]rule{aside, aside, aside, aside, aside, aside}, [phases]rule{aside, aside, aside, aside, aside, aside}},
	sale:    {[phases]rule{take, busy, busy, forget, later, busy}, [phases]rule{take, same, same, same, later, busy}},
	refund:  {[phases]rule{take, busy, busy, forget, later, busy}, [phases]rule{take, same, same, same, later, busy}},
	reverse: {[phases]rule{take, busy, busy, forget, later, busy}, [phases]rule{take, same, same, same, later, busy}},
	status:  {[phases]rule{take, busy, busy, busy, later, busy}, [phases]rule{take, same, same, same, later, busy}},
	last:    {[phases]rule{take, busy, rejoin, forget, later, busy}, [phases]rule{take, busy, rejoin, forget, later, busy}},
	abort:   {[phases]rule{take, busy, busy, busy, later, busy}, [phases]rule{take, stop, stop, tooLate, tooLate, busy}},
	ack:     {[phases]rule{unknown, unknown, unknown, unknown, unknown, unknown}, [phases]rule{unknown, unknown, unknown, confirm, silent, unknown}},
	totals:  {[phases]rule{take, busy, busy, busy, later, busy}, [phases]rule{take, busy, busy, busy, later, busy}},
}
