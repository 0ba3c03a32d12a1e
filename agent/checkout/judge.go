package checkout

import (
	"slices"

	"posagent/schemes/aapay"
)

// Verdict is what a status means for a sale that is still open.
type Verdict string

// The verdicts.
const (
	Live    Verdict = "live"
	Success Verdict = "success"
	Bad     Verdict = "bad"     // final, no money moved
	Overdue Verdict = "overdue" // TIMEDOUT at the backend: may still commit
)

// Judge says what a status means for the money: success is FINALIZED (or REPORTED) with COMMIT, or a word listed in okCodes, and
// never with ROLLBACK; COMMIT outranks a bad or late word.
func Judge(word aapay.State, account aapay.AccountState, okWords []string) Verdict {
	committed := account == aapay.Commit
	switch word {
	case aapay.Finalized, aapay.Reported:
		switch account {
		case aapay.Commit:
			return Success
		case aapay.Rollback:
			return Bad
		}
	case aapay.Rejected, aapay.Cancelled, aapay.Failed:
		if committed {
			return Success
		}
		return Bad
	case aapay.TimedOut:
		if committed {
			return Success
		}
		return Overdue
	case aapay.Stale:
		if committed {
			return Success
		}
		return Live
	}
	if account != aapay.Rollback && slices.Contains(okWords, string(word)) && !waiting(word) {
		return Success
	}
	return Live
}

// waiting are the words no okCodes list turns into success: they mean "not yet".
func waiting(word aapay.State) bool {
	return word == "" || word == aapay.Initialized || word == aapay.Pending || word == aapay.Stale
}

// finalNo says whether a status proves that the original has ended without moving money.
func finalNo(s State) bool { return Judge(s.Wire, s.Account, nil) == Bad }

// answer is what a reply to initialize means.
type answer int

const (
	answerLive answer = iota
	answerRejected
	answerResend
)

func judgeReply(r aapay.Reply, plain bool) answer {
	const created = 201
	code, said := 0, r.Response != nil
	if said {
		code = r.Response.ResponseCode
	}
	if r.HTTPStatus == created {
		if said && (code == aapay.CodeReject || code == aapay.CodeCancel) || !said && !r.Valid {
			return answerRejected
		}
		return answerLive // contradictory: ask
	}
	if said && code == aapay.CodeResend && !plain {
		return answerResend
	}
	return answerLive // 0, -3, and whatever contradicts itself or is unknown: ask
}
