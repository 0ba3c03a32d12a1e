package zvt

import (
	"time"

	"posagent/ecr"
)

// The timers.
const (
	TimerReply    ecr.Timer = iota // the register owes an answer
	TimerAnswer                    // we owe an answer
	TimerProgress                  // the next intermediate status
	TimerAskAgain                  // the pause after 84 9C
	TimerFree                      // how long 06 20 waits for another connection's dialogue
	TimerPaper                     // no further line came for the terminal's printer
	timers
)

// The times of the protocol.
const (
	t3             = 5 * time.Second         // command to answer
	answerWithin   = 4500 * time.Millisecond // our answer, a little sooner
	lostWithin     = 2 * time.Second         // of it, for what must be recorded before
	holdWithin     = 70 * time.Second        // the answer of a terminal that takes its journal up: registers give up at 90 s
	tellWithin     = 30 * time.Second        // answer to 04 0F where BMP 01 says nothing
	progressEvery  = 10 * time.Second        // 04 FF; at most 15 s
	paperWithin    = 3 * time.Second         // the next line for the terminal's printer
	promptWithin   = 60 * time.Second        // a prompt whose F0 says nothing
	askAgainAfter  = 2 * time.Second
	secondWithin   = 2 * time.Second  // the answer to 04 0F, after one that may belong to an older message
	freeWithin     = 11 * time.Second // a connection that is gone is noticed within 10 s; the two must not race
	progressMinute = 0x03             // T4 in a 04 FF that carries a container: the protocol's own 180 s
)
