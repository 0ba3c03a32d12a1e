package sessions

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"posagent/schemes/backend/pages"
	"posagent/schemes/backend/pages/form"
	"posagent/schemes/hosted"
	"posagent/schemes/wire"
	"posagent/store"
)

// Where the pages live.
const (
	FieldPrefix = "/fields/" // hosted fields, for frames of the platform's pages
	AwayPrefix  = "/away/"   // the bank's challenge, and alternative methods
	ScriptPath  = "/monetaweb/resources/hfsdk.js"
)

const fieldScriptPath = FieldPrefix + "field.js"

// away is where a session's customer has to go.
func (x *Sessions) away(s *session) string { return x.public + AwayPrefix + s.id }

// Pages serves what customers see. A POST must come from the page's own script or form.
//
//	GET  /fields/{session}/{id}  a hosted field, for a frame of the merchant's origin
//	POST /fields/{session}/{id}  value= what stands in it, or nothing for an action; the answer is what the frame tells its parent
//	GET  /away/{session}         the challenge or the alternative method
//	POST /away/{session}         say=yes|no|cancel
//	GET  /fields/field.js, /monetaweb/resources/hfsdk.js   the fields' script, and the platform's
func (x *Sessions) Pages() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+fieldScriptPath, pages.Script(pages.FormatExpiry+fieldScript))
	mux.HandleFunc("GET "+ScriptPath, pages.Script(platformScript))
	mux.HandleFunc("GET "+FieldPrefix+"methods/{name}", x.picture)
	mux.HandleFunc("GET "+FieldPrefix+"{session}/{id}", x.fieldPage)
	mux.HandleFunc("POST "+FieldPrefix+"{session}/{id}", x.fieldFilled)
	mux.HandleFunc("GET "+AwayPrefix+"{session}", x.awayPage)
	mux.HandleFunc("POST "+AwayPrefix+"{session}", x.awayAnswered)
	return mux
}

// peek reads a session for a page, expired ones too.
func (x *Sessions) peek(ctx context.Context, id string) (s *session, o *order, err error) {
	err = x.db.Write(ctx, func(tx store.Tx) error {
		if s, err = x.load(tx, opField, id, x.now().UnixMilli()); err == nil {
			o, err = findOrder(tx, opField, s.order)
		}
		return err
	})
	return s, o, err
}

// message is what a field's frame tells the platform's page (in place of what stands in the field).
type message struct {
	Event        string        `json:"event"`
	ID           string        `json:"id"`
	State        string        `json:"state,omitempty"`
	URL          string        `json:"url,omitempty"`
	Data         *where        `json:"data,omitempty"`
	FieldSet     *messageField `json:"fieldSet,omitempty"`
	ErrorCode    string        `json:"errorCode,omitempty"`
	ErrorMessage string        `json:"errorMessage,omitempty"`
	Token        string        `json:"token,omitempty"` // of the next request; the frame keeps it
	Then         *message      `json:"then,omitempty"`  // told besides
	Validation   []validity    `json:"validationStatus,omitempty"`
}

type validity struct {
	ID    string `json:"id"`
	Valid bool   `json:"valid"`
}

type where struct {
	State string `json:"state"`
	URL   string `json:"url,omitempty"`
}

type messageField struct {
	SessionID string         `json:"sessionId"`
	Fields    []hosted.Field `json:"fields"`
}

const (
	eventChange  = "BUILD_FLOW_STATE_CHANGE"
	eventSuccess = "BUILD_SUCCESS"
	eventError   = "BUILD_ERROR"
	eventConfirm = "CONFIRM_ERROR"
)

func formOf(sid, id string) string { return "fields/" + sid + "/" + id }

// label names a field for the customer.
func label(id string) (text, auto, mode, kind string, most int) {
	switch id {
	case cardNumber:
		return "Card number", "cc-number", "numeric", "", 23
	case expiryDate:
		return "Expiry (MM/YY)", "cc-exp", "numeric", "", pages.MaxExpiry
	case securityCode:
		return "Security code", "cc-csc", "numeric", "password", 4
	case holderName:
		return "Name on the card", "cc-name", "", "", 255
	case holderEmail:
		return "E-mail", "email", "email", "", 255
	}
	return "", "", "", "", 0
}

func (x *Sessions) fieldPage(w http.ResponseWriter, r *http.Request) {
	sid, id := r.PathValue("session"), r.PathValue("id")
	s, _, err := x.peek(r.Context(), sid)
	text, auto, mode, kind, most := label(id)
	action := id == payWithCard || slices.Contains(others(), id)
	if err == nil && text == "" && !action {
		err = wire.Errorf(wire.NotFound, opField, "no such field")
	}
	if err != nil {
		x.sorry(w, err)
		return
	}
	p := pages.Page{Title: id, Lang: "en", Frame: s.Origin}
	attrs := []pages.Attr{pages.A("id", "field"), pages.A("data-id", id), pages.A("data-to", s.Origin)}
	switch {
	case s.state.refusal() != "" || s.state == Complete:
		attrs = append(attrs, pages.A("data-over", hfExpired))
		p.Body = []pages.Node{pages.E("div", attrs, pages.Result("This payment is over."))}
	case action:
		name := "Pay by card"
		if id != payWithCard {
			name = "Pay with " + id
		}
		p.Body = []pages.Node{pages.E("div", append(attrs, pages.A("data-token", x.forms.Token(formOf(sid, id)))), pages.Button(name, "go", "", ""))}
	default:
		in := pages.Input{Name: "value", Label: text, Auto: auto, Mode: mode, Type: kind, Max: most}
		p.Body = []pages.Node{pages.E("div", append(attrs, pages.A("data-token", x.forms.Token(formOf(sid, id)))), in.Node())}
	}
	p.Script = fieldScriptPath
	p.Send(w)
}

func (x *Sessions) fieldFilled(w http.ResponseWriter, r *http.Request) {
	sid, id := r.PathValue("session"), r.PathValue("id")
	slip, err := x.forms.Take(w, r, formOf(sid, id))
	status, m := http.StatusOK, message{Event: eventSuccess, ID: id}
	if err == nil {
		err = x.fill(r.Context(), sid, id, r.PostForm.Get("value"), slip.Spend, &m)
	}
	if err == nil && r.PostForm.Get("confirm") != "" {
		m.Then, err = x.confirm(r.Context(), sid)
	}
	if err != nil {
		e := wire.AsError(opField, err)
		m = message{Event: eventError, ID: id, ErrorCode: hfTrouble, ErrorMessage: "not possible now"}
		switch {
		case e.Reason == hosted.SessionExpired || e.Reason == hosted.SessionCanceled || e.Code == wire.NotFound:
			m.ErrorCode, m.ErrorMessage = hfExpired, "the session is over"
		case e.Code == wire.Internal:
			x.log.Error("hosted field", "err", err)
		}
		if status = e.Code.Status(); e.Code == wire.Conflict {
			status = http.StatusOK // an answer as any other
		}
	}
	if status == http.StatusOK {
		m.Token = x.forms.Token(formOf(sid, id))
	}
	_ = wire.WriteJSON(w, status, wire.JSONType, m) // a lost connection has no reader
}

// fill does what a field was used for and says so in m.
func (x *Sessions) fill(ctx context.Context, sid, id, value string, spend func(store.Tx) error, m *message) error {
	if id == payWithCard || slices.Contains(others(), id) {
		if err := x.choose(ctx, sid, id, spend); err != nil {
			return err
		}
		s, _, err := x.peek(ctx, sid)
		if err != nil {
			return err
		}
		m.Event, m.State = eventChange, string(s.state)
		m.Data = &where{State: m.State}
		if s.state == Away {
			m.URL = x.away(s)
			m.Data.URL = m.URL
		} else {
			m.FieldSet = &messageField{sid, x.fields(s)}
		}
		return nil
	}
	f, state, err := x.field(ctx, sid, id, value, spend)
	if err != nil {
		return err
	}
	if f.code != "" {
		m.Event, m.ErrorCode, m.ErrorMessage = eventError, f.code, f.text
	}
	if state != "" {
		m.Then = &message{Event: eventChange, ID: id, State: string(state), Data: &where{State: string(state)}}
	}
	return nil
}

// confirm is the platform asking whether everything is filled in.
func (x *Sessions) confirm(ctx context.Context, sid string) (*message, error) {
	s, _, err := x.peek(ctx, sid)
	if err != nil {
		return nil, err
	}
	if s.state != Collecting {
		return &message{Event: eventChange, ID: "confirmData", State: string(s.state), Data: &where{State: string(s.state)}}, nil
	}
	m := &message{Event: eventConfirm, ID: "confirmData", ErrorCode: hfTrouble, ErrorMessage: "Validation error"}
	for _, id := range cardFields() {
		m.Validation = append(m.Validation, validity{id, slices.Contains(s.Got, id)})
	}
	return m, nil
}

// picture draws the name of a way to pay, for the list of them.
func (x *Sessions) picture(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimSuffix(r.PathValue("name"), ".svg")
	if _, known := serviceOf(name); !known || name == "" {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "image/svg+xml")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	_, _ = w.Write([]byte(`<svg xmlns="http://www.w3.org/2000/svg" width="120" height="40"><text x="60" y="26" text-anchor="middle" font-family="sans-serif" font-size="16">` +
		strings.ToUpper(name) + `</text></svg>`)) // one of our own names; the reader may be gone
}

func (x *Sessions) sorry(w http.ResponseWriter, err error) {
	e := wire.AsError(opField, err)
	text := "Something went wrong. Please try again."
	switch e.Code {
	case wire.NotFound:
		text = "There is no such payment."
	case wire.Forbidden:
		text = "This page was too old, or was sent before."
	default:
		x.log.Error("payment page", "err", err)
	}
	pages.Page{Status: e.Code.Status(), Title: x.opt.Merchant, Body: []pages.Node{pages.Heading(x.opt.Merchant), pages.Result(text)}}.Send(w)
}

// words of the away page: English, Italian, German, French, Spanish.
func say(language string, words [5]string) (text, lang string) {
	codes := [5][3]string{{"eng", "en", "en"}, {"ita", "it", "it"}, {"deu", "ger", "de"}, {"fra", "fre", "fr"}, {"spa", "es", "es"}}
	for i, c := range codes {
		if l := strings.ToLower(language); l == c[0] || l == c[1] || l == c[2] {
			return words[i], c[2]
		}
	}
	return words[0], "en"
}

func (x *Sessions) awayPage(w http.ResponseWriter, r *http.Request) {
	s, o, err := x.peek(r.Context(), r.PathValue("session"))
	if err != nil {
		x.sorry(w, err)
		return
	}
	x.drawAway(w, r, s, o)
}

func (x *Sessions) drawAway(w http.ResponseWriter, r *http.Request, s *session, o *order) {
	tell := func(words ...string) string {
		text, _ := say(s.Language, [5]string(words))
		return text
	}
	_, lang := say(s.Language, [5]string{})
	p := pages.Page{Title: x.opt.Merchant, Lang: lang, Body: []pages.Node{pages.Heading(x.opt.Merchant), pages.Para("amount", o.amountOf(s.Amount))}}
	add := func(nodes ...pages.Node) { p.Body = append(p.Body, nodes...) }
	switch s.state {
	case Away:
		question := tell("Your bank asks: is it you who pays?", "La tua banca chiede: sei tu che paghi?", "Ihre Bank fragt: Sind Sie es, der bezahlt?", "Votre banque demande : est-ce vous qui payez ?", "Su banco pregunta: ¿es usted quien paga?")
		yes, no := tell("Yes, it is me", "Sì, sono io", "Ja, ich bin es", "Oui, c'est moi", "Sí, soy yo"), tell("No, stop", "No, ferma", "Nein, stopp", "Non, arrêtez", "No, pare")
		if s.Other != "" {
			question = s.Other
			yes, no = tell("Pay", "Paga", "Bezahlen", "Payer", "Pagar"), tell("Decline", "Rifiuta", "Ablehnen", "Refuser", "Rechazar")
		} else if s.Card != nil {
			add(pages.Para("", "**** "+s.Card.Last))
		}
		add(pages.Result(question), pages.E("form", []pages.Attr{pages.A("method", "post"), pages.A("action", AwayPrefix+s.id)},
			pages.Hidden(form.Field, x.forms.Token(AwayPrefix+s.id)),
			pages.Button(yes, "go", "say", sayYes), pages.Button(no, "no", "say", sayNo),
			pages.Button(tell("Cancel", "Annulla", "Abbrechen", "Annuler", "Cancelar"), "no", "say", sayCancel)))
	case Complete:
		to, result := s.Result, ""
		if err := x.db.Read(r.Context(), func(rd store.Reader) error {
			op, err := findOperation(rd, opField, s.Operation)
			if err == nil {
				result = op.result
			}
			return err
		}); err != nil {
			x.sorry(w, err)
			return
		}
		add(pages.Result(tell("Done:", "Fatto:", "Erledigt:", "Terminé :", "Hecho:") + " " + result))
		if result == hosted.Canceled && s.Cancel != "" {
			to = s.Cancel
		}
		if pages.Origin(to) != "" {
			if r.URL.Query().Has("go") {
				p.Next = to
			}
			add(pages.E("p", nil, pages.E("a", []pages.Attr{pages.A("href", to), pages.A("rel", "noreferrer")},
				pages.T(tell("Continue", "Continua", "Weiter", "Continuer", "Continuar")))))
		}
	default:
		add(pages.Result(tell("This payment is over. Nothing was charged.", "Questo pagamento è terminato. Nessun addebito.", "Diese Zahlung ist zu Ende. Nichts wurde belastet.",
			"Ce paiement est terminé. Rien n'a été débité.", "Este pago ha terminado. No se ha cobrado nada.")))
	}
	p.Send(w)
}

func (x *Sessions) awayAnswered(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("session")
	slip, err := x.forms.Take(w, r, AwayPrefix+id)
	if err == nil {
		err = x.answer(r.Context(), id, r.PostForm.Get("say"), slip.Spend)
		if wire.CodeOf(err) == wire.Forbidden { // sent before, by a double click perhaps: the answer is the first one's
			err = nil
		}
	}
	if err != nil {
		x.sorry(w, err)
		return
	}
	http.Redirect(w, r, AwayPrefix+id+"?go=1", http.StatusSeeOther) // by a page of ours: browsers hold redirects against the form's policy
}
