package zvt

import "posagent/ecr/zvt/apdu"

// phase is the state of a dialogue. From asking to ending the terminal is master.
type phase uint8

const (
	idle      phase = iota // the register is master
	asking                 // a sale is being accepted; the register has no answer yet
	running                // the sale runs
	working                // something else runs: registration, status, end of day, diagnosis
	prompting              // a person at the terminal is asked for a key or digits; the register waits for the answer
	telling                // 04 0F waits for its answer
	pausing                // the register asked to be asked again (84 9C)
	recording              // the desk records what became of the telling
	printing               // receipts are sent
	ending                 // 06 0F or 06 1E waits for its answer
	waiting                // 06 20 waits for the dialogue of another connection of the line to end
	elsewhere              // another connection of the line is in one of the phases above
	phases
)

var phaseNames = [phases]string{"idle", "asking", "running", "working", "prompting", "telling", "pausing", "recording", "printing", "ending", "waiting", "elsewhere"}

func (p phase) String() string { return phaseNames[p] }

// rule is what to do with a command in a phase.
type rule uint8

const (
	refuse         rule = iota // 84 83 00
	take                       // begin it; in ending it stands for the missing answer
	busy                       // 84 A0 00
	restart                    // the register has started again: drop the dialogue, begin the command
	join                       // drop the dialogue but keep its sale, which the command asks for
	await                      // answer it, and begin it when the dialogue of the other connection is over
	unknownRunning             // 84 A0 00; the register does not know the running sale, so a later approval of it counts as lost
	unknownOutcome             // the register does not know the sale it is being told: lost; then begin the command
	aside                      // answer beside the dialogue: status 9C
	endPrompt                  // the prompt's answer is a time-out, then 80 00 00
	abort                      // ask the desk to abort the running sale
	abortSoon                  // the same, as soon as the sale exists
	abortOrphan                // the same, for a sale that no dialogue of this line tells of
	abortLate                  // the outcome is known: 80 00 00 if it is "aborted", else 84 83 00
)

// table is the whole behaviour of the terminal towards a command, in the order of the phases. What
// is not in it, and what cannot be decoded, is refused. It is never written to.
var table = map[apdu.Command][phases]rule{
	// idle, asking, running, working, prompting, telling, pausing, recording, printing, ending, waiting, elsewhere
	apdu.Registration:   {take, restart, restart, restart, restart, restart, restart, restart, restart, take, restart, take},
	apdu.LogOff:         {take, restart, restart, restart, restart, restart, restart, restart, restart, take, restart, take},
	apdu.StatusEnquiry:  {take, aside, aside, aside, restart, aside, aside, aside, aside, take, aside, aside},
	apdu.Authorisation:  {take, busy, unknownRunning, busy, restart, unknownOutcome, busy, busy, busy, take, busy, busy},
	apdu.Reversal:       {take, busy, unknownRunning, busy, restart, unknownOutcome, busy, busy, busy, take, busy, busy},
	apdu.RefundCmd:      {take, busy, unknownRunning, busy, restart, unknownOutcome, busy, busy, busy, take, busy, busy},
	apdu.RepeatReceipt:  {take, busy, join, busy, restart, join, join, join, join, take, busy, await},
	apdu.AbortECR:       {abortOrphan, abortSoon, abort, refuse, endPrompt, abortLate, abortLate, abortLate, abortLate, abortLate, abortOrphan, abortOrphan},
	apdu.EndOfDay:       {take, busy, busy, busy, restart, busy, busy, busy, busy, take, busy, busy},
	apdu.TurnoverTotals: {take, busy, busy, busy, restart, busy, busy, busy, busy, take, busy, busy},
	apdu.Diagnosis:      {take, busy, busy, busy, restart, busy, busy, busy, busy, take, busy, busy},
	apdu.Initialisation: {take, busy, busy, busy, restart, busy, busy, busy, busy, take, busy, busy},
	apdu.Reset:          {take, busy, busy, busy, restart, busy, busy, busy, busy, take, busy, busy},
	apdu.PartialClose:   {take, busy, busy, busy, restart, busy, busy, busy, busy, take, busy, busy},
	apdu.ReprintReceipt: {take, busy, busy, busy, restart, busy, busy, busy, busy, take, busy, busy},
	apdu.PrintConfig:    {take, busy, busy, busy, restart, busy, busy, busy, busy, take, busy, busy},
	apdu.SetTerminalID:  {take, busy, busy, busy, restart, busy, busy, busy, busy, take, busy, busy},
	apdu.SetDate:        {take, busy, busy, busy, restart, busy, busy, busy, busy, take, busy, busy},
	apdu.StartOPT:       {take, busy, busy, busy, restart, busy, busy, busy, busy, take, busy, busy},
	apdu.StartOPTInit:   {take, busy, busy, busy, restart, busy, busy, busy, busy, take, busy, busy},
	apdu.OutputOPT:      {take, busy, busy, busy, restart, busy, busy, busy, busy, take, busy, busy},
	apdu.ChangeBaud:     {take, busy, busy, busy, restart, busy, busy, busy, busy, take, busy, busy},
	apdu.ActivateReader: {take, busy, busy, busy, restart, busy, busy, busy, busy, take, busy, busy},
	apdu.DisplayText:    {take, busy, busy, busy, restart, busy, busy, busy, busy, take, busy, busy},
	apdu.DisplayKey:     {take, busy, busy, busy, restart, busy, busy, busy, busy, take, busy, busy},
	apdu.DisplayNumber:  {take, busy, busy, busy, restart, busy, busy, busy, busy, take, busy, busy},
	apdu.PrintLine:      {take, busy, busy, busy, restart, busy, busy, busy, busy, take, busy, busy},
	apdu.PrintBlock:     {take, busy, busy, busy, restart, busy, busy, busy, busy, take, busy, busy},
	// What no payment method can do: begun, they are told so with a text, and touch no sale.
	apdu.BookTip:     {take, busy, busy, busy, restart, busy, busy, busy, busy, take, busy, busy},
	apdu.Reservation: {take, busy, busy, busy, restart, busy, busy, busy, busy, take, busy, busy},
	apdu.BookPart:    {take, busy, busy, busy, restart, busy, busy, busy, busy, take, busy, busy},
	apdu.BookTotal:   {take, busy, busy, busy, restart, busy, busy, busy, busy, take, busy, busy},
	apdu.Release:     {take, busy, busy, busy, restart, busy, busy, busy, busy, take, busy, busy},
}
