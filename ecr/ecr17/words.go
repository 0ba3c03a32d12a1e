package ecr17

import (
	"strings"

	"posagent/ecr"
)

// words are the texts of answers, of at most 24 characters, and of progress, of at most 20.
type words struct {
	no    map[ecr.Code]string // why something is not done
	other string              // the same, for any other code
	steps map[ecr.Step]string
	wait  string // any other step
	none  string // G: there is nothing to repeat
	old   string // G: the last result is too old
	late  string
	tag   string
}

var italian = words{
	no: map[ecr.Code]string{
		ecr.RejectedByScheme: "RIFIUTATO", ecr.AbortedByUser: "ANNULLATO", ecr.NoMethod: "NESSUN METODO", ecr.AmountWrong: "IMPORTO NON VALIDO",
		ecr.AlreadyReversed: "GIA' STORNATO", ecr.NotReversible: "NON STORNABILE", ecr.NoConnection: "NESSUNA CONNESSIONE",
		ecr.NotStored: "TERMINALE NON PRONTO", ecr.NotReady: "TERMINALE NON PRONTO", ecr.StillRunning: "IN CORSO NON RIPETERE",
		ecr.OnHold:        "SOSPESO NON RIPETERE",
		ecr.EODImpossible: "VENDITA IN CORSO",
	},
	other: "NON ESEGUITO",
	steps: map[ecr.Step]string{
		ecr.StepAsking: "SCEGLIERE AL POS", ecr.StepShowCode: "INQUADRARE IL CODICE", ecr.StepConfirm: "CONFERMARE NELL'APP", ecr.StepApp: "CONFERMARE NELL'APP",
		ecr.StepExpired:   "SCADUTO: ANNULLARE",
		ecr.StepReversing: "STORNO IN CORSO",
	},
	wait: "ATTENDERE", none: "NESSUNA OPERAZIONE", old: "NESSUN ESITO RECENTE", late: "TEMPO SCADUTO", tag: "DATI NON PREVISTI",
}

var english = words{
	no: map[ecr.Code]string{
		ecr.RejectedByScheme: "REFUSED", ecr.AbortedByUser: "ABORTED", ecr.NoMethod: "NO PAYMENT METHOD", ecr.AmountWrong: "AMOUNT NOT POSSIBLE",
		ecr.AlreadyReversed: "REVERSED ALREADY", ecr.NotReversible: "NOT REVERSIBLE", ecr.NoConnection: "NO CONNECTION",
		ecr.NotStored: "TERMINAL NOT READY", ecr.NotReady: "TERMINAL NOT READY", ecr.StillRunning: "RUNNING, DO NOT REPEAT",
		ecr.OnHold:        "HELD, DO NOT REPEAT",
		ecr.EODImpossible: "A SALE IS OPEN",
	},
	other: "NOT DONE",
	steps: map[ecr.Step]string{
		ecr.StepAsking: "CHOOSE AT TERMINAL", ecr.StepShowCode: "SCAN THE CODE", ecr.StepConfirm: "CONFIRM IN THE APP", ecr.StepApp: "CONFIRM IN THE APP",
		ecr.StepExpired:   "CODE EXPIRED: CANCEL",
		ecr.StepReversing: "REVERSING",
	},
	wait: "PLEASE WAIT", none: "NO TRANSACTION", old: "NO RECENT RESULT", late: "TIME IS OVER", tag: "DATA NOT KNOWN",
}

// wordsFor returns the English words for an English terminal, else the Italian ones.
func wordsFor(language string) words {
	if strings.HasPrefix(strings.ToLower(language), "en") {
		return english
	}
	return italian
}

// reason says why something is not done.
func (w words) reason(code ecr.Code) string {
	if text := w.no[code]; text != "" {
		return text
	}
	return w.other
}

// step is a progress text.
func (w words) step(s ecr.Step) string {
	if text := w.steps[s]; text != "" {
		return text
	}
	return w.wait
}
