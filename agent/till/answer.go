package till

import (
	"cmp"
	"net/http"
	"time"

	"posagent/agent/checkout"
	"posagent/agent/checkout/drive/journal"
	"posagent/agent/httpd"
	"posagent/ecr"
	"posagent/schemes/wire"
)

// How long things may take.
const (
	heardWithin = 5 * time.Second  // an answer is acknowledged
	writeWithin = 15 * time.Second // an answer is written and acknowledged
	atHand      = 5 * time.Second  // an outcome that is journalled comes
)

// The states of a sale.
const (
	running = "running"
	ended   = "ended"
	held    = "held" // a person has to look at it
)

// answer writes a sale as it is now. run is nil where the answer tells the sale's client nothing that
// it does not have; else the caller listens to it. heard is whether the client has acknowledged an answer
// with the outcome.
func (t *Till) answer(w http.ResponseWriter, r *http.Request, run *run, id, language string) (heard bool, err error) {
	ctx := r.Context()
	seen, row, err := t.o.House.Sale(ctx, id)
	if err != nil {
		return false, err
	}
	v := Sale{
		Schema: seen.Schema, ID: seen.Sale.ID, Key: seen.Sale.Key, State: running, Type: row.Kind, Amount: seen.Sale.Amount, Currency: seen.Sale.Currency,
		Method: seen.Sale.Method, Label: seen.Sale.Label, Sale: seen.Sale, Timeline: seen.Timeline,
	}
	var out *ecr.Outcome
	if run != nil {
		var step ecr.Progress
		if step, out = run.now(); out == nil {
			v.Step, v.StepText = step.Step, step.Text
		}
	} else if row.Held() {
		out = &ecr.Outcome{Result: ecr.InProgress, Code: ecr.OnHold, Text: ecr.HeldText(t.o.Language), Settling: true, Amount: row.Amount}
	} else if row.State.Result != "" {
		v.ended(row)
		if o, err := t.o.Desk.Receipt(ctx, row.Key); err == nil {
			out = &o
		}
	}
	if out != nil {
		v.State, v.Outcome, v.Code, v.Text, v.Settling = ended, out.Result, out.Code, out.Text, out.Settling
		v.Receipt, v.Trace, v.Transaction, v.Amount = out.Receipt, out.Trace, out.TransactionID, int64(out.Amount)
		if v.Receipts = t.receipts(*out, cmp.Or(language, t.o.Language)); out.Code == ecr.OnHold {
			v.State, v.Receipts = held, nil
		}
	}
	status := http.StatusOK
	if v.State == running {
		v.QR = t.code(row)
		if r.Method == http.MethodPost {
			status = http.StatusAccepted
		}
	}
	if r.Method == http.MethodPost {
		w.Header().Set("Location", Path+"/"+id)
	}
	telling := run != nil && out != nil && httpd.Open(ctx)
	if wire.WriteJSON(w, status, wire.JSONType, v) != nil || !telling {
		return false, nil // a lost connection has no reader
	}
	return http.NewResponseController(w).Flush() == nil && httpd.Heard(ctx, heardWithin), nil
}

// ended says how a sale ended that nothing is told of any more.
func (v *Sale) ended(row *journal.Row) {
	v.State, v.Outcome, v.Code, v.Receipt, v.Trace = ended, row.State.Result, row.State.Code, row.Receipt, row.Trace
	v.Settling = row.State.Settling || row.State.Phase == checkout.Reversing
}

// code is the code of a sale that is shown now; nil = none is.
func (t *Till) code(row *journal.Row) *QR {
	if !row.State.Shown || row.State.Result != "" || row.Held() {
		return nil
	}
	if _, err := t.o.Code(row); err != nil {
		return nil
	}
	left := max(0, checkout.CodeUntil(row.State)-t.o.Boot())
	at := Path + "/" + string(row.Key) + "/qr."
	return &QR{row.State.Payload, at + "png", at + "svg", t.o.Now().Add(left).UTC().Truncate(time.Second), int(left / time.Second)}
}
