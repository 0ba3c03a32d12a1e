package disputes

import (
	"strings"

	"posagent/schemes/wire"
)

// The codes of S1 7. As the Reason of a *wire.Error they survive the wire: an answer 200 with responseCode 99 has them, and
// Internal without a reason is SystemError there.
//
//	Reason         code          when
//	SystemError    Internal      the service failed
//	NoMatch        NotFound      no transaction matches
//	ManyMatches    (no error)    several match, the latest was taken: CreateReply.ErrorCode
//	Missing        Invalid       what a transaction is found by, or what a case is made from, is missing or cannot be read
//	BadAmount      Invalid       disputeAmount, or its currency
//	Exists         Conflict      the transaction is disputed already
//	BadDate        Invalid       a date that is none
//
//	WrongStatus    Conflict      a move that the case's queue does not have (the code is ours: S1 7 shows none)
//
// From a foreign service: a code that is none of these is Conflict. Statuses other than 200 and 201 are read as everywhere:
// wire.Call.Problem.
const (
	SystemError = "DIS0001E"
	NoMatch     = "DIS0002E"
	ManyMatches = "DIS0003W"
	Missing     = "DIS0004E"
	BadAmount   = "DIS0005E"
	Exists      = "DIS0009E"
	BadDate     = "DIS0012E"

	WrongStatus = "DIS0101E"
)

// Codes of documentsErrorList (ours: S1 shows none).
const (
	DocumentEmpty    = "DOC0001E"
	DocumentTooLarge = "DOC0002E"
	DocumentTwice    = "DOC0003E" // its documentID is in the case already
	DocumentMimeType = "DOC0004E"
	DocumentUnread   = "DOC0005E" // documentBinary is not Base64
)

var codes = [...]struct {
	name    string
	code    wire.Code // "" = a warning
	meaning string
}{
	{SystemError, wire.Internal, "System error"},
	{NoMatch, wire.NotFound, "No transaction matches the search criteria"},
	{ManyMatches, "", "More than one transaction matches; the case is created on the latest matching transaction"},
	{Missing, wire.Invalid, "Mandatory search criteria missing"},
	{BadAmount, wire.Invalid, "Invalid dispute amount"},
	{Exists, wire.Conflict, "A dispute already exists for the transaction"},
	{BadDate, wire.Invalid, "Invalid date; expected format yyyy-MM-dd"},
	{WrongStatus, wire.Conflict, "The queue of the case does not have this move"},
}

// Meaning is the text of a code, "" for another.
func Meaning(code string) string {
	for _, c := range codes {
		if c.name == code {
			return c.meaning
		}
	}
	return ""
}

// Refused makes the error of one of the codes; detail, for people, may be "".
func Refused(op, reason, detail string) *wire.Error {
	e := &wire.Error{Code: wire.Conflict, Reason: reason, Op: op, Msg: Meaning(reason)}
	for _, c := range codes {
		if c.name == reason {
			e.Code = c.code
		}
	}
	if detail != "" {
		e.Msg += ": " + detail
	}
	return e
}

// refusal is the code and text with which an error is answered 200; "" for one that is a problem.
func refusal(e *wire.Error) (code, text string) {
	if e.Code == wire.Internal {
		return SystemError, Meaning(SystemError)
	}
	for _, c := range codes {
		if c.name == e.Reason && c.code == e.Code {
			if code, text = c.name, c.meaning; strings.HasPrefix(e.Msg, text) {
				text = e.Msg
			}
		}
	}
	return code, wire.MaskPANs(text)
}

// refused reads an answer with responseCode 99; nil = it has another.
func refused(op, response, code, text string) error {
	if response != Failed {
		return nil
	}
	text = wire.MaskPANs(wire.Clean(text))
	for _, c := range codes {
		if c.name == code && c.code != "" {
			return &wire.Error{Code: c.code, Reason: code, Op: op, Msg: text}
		}
	}
	return &wire.Error{Code: wire.Conflict, Op: op, Msg: strings.TrimSpace(wire.Clean(code) + " " + text)}
}

// ContentType is sent with requests and successes.
const ContentType = wire.JSONType
