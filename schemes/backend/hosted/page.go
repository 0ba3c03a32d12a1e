package hosted

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"posagent/schemes/backend/pages"
	"posagent/schemes/backend/pages/form"
	"posagent/schemes/backend/pages/words"
	"posagent/schemes/hosted"
	"posagent/schemes/money"
	"posagent/schemes/wire"
	"posagent/store"
)

const fieldScriptPath = FieldPrefix + "field.js"

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
	err = x.DB.Write(ctx, func(tx store.Tx) error {
		if s, err = x.load(tx, opField, id, x.Now().UnixMilli()); err == nil {
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

// input is how a field looks to the customer; false: there is no such field.
func input(id string, l words.Tongue) (in pages.Input, ok bool) {
	in.Name = "value"
	switch id {
	case cardNumber:
		in.Label, in.Auto, in.Mode, in.Max = l.Say(words.Number), "cc-number", "numeric", 23
	case expiryDate:
		in.Label, in.Auto, in.Mode, in.Max = l.Say(words.Expiry), "cc-exp", "numeric", pages.MaxExpiry
	case securityCode:
		in.Label, in.Auto, in.Mode, in.Max, in.Type = l.Say(words.Code), "cc-csc", "numeric", 4, "password"
	case holderName:
		in.Label, in.Auto, in.Max = l.Say(words.CardHolder), "cc-name", 255
	case holderEmail:
		in.Label, in.Auto, in.Mode, in.Max = l.Say(words.Email), "email", "email", 255
	default:
		return in, false
	}
	return in, true
}

// tongue is the language of a session's pages: what the platform asked for (S2 2.1), English where it did not.
func (s *session) tongue() words.Tongue { return words.Of(s.Language) }

func (x *Sessions) fieldPage(w http.ResponseWriter, r *http.Request) {
	sid, id := r.PathValue("session"), r.PathValue("id")
	s, _, err := x.peek(r.Context(), sid)
	if err != nil {
		x.sorry(w, r, err)
		return
	}
	l := s.tongue()
	in, isField := input(id, l)
	action := id == payWithCard || slices.Contains(others(), id)
	if !isField && !action {
		x.sorry(w, r, wire.Errorf(wire.NotFound, opField, "no such field"))
		return
	}
	p := pages.Page{Title: in.Label, Lang: l.Code(), Frame: s.Origin}
	attrs := []pages.Attr{pages.A("id", "field"), pages.A("data-id", id), pages.A("data-to", s.Origin), pages.A("data-trouble", l.Say(words.Trouble))}
	token := pages.A("data-token", x.Forms.Token(formOf(sid, id)))
	name := l.Say(words.ByCard)
	if action && id != payWithCard {
		name = l.Say(words.PayWith) + " " + id
	}
	if action {
		p.Title = name
	}
	switch {
	case s.state.refusal() != "" || s.state == Complete:
		attrs = append(attrs, pages.A("data-over", hfExpired), pages.A("data-why", l.Say(words.Closed)))
		p.Body = []pages.Node{pages.E("div", attrs, pages.Result(l.Say(words.Closed)))}
	case action:
		p.Body = []pages.Node{pages.E("div", append(attrs, token), pages.Button(name, "go", "", ""))}
	default:
		why := pages.E("p", []pages.Attr{pages.A("id", "fault"), pages.A("role", "alert"), pages.A("hidden", "hidden")})
		p.Body = []pages.Node{pages.E("div", append(attrs, token), in.Node(), why)}
	}
	p.Script = fieldScriptPath
	p.Send(w)
}

func (x *Sessions) fieldFilled(w http.ResponseWriter, r *http.Request) {
	sid, id := r.PathValue("session"), r.PathValue("id")
	l := words.All()[0]
	if s, _, err := x.peek(r.Context(), sid); err == nil {
		l = s.tongue()
	}
	slip, err := x.Forms.Take(w, r, formOf(sid, id))
	status, m := http.StatusOK, message{Event: eventSuccess, ID: id}
	if err == nil {
		err = x.fill(r.Context(), l, sid, id, r.PostForm.Get("value"), slip.Spend, &m)
	}
	if err == nil && r.PostForm.Get("confirm") != "" {
		m.Then, err = x.confirm(r.Context(), sid)
	}
	if err != nil {
		e := wire.AsError(opField, err)
		m = message{Event: eventError, ID: id, ErrorCode: hfTrouble, ErrorMessage: l.Say(words.Trouble)}
		switch {
		case e.Reason == hosted.SessionExpired || e.Reason == hosted.SessionCanceled || e.Code == wire.NotFound:
			m.ErrorCode, m.ErrorMessage = hfExpired, l.Say(words.Closed)
		case e.Code == wire.Internal:
			x.Log.Error("hosted field", "err", err)
		}
		if status = e.Code.Status(); e.Code == wire.Conflict {
			status = http.StatusOK // an answer as any other
		}
	}
	if status == http.StatusOK {
		m.Token = x.Forms.Token(formOf(sid, id))
	}
	_ = wire.WriteJSON(w, status, wire.JSONType, m) // a lost connection has no reader
}

// fill does what a field was used for and says so in m.
func (x *Sessions) fill(ctx context.Context, l words.Tongue, sid, id, value string, spend func(store.Tx) error, m *message) error {
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
		m.Event, m.ErrorCode, m.ErrorMessage = eventError, f.code, l.Say(f.what)
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

func (x *Sessions) sorry(w http.ResponseWriter, r *http.Request, err error) {
	e := wire.AsError(opField, err)
	l, text := words.Of(r.Header.Get("Accept-Language")), words.Trouble
	switch e.Code {
	case wire.NotFound:
		text = words.Gone
	case wire.Forbidden:
		text = words.Stale
	default:
		x.Log.Error("payment page", "err", err)
	}
	pages.Page{Status: e.Code.Status(), Title: x.Merchant, Lang: l.Code(), Body: []pages.Node{pages.Heading(x.Merchant), pages.Result(l.Say(text))}}.Send(w)
}

func (x *Sessions) awayPage(w http.ResponseWriter, r *http.Request) {
	s, o, err := x.peek(r.Context(), r.PathValue("session"))
	if err != nil {
		x.sorry(w, r, err)
		return
	}
	x.drawAway(w, r, s, o)
}

func (x *Sessions) drawAway(w http.ResponseWriter, r *http.Request, s *session, o *order) {
	l := s.tongue()
	p := pages.Page{Title: x.Merchant, Lang: l.Code(), Body: []pages.Node{pages.Heading(x.Merchant), pages.Para("amount", o.amountOf(l, s.Amount))}}
	add := func(nodes ...pages.Node) { p.Body = append(p.Body, nodes...) }
	switch s.state {
	case Away:
		question, yes := l.Say(words.Prove), l.Say(words.Approve)
		if s.Other != "" {
			question, yes = s.Other, l.Say(words.Pay)
		} else if s.Card != nil {
			add(pages.Para("", "**** "+s.Card.Last))
		}
		add(pages.Result(question), pages.E("form", []pages.Attr{pages.A("method", "post"), pages.A("action", AwayPrefix+s.id)},
			pages.Hidden(form.Field, x.Forms.Token(AwayPrefix+s.id)),
			pages.Button(yes, "go", "say", sayYes), pages.Button(l.Say(words.Refuse), "no", "say", sayNo),
			pages.Button(l.Say(words.Cancel), "no", "say", sayCancel)))
	case Complete:
		to, result := s.Result, ""
		if err := x.DB.Read(r.Context(), func(rd store.Reader) error {
			op, err := findOperation(rd, opField, s.Operation)
			if err == nil {
				result = op.result
			}
			return err
		}); err != nil {
			x.sorry(w, r, err)
			return
		}
		add(pages.Result(l.Say(came(result))))
		if result == hosted.Canceled && s.Cancel != "" {
			to = s.Cancel
		}
		if pages.Origin(to) != "" {
			if r.URL.Query().Has("go") {
				p.Next = to
			}
			add(pages.Onward(to, l.Say(words.Continue)))
		}
	default:
		add(pages.Result(l.Say(words.Closed)))
		if pages.Origin(s.Cancel) != "" {
			add(pages.Onward(s.Cancel, l.Say(words.BackToShop)))
		}
	}
	p.Send(w)
}

// came is what the customer is told of a payment's result.
func came(result string) words.Word {
	switch result {
	case hosted.Executed, hosted.Authorized:
		return words.Paid
	case hosted.Declined, hosted.DeniedByRisk:
		return words.Declined
	case hosted.ThreeDSFailed:
		return words.NotProven
	case hosted.Pending:
		return words.Trouble
	}
	return words.Closed
}

func (x *Sessions) awayAnswered(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("session")
	slip, err := x.Forms.Take(w, r, AwayPrefix+id)
	if err == nil {
		err = x.answer(r.Context(), id, r.PostForm.Get("say"), slip.Spend)
		if wire.CodeOf(err) == wire.Forbidden { // sent before, by a double click perhaps: the answer is the first one's
			err = nil
		}
	}
	if err != nil {
		x.sorry(w, r, err)
		return
	}
	http.Redirect(w, r, AwayPrefix+id+"?go=1", http.StatusSeeOther) // by a page of ours: browsers hold redirects against the form's policy
}

// amountOf is for people.
func (o *order) amountOf(l words.Tongue, n money.Minor) string {
	cur, _ := money.Lookup(o.currency)
	return money.FormatIn(l.Code(), n, cur)
}
