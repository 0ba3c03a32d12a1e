package tills

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"net"
	"sync/atomic"

	"posagent/ecr/till"
	"posagent/schemes/money"
)

// nexo asks with a TransactionStatus, or posts its payment again under the same ServiceID.
type nexo struct {
	Way
	asked atomic.Int64
}

func newNexo(w Way) Till { return &nexo{Way: w} }

// ask sends a request over a connection of its own; body makes its body.
func (z *nexo) ask(ctx context.Context, category, service string, body func(*till.Nexo) string) (said till.NexoSaid, err error) {
	_, err = z.over(ctx, func(conn net.Conn) (Answer, error) {
		ctx, cancel := context.WithTimeout(ctx, z.Wait)
		defer cancel()
		if z.Roots != nil {
			roots, err := z.Roots()
			if err != nil {
				return Answer{}, err
			}
			host, _, err := net.SplitHostPort(z.Addr)
			if err != nil {
				return Answer{}, err
			}
			conn = tls.Client(conn, &tls.Config{RootCAs: roots, ServerName: host, MinVersion: tls.VersionTLS12})
		}
		t := till.NewNexo(conn, till.NexoOptions{Host: z.Addr, SaleID: z.Name, POIID: "POSAGENT-000020000001"})
		said, err = t.Ask(ctx, category, service, body(t))
		return Answer{}, err
	})
	return said, err
}

// answer is what a PaymentResponse means.
func answered(s till.NexoSaid, text string) (Answer, error) {
	a := Answer{Text: text}
	switch {
	case s.Response.Result == "Success":
		n, err := cents(s.PaymentResult.AmountsResp.AuthorizedAmount)
		a.Word, a.Amount = Approved, n
		return a, err
	case s.Response.Result != "Failure":
	default:
		switch s.Response.ErrorCondition {
		case "Busy", "UnavailableService", "InProgress":
			a.Word = Busy
			return a, nil
		case "NotFound":
			a.Word = Unknown
			return a, nil
		case "Refusal", "Aborted", "Cancel", "UnreachableHost":
			a.Word = NotPaid
			return a, nil
		}
	}
	return Answer{}, fmt.Errorf("the terminal says %s", text)
}

// cents reads an amount such as 12.5.
func cents(n json.Number) (money.Minor, error) {
	euro, _ := money.Lookup("EUR")
	return money.Parse(n.String(), euro)
}

// Pay implements Till.
func (z *nexo) Pay(ctx context.Context, amount money.Minor, id string) (Answer, error) {
	said, err := z.ask(ctx, "Payment", id, func(*till.Nexo) string {
		return till.NexoPayment("order "+id, "EUR", fmt.Sprintf("%d.%02d", amount/100, amount%100))
	})
	if err != nil {
		return Answer{}, err
	}
	return answered(said, said.Text)
}

// Again implements Till.
func (z *nexo) Again(ctx context.Context, amount money.Minor, id string, resend bool) (Answer, error) {
	if resend {
		return z.Pay(ctx, amount, id)
	}
	said, err := z.ask(ctx, "TransactionStatus", fmt.Sprint("q", z.asked.Add(1)), func(t *till.Nexo) string { return t.Reference(id) })
	if err != nil || said.Response.Result != "Success" {
		a := Answer{}
		if err == nil {
			a, err = answered(said, said.Text)
		}
		return a, err
	}
	repeated := said.RepeatedMessageResponse
	if inner := repeated.RepeatedResponseMessageBody.PaymentResponse; inner != nil && repeated.MessageHeader.ServiceID == id {
		return answered(*inner, said.Text)
	}
	return Answer{}, fmt.Errorf("a status of something else: %s", said.Text)
}
