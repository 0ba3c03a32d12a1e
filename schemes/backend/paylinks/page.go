package paylinks

import (
	"database/sql"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strconv"

	"posagent/schemes/backend/pages"
	"posagent/schemes/wire"
	"posagent/store"
)

// Pages serves the link pages. A POST with an Authorization header that authorized accepts is a program's and is
// answered in JSON; any other POST must come from the page's own form.
//
//	GET  /pay/{hash}?lang=      the page
//	GET  /pay/card.js           formats what the customer types
//	GET  /pay/{hash}/file/{n}   an attachment
//	GET  /pay/{hash}/terms      what the customer accepts; /pay/{hash}/privacy the same
//	GET  /pay/{hash}/qr.png     the link as a QR code
//	POST /pay/{hash}/pay        the form: contact fields, and a card or the wallet's button
//	POST /pay/{hash}/decline    the customer gives up this attempt
//	POST /pay/{hash}/stop       the customer ends the subscription
//	POST /pay/{hash}/answer     pass=yes|no: the cardholder answers the bank (3-D Secure)
//	POST /pay/{ref}/{act}       the same with bearer: ref is a hash, an id or a referenceId; answers a Slip
func (s *Links) Pages(authorized func(*http.Request) (*http.Request, error)) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+PagePrefix+"{ref}", s.page)
	mux.HandleFunc("GET "+scriptPath, pages.Script(pages.CardScript))
	mux.HandleFunc("GET "+PagePrefix+"{ref}/file/{n}", s.download)
	mux.HandleFunc("GET "+PagePrefix+"{ref}/"+termsPage, s.say(wTermsLink, wTermsText))
	mux.HandleFunc("GET "+PagePrefix+"{ref}/"+privacyPage, s.say(wPrivacyLink, wPrivacyText))
	if s.qr != nil {
		mux.HandleFunc("GET "+PagePrefix+"{ref}/qr.png", s.code)
	}
	for _, act := range []string{actPay, actDecline, actStop, actAnswer} {
		mux.HandleFunc("POST "+PagePrefix+"{ref}/"+act, func(w http.ResponseWriter, r *http.Request) {
			if act != actAnswer && r.Header.Get("Authorization") != "" {
				by, err := authorized(r)
				s.program(w, by, act, err)
				return
			}
			s.submit(w, r, act)
		})
	}
	return mux
}

func (s *Links) program(w http.ResponseWriter, r *http.Request, act string, err error) {
	var out Slip
	switch {
	case r.Header.Get("Origin") != "" || r.Header.Get("Referer") != "":
		err = wire.Errorf(wire.Forbidden, opPay, "not for browsers")
	case err != nil:
	default:
		out, err = s.play(r.Context(), named, r.PathValue("ref"), act, attempt{Lang: languages[0]}, nil)
	}
	if err != nil {
		wire.WriteFault(w, s.Log, jsonType, wire.AsError(opPay, err))
		return
	}
	wire.Reply(w, s.Log, opPay, http.StatusOK, jsonType, out)
}

func (s *Links) page(w http.ResponseWriter, r *http.Request) {
	l := speaks(r)
	v, err := s.view(r.Context(), r.PathValue("ref"))
	if err != nil {
		s.sorry(w, l, "", err)
		return
	}
	p := s.render(v, l, filled{})
	switch end := r.URL.Query().Get("go"); {
	case end == goPaid && (v.slip.State == Paid || v.slip.State == Held):
		p.Next = v.options.Success
	case end == goFailed && v.slip.State == Turned:
		p.Next = v.options.Failed
	}
	p.Send(w)
}

// What the address of a page ends in that leads on to the shop. A redirect in answer to the form would not do: browsers hold
// whatever redirects come behind it against the form's policy.
const (
	goPaid   = "paid"
	goFailed = "failed"
)

// code sends a link as a QR code.
func (s *Links) code(w http.ResponseWriter, r *http.Request) {
	p, err := s.Show(r.Context(), r.PathValue("ref"))
	var png []byte
	if err == nil {
		png, err = s.qr(s.Public + PagePrefix + p.Hash)
	}
	if err != nil {
		s.sorry(w, speaks(r), "", err)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "image/png")
	h.Set("Content-Length", strconv.Itoa(len(png)))
	h.Set("X-Content-Type-Options", "nosniff")
	_, _ = w.Write(png) // the reader may be gone; the error has no receiver
}

// submit takes a form of ours about this link.
func (s *Links) submit(w http.ResponseWriter, r *http.Request, act string) {
	l, hash := speaks(r), r.PathValue("ref")
	fail := func(err error) { s.sorry(w, l, hash, err) }
	slip, err := s.Forms.Take(w, r, formOf(hash, act))
	if err != nil {
		fail(err)
		return
	}
	v, err := s.view(r.Context(), hash)
	if err != nil {
		fail(err)
		return
	}
	a := attempt{Lang: l.code(), Shown: slip.Shown, Pass: r.PostForm.Get("pass") == "yes"}
	if act == actPay {
		by := r.PostForm.Get("by")
		if by == byCard && v.options.cards() == nil || by == byWallet && v.options.wallet() == "" || by != byCard && by != byWallet {
			fail(wire.Errorf(wire.Forbidden, opPay, "no such button"))
			return
		}
		contact, faults := answers(r, v.options.shown(), l)
		if by == byCard {
			c, wrong := s.readCard(r, l)
			a.Brand, a.Card, a.Bank = c.brand, c.masked, c.do
			faults = append(faults, wrong...)
		}
		if len(faults) > 0 {
			p := s.render(v, l, filled{contact, faults})
			p.Status = http.StatusUnprocessableEntity
			p.Send(w)
			return
		}
		if len(contact) > 0 {
			if a.Contact, err = json.Marshal(contact); err != nil {
				fail(err)
				return
			}
		}
	}
	out, err := s.play(r.Context(), shown, hash, act, a, slip.Spend)
	if wire.CodeOf(err) == wire.Forbidden { // this form was sent before, by a double click perhaps, or asked about another attempt: the page says how it stands
		err = nil
	}
	if err != nil {
		fail(err)
		return
	}
	to := PagePrefix + url.PathEscape(hash) + "?lang=" + l.code()
	switch {
	case !out.acted: // another customer paid meanwhile: the page says so
	case out.State == Paid || out.State == Held:
		to += "&go=" + goPaid
	case out.State == Turned:
		to += "&go=" + goFailed
	}
	http.Redirect(w, r, to, http.StatusSeeOther)
}

// say serves what a link's customer accepts: the terms, or the privacy policy. The sandbox has none of a shop's.
func (s *Links) say(heading, text word) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		l := speaks(r)
		v, err := s.view(r.Context(), r.PathValue("ref"))
		if err != nil {
			s.sorry(w, l, "", err)
			return
		}
		pages.Page{Title: l.say(heading) + " - " + s.Merchant, Lang: l.code(), Body: []pages.Node{
			pages.Heading(l.say(heading)), pages.Para("", s.Merchant), pages.Para("", l.say(text)),
			pages.Link(PagePrefix+url.PathEscape(v.slip.Hash)+"?lang="+l.code(), l.say(wAgain)),
		}}.Send(w)
	}
}

// download sends an attachment. Whatever it says it is, a browser is told to keep it and never to show it.
func (s *Links) download(w http.ResponseWriter, r *http.Request) {
	l := speaks(r)
	v, err := s.view(r.Context(), r.PathValue("ref"))
	n, bad := strconv.Atoi(r.PathValue("n"))
	if err == nil && (bad != nil || n < 0 || n >= len(v.options.Files)) {
		err = wire.Errorf(wire.NotFound, opPay, "no such attachment")
	}
	if err != nil {
		s.sorry(w, l, "", err)
		return
	}
	f := v.options.Files[n]
	h := w.Header()
	h.Set("Content-Type", "application/octet-stream")
	h.Set("Content-Length", strconv.FormatInt(f.Size, 10))
	h.Set("Content-Disposition", "attachment; filename*=UTF-8''"+url.PathEscape(f.Name))
	h.Set("Content-Security-Policy", "default-src 'none'; sandbox")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	for seq := int64(0); ; seq++ {
		var data []byte
		err := s.DB.Read(r.Context(), func(rd store.Reader) error {
			return rd.QueryRow(`SELECT data FROM links_file WHERE upload = ? AND seq = ?`, f.Upload, seq).Scan(&data)
		})
		if errors.Is(err, sql.ErrNoRows) {
			return
		}
		if err == nil {
			_, err = w.Write(data)
		}
		if err != nil {
			s.Log.Warn("attachment not sent", "link", v.slip.ID, "err", err)
			panic(http.ErrAbortHandler) // the length was promised: a shorter body must not look whole
		}
	}
}
