package disputes

import "strconv"

// Queue is where a case stands: its status follows it. S1 3.3 shows no statuses.
type Queue int32

// The queues.
const (
	FirstLineIssuer    Queue = 1000 // submitted, to be verified by hand
	FirstLineOperator  Queue = 2000 // submitted, straight through
	NotPossible        Queue = 3000
	Closed             Queue = 4000
	AwaitingFeedback   Queue = 5000
	AwaitingSubmission Queue = 6000
	Issuer             Queue = 7000
)

// Queues lists them, a fresh copy.
func Queues() []Queue {
	return []Queue{FirstLineIssuer, FirstLineOperator, NotPossible, Closed, AwaitingFeedback, AwaitingSubmission, Issuer}
}

// Name is for people, "" for no queue.
func (q Queue) Name() string {
	switch q {
	case FirstLineIssuer:
		return "1st Line Issuer"
	case FirstLineOperator:
		return "1st Line Operator"
	case NotPossible:
		return "Case Handling Not Possible"
	case Closed:
		return "Closed Supercase"
	case AwaitingFeedback:
		return "Awaiting Issuer Feedback"
	case AwaitingSubmission:
		return "Awaiting Dispute Submission"
	case Issuer:
		return "Issuer Disputes"
	}
	return ""
}

// String is the number, which is also the word of a status.
func (q Queue) String() string { return strconv.Itoa(int(q)) }

// Move is what happens to a case.
type Move int

// The moves.
const (
	Prepare     Move = iota // documents, notes or other information were added
	Submit                  // submitDispute
	Close                   // closeDispute
	Acknowledge             // acknowledgeClosure
	Reject                  // rejectClosure
	Answer                  // the operator has judged it
)

// Next is the queue after a move; ok is false where there is none. straight is the case's, lost says that nothing of the
// transaction's money is left to dispute.
func Next(q Queue, m Move, straight, lost bool) (to Queue, ok bool) {
	switch m {
	case Prepare:
		if q == Issuer {
			q = AwaitingSubmission
		}
		return q, q != Closed
	case Submit:
		switch {
		case q != Issuer && q != AwaitingSubmission:
		case lost:
			return NotPossible, true
		case straight:
			return FirstLineOperator, true
		default:
			return FirstLineIssuer, true
		}
	case Close:
		return Closed, q != Closed
	case Acknowledge:
		return Closed, q == AwaitingFeedback
	case Reject:
		return FirstLineIssuer, q == AwaitingFeedback
	case Answer:
		return AwaitingFeedback, q == FirstLineIssuer || q == FirstLineOperator
	}
	return q, false
}
