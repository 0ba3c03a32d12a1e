package till

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"posagent/schemes/money"
)

// looks is how often a register looks whether its payment runs: nothing comes before the answer.
const looks = 200 * time.Millisecond

// nexo is a register of nexo Retailer over HTTP. Each name is a SaleID. Messages are encrypted where there is a passphrase.
func nexo(s Settings) (Protocol, error) {
	o := NexoOptions{Host: s.Host, POIID: s.POIID, Version: s.Version, APIKey: string(s.APIKey)}
	if s.POIID == "" {
		return Protocol{}, errors.New("nexo needs the terminal's POIID")
	}
	if s.KeyID != "" && s.Passphrase == "" {
		return Protocol{}, errors.New("the passphrase of the key is missing")
	}
	var err error
	if s.Passphrase != "" {
		if o.Key, err = NewNexoKey(s.KeyID, s.KeyVersion, string(s.Passphrase)); err != nil {
			return Protocol{}, err
		}
	}
	asked := &atomic.Int64{}
	const head = "POST /nexo/ HTTP/1.1\r\nHost: t\r\nContent-Type: application/json\r\n"
	return Protocol{
		Name: "nexo", Can: Can{Asks: true, IDs: true, Names: true, Abort: true, Mute: true, Totals: true},
		Hostile: []string{
			"POST /nexo/ HTTP/1.1\r\nHost: t\r\nContent-Type: text/plain\r\nContent-Length: 7\r\n\r\n{\"a\":1}", head + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
			head + "Content-Length: 7\r\nContent-Length: 7\r\n\r\n{\"a\":1}", head + "Content-Length: 999999999\r\n\r\n{", head + "Transfer-Encoding: chunked\r\n\r\nffffffffffff\r\n",
			head + "Origin: http://evil.example\r\nContent-Length: 2\r\n\r\n{}", head + "Content-Length: 3\r\n\r\n[1]", head + "Content-Length: 2\r\n\r\n{}", "PUT /nexo/ HTTP/1.1\r\nHost: t\r\n\r\n",
			head + "Content-Length: 90\r\n\r\n" + `{"SaleToPOIRequest":{"MessageHeader":{},"NexoBlob":"AAAA","SecurityTrailer":{"Nonce":""}}}`,
		},
		New: func(l Line) (Till, error) {
			mine := o
			mine.SaleID = l.Name
			t := NewNexo(l.Conn, mine)
			t.line, t.asked = l, asked
			return t, nil
		},
	}, nil
}

// Greet implements Till: the terminal knows the POIID and the key. nexo has no word for a terminal for tests.
func (t *Nexo) Greet(ctx context.Context) (bool, error) {
	said, err := t.Ask(ctx, "Diagnosis", t.service("look"), `{"HostDiagnosisFlag":false}`)
	if err == nil && said.Response.Result != "Success" {
		err = fmt.Errorf("the terminal says %s", said.Text)
	}
	return false, err
}

// serviceOf is the ServiceID of a payment, which has ten characters at most: its id where that fits.
func serviceOf(id string) string {
	if id != "" && len(id) <= 10 && !strings.ContainsFunc(id, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return id
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(id)) // it never fails
	text := "000000000" + strconv.FormatUint(h.Sum64(), 36)
	return text[len(text)-10:]
}

// service is a ServiceID for another message, which none had before.
func (t *Nexo) service(what string) string {
	return serviceOf(fmt.Sprint(what, t.asked.Add(1), time.Now().UnixNano()))
}

// other asks over a connection of its own.
func (t *Nexo) other(ctx context.Context, category, body string) (NexoSaid, error) {
	conn, err := t.line.More(ctx)
	if err != nil {
		return NexoSaid{}, err
	}
	defer conn.Close()
	return NewNexo(conn, t.o).Ask(ctx, category, t.service(category), body)
}

// conditions are the reasons of a failure, where they say how a payment ended.
var conditions = map[string]Said{
	"Refusal": Declined, "UnreachableHost": Declined, "InProgress": Busy, "Aborted": Aborted, "Cancel": Aborted, "NotFound": NotFound, "Busy": Refused, "NotAllowed": Refused, "MessageFormat": Refused,
	"PaymentRestriction": Refused, "UnavailableService": Refused,
}

// minor reads an amount such as 12.5.
func (t *Nexo) minor(text string) (money.Minor, error) {
	currency, known := money.Lookup(t.line.Currency)
	if !known {
		return 0, fmt.Errorf("no currency %q", t.line.Currency)
	}
	return money.Parse(text, currency)
}

// read reads a PaymentResponse.
func (t *Nexo) read(said NexoSaid) (Answer, error) {
	if said.Response.Result == "Success" {
		amount, err := t.minor(said.PaymentResult.AmountsResp.AuthorizedAmount.String())
		if err != nil {
			return Answer{}, err
		}
		receipt, _, _ := strings.Cut(strings.TrimPrefix(said.POIData.POITransactionID.TransactionID, "PA"), ".")
		a := Answer{Said: Approved, Amount: amount, Raw: said.Text}
		a.Receipt, _ = strconv.Atoi(receipt) // a name of any other form has no number
		return a, nil
	}
	if word := conditions[said.Response.ErrorCondition]; said.Response.Result == "Failure" && word != "" {
		return Answer{Said: word, Text: strings.TrimSpace(said.Response.ErrorCondition + " " + said.Response.AdditionalResponse), Raw: said.Text}, nil
	}
	return Answer{}, fmt.Errorf("the terminal says %s", said.Text)
}

// Pay implements Till. Nothing comes before the answer, so other connections look whether the terminal is busy with it.
func (t *Nexo) Pay(ctx context.Context, amount money.Minor, id string) (Answer, error) {
	currency, known := money.Lookup(t.line.Currency)
	if !known {
		return Answer{}, fmt.Errorf("no currency %q", t.line.Currency)
	}
	looking, stop := context.WithCancel(ctx)
	over := make(chan struct{})
	go func() {
		defer close(over)
		if t.line.Running != nil {
			t.look(looking)
		}
	}()
	said, err := t.Ask(ctx, "Payment", serviceOf(id), NexoPayment(id, t.line.Currency, money.FormatNumber(amount, currency)))
	stop()
	<-over
	if err != nil {
		return Answer{}, err
	}
	return t.read(said)
}

// look waits until the terminal says that it is busy.
func (t *Nexo) look(ctx context.Context) {
	for {
		select {
		case <-time.After(looks):
		case <-ctx.Done():
			return
		}
		said, err := t.other(ctx, "Diagnosis", `{"HostDiagnosisFlag":false}`)
		if err == nil && said.POIStatus.GlobalStatus == "Busy" && ctx.Err() == nil {
			t.line.Running()
			return
		}
	}
}

// Again implements Till.
func (t *Nexo) Again(ctx context.Context, _ money.Minor, id string) (Answer, error) {
	said, err := t.Ask(ctx, "TransactionStatus", t.service("status"), t.Reference(serviceOf(id)))
	inner := said.RepeatedMessageResponse.RepeatedResponseMessageBody.PaymentResponse
	a := Answer{Raw: said.Text}
	switch {
	case err != nil:
		return a, err
	case said.Response.Result == "Success" && inner != nil && said.RepeatedMessageResponse.MessageHeader.ServiceID == serviceOf(id):
		inner.Text = said.Text
		return t.read(*inner)
	case said.Response.Result == "Success":
		return a, fmt.Errorf("a status of something else: %s", said.Text)
	case said.Response.ErrorCondition == "NotFound":
		a.Said = NotFound
	case said.Response.ErrorCondition == "InProgress" || said.Response.ErrorCondition == "Busy":
		a.Said = Busy
	default:
		return a, fmt.Errorf("the terminal says %s", said.Text)
	}
	return a, nil
}

// Abort implements Till. It has no answer but that it was read.
func (t *Nexo) Abort(ctx context.Context, id string) (bool, error) {
	_, err := t.other(ctx, "Abort", t.Reference(serviceOf(id)))
	return err == nil, err
}

// Totals implements Till.
func (t *Nexo) Totals(ctx context.Context) (sums Totals, err error) {
	said, err := t.Ask(ctx, "GetTotals", t.service("totals"), `{}`)
	if err == nil && said.Response.Result != "Success" {
		err = fmt.Errorf("the terminal says %s", said.Text)
	}
	if err != nil {
		return sums, err
	}
	for _, group := range said.TransactionTotals {
		for _, one := range group.PaymentTotals {
			if one.TransactionType != "Debit" {
				continue
			}
			amount, err := t.minor(one.TransactionAmount.String())
			if err != nil {
				return sums, err
			}
			sums.Count, sums.Sum = sums.Count+one.TransactionCount, sums.Sum+amount
		}
	}
	return sums, nil
}
