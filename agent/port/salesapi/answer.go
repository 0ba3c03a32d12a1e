package salesapi

import (
	"cmp"
	"net/http"
	"time"

	"posagent/agent/checkout"
	"posagent/agent/checkout/drive/journal"
	"posagent/agent/httpd"
	"posagent/agent/view"
	"posagent/ecr"
	"posagent/schemes/wire"
)

// How long things may take.
const (
	heardWithin = 5 * time.Second  // an answer is acknowledged
	writeWithin = 15 * time.Second // an answer is written and acknowledged
	atHand      = 5 * time.Second  // an outcome that is journalled comes
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
	v := seen.Document()
	v.State, v.Outcome, v.Code, v.Text, v.Receipt, v.Trace, v.Transaction, v.Settling = view.Running, "", "", "", 0, 0, "", false // what is told says them
	var out *ecr.Outcome
	if run != nil {
		var step ecr.Progress
		if step, out = run.now(); out == nil {
			v.Step, v.StepText = step.Step, step.Text
		}
	} else if row.Held() {
		out = &ecr.Outcome{Result: ecr.InProgress, Code: ecr.OnHold, Text: ecr.HeldText(t.o.Language), Settling: true, Amount: row.Amount}
	} else if row.State.Result != "" {
		ends(&v, row)
		if o, err := t.o.Desk.Receipt(ctx, row.Key); err == nil {
			out = &o
		}
	}
	if out != nil {
		v.State, v.Outcome, v.Code, v.Text, v.Settling = view.Ended, out.Result, out.Code, out.Text, out.Settling
		v.Receipt, v.Trace, v.Transaction, v.Amount = out.Receipt, out.Trace, out.TransactionID, int64(out.Amount)
		if v.Receipts = t.receipts(*out, cmp.Or(language, t.o.Language)); out.Code == ecr.OnHold {
			v.State, v.Receipts = view.Held, nil
		}
	}
	status := http.StatusOK
	v.Result = v.Outcome
	if v.State == view.Running {
		v.QR = t.code(row)
		if r.Method == http.MethodPost {
			status = http.StatusAccepted
		}
	}
	if r.Method == http.MethodPost {
		w.Header().Set("Location", Path+"/"+id)
	}
	telling := run != nil && out != nil && httpd.Open(ctx)
	if wire.WriteJSON(w, status, wire.JSONType, asked(r, v)) != nil || !telling {
		return false, nil // a lost connection has no reader
	}
	return http.NewResponseController(w).Flush() == nil && httpd.Heard(ctx, heardWithin), nil
}

// asked is a sale as it was asked for: by itself, or under a key, which is a list.
func asked(r *http.Request, v Sale) any {
	if r.Method != http.MethodGet || r.PathValue("id") != "" || !r.URL.Query().Has("key") {
		return v
	}
	one := v.Sale
	one.Schema = ""
	return found{Sale: v, Schema: view.SalesSchema, Sales: []view.Sale{one}}
}

// ends says how a sale ended that nothing is told of any more.
func ends(v *Sale, row *journal.Row) {
	v.State, v.Outcome, v.Code, v.Receipt, v.Trace = view.Ended, row.State.Result, row.State.Code, row.Receipt, row.Trace
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
	return &QR{Payload: row.State.Payload, PNG: at + "png", SVG: at + "svg", Until: t.o.Now().Add(left).UTC().Truncate(time.Second), Seconds: int(left / time.Second)}
}
