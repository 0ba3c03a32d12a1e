package wallets

import (
	"crypto/hmac"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"posagent/schemes/backend/pages"
	"posagent/schemes/money"
	"posagent/schemes/wire"
	"posagent/store"
)

// PagePrefix is where the wallet pages live; the ppref follows.
const PagePrefix = "/wallet/"

// formLife is how long a form may lie open in a browser.
const formLife = 30 * time.Minute

// Pages serves the wallet pages. A POST with an Authorization header that authorized accepts is a program's and is
// answered in JSON; any other POST must come from the page's own form.
//
//	GET  /wallet/{ppref}           the page
//	POST /wallet/{ppref}/pay       the form's button; 303 back to the page
//	POST /wallet/{ppref}/decline   the same
//	POST /wallet/{ref}/pay         with bearer: ref is a ppref, transactionId or terminalReference; answers a Purse
//	POST /wallet/{ref}/decline     the same
func (w *Wallets) Pages(authorized func(*http.Request) bool) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+PagePrefix+"{ref}", w.page)
	for _, act := range []Act{ActPay, ActDecline} {
		mux.HandleFunc("POST "+PagePrefix+"{ref}/"+string(act), func(rw http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Authorization") != "" {
				w.program(rw, r, act, authorized(r))
				return
			}
			w.submit(rw, r, act)
		})
	}
	return mux
}

const jsonType = "application/json"

func (w *Wallets) program(rw http.ResponseWriter, r *http.Request, act Act, authorized bool) {
	fail := func(err error) { wire.WriteFault(rw, w.log, jsonType, wire.AsError(opWallet, err)) }
	switch {
	case r.Header.Get("Origin") != "" || r.Header.Get("Referer") != "":
		fail(wire.Errorf(wire.Forbidden, opWallet, "not for browsers"))
		return
	case !authorized:
		fail(wire.Errorf(wire.Unauthorized, opWallet, "credentials missing or wrong"))
		return
	}
	p, err := w.act(r.Context(), r.PathValue("ref"), act, nil)
	if err != nil {
		fail(err)
		return
	}
	if err := wire.WriteJSON(rw, http.StatusOK, jsonType, p); err != nil {
		w.log.Warn("reply not written", "op", opWallet, "err", err)
	}
}

func (w *Wallets) page(rw http.ResponseWriter, r *http.Request) {
	p, err := w.Show(r.Context(), r.PathValue("ref"))
	if err != nil {
		w.sorry(rw, err)
		return
	}
	w.render(p, w.now()).Send(rw)
}

// render draws a purse.
func (w *Wallets) render(p Purse, now time.Time) pages.Page {
	amount := strconv.FormatInt(p.Amount, 10)
	if cur, ok := money.Lookup(p.Currency); ok {
		if minor, err := money.FromHundredths(p.Amount, cur); err == nil {
			amount = money.Format(minor, cur)
		}
	}
	label := p.Method
	if provider, ok := w.seed.find(p.Method); ok {
		label = provider.Label
	}
	out := pages.Page{Title: label + " - " + amount, Body: []pages.Node{
		pages.Heading(label),
		pages.Para("", "Pay to "+p.Merchant),
		pages.Para("amount", amount),
	}}
	switch p.Look {
	case Open:
		here := PagePrefix + url.PathEscape(p.Ref) + "/"
		out.Body = append(out.Body,
			pages.Form(here+string(ActPay), "Pay "+amount, "go", tokenField, w.token(p.Ref, now)),
			pages.Form(here+string(ActDecline), "Decline", "no", tokenField, w.token(p.Ref, now)))
	case Processing:
		out.Refresh = 2
		out.Body = append(out.Body, pages.Result("Your payment is being processed."))
	case Paid:
		out.Body = append(out.Body, pages.Result("Paid. Thank you."))
	case Undone:
		out.Body = append(out.Body, pages.Result("The payment was reversed. You have your money back."))
	case Declined:
		out.Body = append(out.Body, pages.Result("Declined. Nothing was paid."))
	default:
		out.Body = append(out.Body, pages.Result("This payment has expired. Nothing was paid."))
	}
	return out
}

func (w *Wallets) sorry(rw http.ResponseWriter, err error) {
	e := wire.AsError(opWallet, err)
	text := map[wire.Code]string{
		wire.NotFound:  "There is no such payment.",
		wire.Conflict:  "This payment can no longer be changed.",
		wire.Forbidden: "This form is not valid any more. Open the payment again.",
	}[e.Code]
	if text == "" {
		w.log.Error("wallet page", "err", err)
		text = "Something went wrong. Please try again."
	}
	pages.Page{Status: e.Code.Status(), Title: "Wallet", Body: []pages.Node{
		pages.Heading("Wallet"), pages.Result(text),
	}}.Send(rw)
}

const tokenField = "token"

// submit takes a form: its origin must be ours exactly and its token must be fresh, for this payment, unused.
func (w *Wallets) submit(rw http.ResponseWriter, r *http.Request, act Act) {
	refuse := func() { w.sorry(rw, wire.Errorf(wire.Forbidden, opWallet, "not our form")) }
	if site := r.Header.Get("Sec-Fetch-Site"); !w.own(r.Header.Values("Origin")) || site != "" && site != "same-origin" {
		refuse()
		return
	}
	r.Body = http.MaxBytesReader(rw, r.Body, 4<<10)
	if err := r.ParseForm(); err != nil {
		refuse()
		return
	}
	ref, token := r.PathValue("ref"), r.PostForm.Get(tokenField)
	now := w.now()
	nonce, expires, ok := w.verify(ref, token, now)
	if !ok {
		refuse()
		return
	}
	_, err := w.act(r.Context(), ref, act, func(tx store.Tx) error { return spend(tx, nonce, expires, now.UnixMilli()) })
	if err != nil {
		w.sorry(rw, err)
		return
	}
	http.Redirect(rw, r, PagePrefix+url.PathEscape(ref), http.StatusSeeOther)
}

// own says whether the one Origin is the public URL's.
func (w *Wallets) own(origins []string) bool {
	u, err := url.Parse(w.public)
	return err == nil && len(origins) == 1 && origins[0] == u.Scheme+"://"+u.Host
}

// token makes a form token: nonce.expiry.authentication. Making one stores nothing; spending one does.
func (w *Wallets) token(ref string, now time.Time) string {
	raw := make([]byte, 16)
	_, _ = rand.Read(raw) // never fails
	nonce, expires := hex.EncodeToString(raw), now.Add(formLife).UnixMilli()
	return fmt.Sprintf("%s.%d.%x", nonce, expires, w.db.MAC("wallets_form", ref, nonce, expires))
}

// verify gives the token's nonce, the only part that has one spelling.
func (w *Wallets) verify(ref, token string, now time.Time) (nonce string, expires int64, ok bool) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return "", 0, false
	}
	expires, err := strconv.ParseInt(parts[1], 10, 64)
	if err != nil || now.UnixMilli() >= expires {
		return "", 0, false
	}
	mac, err := hex.DecodeString(parts[2])
	return parts[0], expires, err == nil && hmac.Equal(mac, w.db.MAC("wallets_form", ref, parts[0], expires))
}

// spend uses a token up, in the commit of its act.
func spend(tx store.Tx, nonce string, expires, now int64) error {
	if _, err := tx.Exec(`DELETE FROM wallets_form WHERE expires_ms <= ?`, now); err != nil {
		return fmt.Errorf("forget form tokens: %w", err)
	}
	var n int64
	if err := tx.QueryRow(`SELECT COUNT(*) FROM wallets_form WHERE token = ?`, nonce).Scan(&n); err != nil {
		return fmt.Errorf("read form token: %w", err)
	}
	if n > 0 {
		return wire.Errorf(wire.Forbidden, opWallet, "the form was sent before")
	}
	if _, err := tx.Exec(`INSERT INTO wallets_form (token, expires_ms) VALUES (?, ?)`, nonce, expires); err != nil {
		return fmt.Errorf("spend form token: %w", err)
	}
	return nil
}
