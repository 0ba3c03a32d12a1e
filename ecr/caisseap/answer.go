package caisseap

import (
	"fmt"
	"strings"

	"posagent/ecr"
)

// Values of AE.
const (
	done    = "10"
	notDone = "01"
)

// Values of AF: why something is not done.
const (
	unknownReason = "00"
	refusedReason = "04"
	forbidden     = "05"
	abandoned     = "06"
	noEnd         = "07"
	timedOut      = "08"
	formatError   = "09"
	notSelectable = "10"
	anotherRuns   = "11"
	unknownAction = "12"
	wrongCurrency = "13"
)

// qrCode is the value of CC for a payment by QR code.
const qrCode = "607"

// echoed are the fields of a request that its answer repeats, in the order of the answer.
var echoed = []string{"CZ", "CJ", "CA", "CB", "CD", "CE"}

// reasons is AF for each code of the desk.
var reasons = map[ecr.Code]string{
	ecr.RejectedByScheme: refusedReason, ecr.AbortedByUser: abandoned, ecr.WrongCurrency: wrongCurrency,
	ecr.Processing: formatError, ecr.NoMethod: notSelectable, ecr.AmountWrong: formatError, ecr.AlreadyReversed: forbidden,
	ecr.NotReversible: forbidden, ecr.Busy: anotherRuns, ecr.Impossible: forbidden, ecr.StillRunning: noEnd, ecr.OnHold: noEnd,
	ecr.NoConnection: timedOut, ecr.NoOriginal: forbidden, ecr.NotStored: timedOut, ecr.NotReady: timedOut, ecr.Resuming: timedOut,
}

// reason is AF for an outcome or a refusal. 01, 02 and 03 mean paid, and never stand here.
func reason(code ecr.Code) string {
	if af := reasons[code]; af != "" {
		return af
	}
	return unknownReason
}

// heldText is AF for a sale that a person has to look at.
func heldText(language string) string {
	return withoutEnd(language, "GESPERRT, NICHT WIEDERHOLEN", "HELD, DO NOT REPEAT", "BLOQUE, NE PAS REPETER")
}

// runningText is AF for a refund that goes on: registers have no word for it, and show the text.
func runningText(language string) string {
	return withoutEnd(language, "LAEUFT, NICHT WIEDERHOLEN", "RUNNING, DO NOT REPEAT", "EN COURS, NE PAS REPETER")
}

func withoutEnd(language, german, english, french string) string {
	return noEnd + " " + in(language, german, english, french)
}

// leftText is AF for a register that has ended its sending side before the answer: nothing is sold.
func leftText(language string) string {
	return abandoned + " " + in(language, "VERBINDUNG VOR DER ANTWORT BEENDET", "CONNECTION ENDED BEFORE THE ANSWER", "CONNEXION FERMEE AVANT LA REPONSE")
}

func in(language, german, english, french string) string {
	text := french
	switch language = strings.ToLower(language); {
	case ecr.German(language):
		text = german
	case strings.HasPrefix(language, "en"):
		text = english
	}
	return text
}

// answer writes an answer to a request. AE stands last, and AF behind it: an answer that breaks off
// between two fields is then no approval.
func (r request) answer(more ...Field) []byte {
	var m Message
	for _, tag := range echoed {
		if v := r.fields.Get(tag); v != "" {
			m = append(m, Field{tag, v})
		}
	}
	if len(m) == 0 {
		m = Message{{"CZ", "0300"}}
	}
	return append(m, more...).Encode()
}

// denial is an answer with a reason.
func (r request) denial(af string) []byte { return r.answer(Field{"AE", notDone}, Field{"AF", af}) }

// approval is the answer to a sale that is done: the receipt number stands in AC, the only field
// that registers keep.
func (r request) approval(out ecr.Outcome) []byte {
	return r.answer(Field{"AC", fmt.Sprintf("R%04d", out.Receipt)}, Field{"CC", qrCode}, Field{"AE", done})
}
