package salesapi

import (
	"net/http"
	"reflect"
	"strings"

	"posagent/agent/view"
	"posagent/ecr"
	"posagent/schemes/contracts"
	"posagent/schemes/wire/rest"
	"posagent/schemes/wire/rest/openapi"
)

// Path is where sales are.
const Path = "/agent/v1/sales"

// DayPath is where the end of day is.
const DayPath = "/agent/v1/end-of-day"

// Request is what is asked for. Amounts are minor units.
type Request struct {
	Amount     int64    `json:"amount,omitempty" wire:"given"`
	Currency   string   `json:"currency,omitempty" wire:"given"`
	Type       ecr.Kind `json:"type,omitempty" wire:"given"`
	Original   string   `json:"original,omitempty" wire:"given"`
	Receipt    int64    `json:"receipt,omitempty" wire:"given"`
	Reference  string   `json:"reference,omitempty" wire:"masked"`
	Method     string   `json:"method,omitempty" wire:"given"`
	ConsumerID string   `json:"consumerId,omitempty" wire:"given"`
	Order      []Item   `json:"order,omitempty"`
	Language   string   `json:"language,omitempty"`
	Unheard    string   `json:"unheard,omitempty" wire:"given"`
}

// Item is one order line.
type Item struct {
	ItemNo    string `json:"itemNo,omitempty" wire:"masked"`
	Name      string `json:"name" wire:"required,masked"`
	Unit      string `json:"unit,omitempty"`
	Quantity  int32  `json:"quantity" wire:"required"`
	UnitPrice int64  `json:"unitPrice,omitempty"`
	Gross     int64  `json:"gross" wire:"required"`
	Tax       int64  `json:"tax,omitempty"`
	TaxRate   int64  `json:"taxRate,omitempty"` // hundredths of a percent
}

// What is answered is what every view of a sale has.
type (
	Sale     = view.Alone
	QR       = view.QR
	Receipts = view.Receipts
	Receipt  = view.Receipt
	Line     = view.ReceiptLine
)

// found is the sale that a client asked for under a key: a list of one. Beside it are the fields of the sale, as clients of before
// 2026-11-28 read them.
type found struct {
	Sale
	Schema string      `json:"schema"`
	Sales  []view.Sale `json:"sales"`
}

// What is asked.
type (
	ask struct {
		Wait string `query:"wait" json:"-"`
		Request
	}
	taking struct {
		ID   string `path:"id" json:"-"`
		Wait string `query:"wait" json:"-"`
		Taken
	}
	naming struct {
		ID string `path:"id" json:"-"`
	}
	one struct {
		ID       string `path:"id" json:"-"`
		Language string `query:"language" json:"-"`
	}
	some struct {
		Key      string `query:"key" json:"-"`
		State    string `query:"state" json:"-"`
		Since    string `query:"since" json:"-"`
		Limit    int64  `query:"limit" json:"-"`
		Cursor   int64  `query:"cursor" json:"-"`
		Language string `query:"language" json:"-"`
	}
	picture string
	nothing struct{}
)

// Taken is how a sale is taken back.
type Taken struct {
	Amount    int64  `json:"amount,omitempty" wire:"given"` // absent of a reversal = the whole; one that is not the whole is refused
	Reference string `json:"reference,omitempty" wire:"masked"`
	Unheard   string `json:"unheard,omitempty" wire:"given"`
}

// The routes, as a request's Pattern has them.
const (
	postSale  = "POST " + Path
	getSales  = "GET " + Path
	getSale   = "GET " + Path + "/{id}"
	postAbort = "POST " + Path + "/{id}/abort"
	postBack  = "POST " + Path + "/{id}/refund"
	postUndo  = "POST " + Path + "/{id}/reverse"
	postDay   = "POST " + DayPath
	getDay    = "GET " + DayPath
	getPNG    = "GET " + Path + "/{id}/qr.png"
	getSVG    = "GET " + Path + "/{id}/qr.svg"
)

const example = `{"amount":1250,"currency":"EUR","type":"payment","reference":"order-4711"}`

// Groups describe the routes.
func (t *Till) Groups() []openapi.Group {
	sales := openapi.Group{
		Name: "sales", About: "Sales that local software asks for, and those of the registers.", Proofs: []string{contracts.ByToken}, Refusal: contracts.Problems(),
		Types: map[reflect.Type]openapi.Type{
			reflect.TypeFor[ecr.Kind]():   words(ecr.Payment, ecr.Refund, ecr.Reversal),
			reflect.TypeFor[ecr.Result](): words(ecr.Approved, ecr.Declined, ecr.Aborted, ecr.InProgress, ""),
		},
		Words: map[reflect.Type]openapi.Words{
			reflect.TypeFor[Request]():   {"unheard": {Keep, Undo}},
			reflect.TypeFor[Taken]():     {"unheard": {Keep, Undo}},
			reflect.TypeFor[view.Sale](): {"state": {view.Running, view.Ended, view.Held}},
		},
		Infos: []rest.Info{
			describe[ask, view.Sale]("agent.sale.begin", "sell, refund or reverse; ?wait=25s waits for the outcome", postSale, rest.Write|rest.NeedsKey).WithExample(example),
			describe[some, view.Sales]("agent.sales", "sales, the newest first; with key the one that was asked for under it, whose fields are beside the list, too", getSales, 0),
			describe[one, view.Sale]("agent.sale", "one sale, its outcome and its history", getSale, 0),
			describe[naming, view.Sale]("agent.sale.abort", "ask a running sale to stop", postAbort, rest.Write),
			describe[taking, view.Sale]("agent.sale.refund", "give money of a payment back", postBack, rest.Write|rest.NeedsKey).WithExample(`{"amount":500}`),
			describe[taking, view.Sale]("agent.sale.reverse", "undo a payment of the open batch", postUndo, rest.Write|rest.NeedsKey|rest.MayBody).WithExample(`{}`),
		},
	}
	sales.Refusal.Conflict = http.StatusConflict
	days := openapi.Group{
		Name: "end of day", About: "The day is the whole terminal's: a client needs sales and all.", Proofs: sales.Proofs, Refusal: sales.Refusal,
		Infos: []rest.Info{
			describeAs[nothing, view.ClosedDay]("agent.day.close", "close the open batch: its sums, then a new one begins; the same key again is the same day", postDay, rest.Write|rest.NeedsKey|rest.MayBody, nil),
			describeAs[nothing, view.ClosedDay]("agent.day", "the day that was closed last", getDay, 0, nil),
		},
	}
	codes := func(name, kind, pattern, op string) openapi.Group {
		return openapi.Group{
			Name: name, About: "The code of a sale, while it is shown.", Proofs: sales.Proofs, Refusal: sales.Refusal, Reply: kind,
			Infos: []rest.Info{describe[naming, picture](op, "the code as a picture", pattern, 0)},
		}
	}
	return []openapi.Group{sales, days, codes("sale codes, PNG", "image/png", getPNG, "agent.sale.png"), codes("sale codes, SVG", "image/svg+xml", getSVG, "agent.sale.svg")}
}

func words[T ~string](list ...T) openapi.Type {
	text := ""
	for _, w := range list {
		text += `,"` + string(w) + `"`
	}
	return openapi.Type{Schema: `{"type":"string","enum":[` + text[1:] + `]}`, Example: `"` + string(list[0]) + `"`}
}

// describe describes a route. What begins or stops a sale is answered 202 while it runs.
func describe[In, Out any](op, what, pattern string, wants rest.Wants) rest.Info {
	var also []int
	if wants&rest.Write != 0 {
		also = []int{http.StatusAccepted}
	}
	return describeAs[In, Out](op, what, pattern, wants, also)
}

// describeAs describes a route that answers 200, and some other codes.
func describeAs[In, Out any](op, what, pattern string, wants rest.Wants, also []int) rest.Info {
	method, path, _ := strings.Cut(pattern, " ")
	e := rest.Endpoint[struct{}, In, Out]{Op: op, What: what, Method: method, Path: path, Status: http.StatusOK, Wants: wants, Also: also}
	return e.Info()
}
