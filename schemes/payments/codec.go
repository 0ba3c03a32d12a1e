package payments

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strconv"
	"strings"

	"posagent/schemes/wire"
)

// DefaultOperator is the operator whose spelling is understood when none is configured.
const DefaultOperator = "Nets"

// spelling is the operator's own word for ProviderHosted: "nets" gives NetsHostedEcom.
func spelling(operator string) string {
	if operator == "" || strings.EqualFold(operator, "provider") {
		operator = DefaultOperator
	}
	return strings.ToUpper(operator[:1]) + operator[1:] + "HostedEcom"
}

// DecodeCreate reads a create body strictly and brings it to one form: the operator's spelling becomes ProviderHosted,
// pageType gets its capitals, the older `secret` becomes tokenSecret, and card numbers in free texts are masked. Validate
// checks what it says. The error is *wire.Error with code Invalid or TooLarge and names every field.
func DecodeCreate(data []byte, operator string) (CreateRequest, error) {
	var req CreateRequest
	if err := wire.Decode(data, &req); err != nil {
		return CreateRequest{}, wire.AsError(opCreate, err)
	}
	if err := wire.Required(data, "type", "currencyCode", "paymentMethodDetails.type", "customer.type",
		"cardDetails.pan", "cardDetails.expiryYear", "cardDetails.expiryMonth", "basket[].quantity", "basket[].unitPrice",
		"notifications.webHooks[].eventName", "notifications.webHooks[].url"); err != nil {
		return CreateRequest{}, invalid(opCreate, err)
	}
	if d := req.PaymentMethodDetails; d != nil {
		if err := d.older(data); err != nil {
			return CreateRequest{}, err
		}
	}
	if req.Type == spelling(operator) {
		req.Type = ProviderHosted
	}
	if c := req.PayPageConfiguration; c != nil {
		for _, t := range []string{Multipage, Singlepage, CustomPage} {
			if strings.EqualFold(c.PageType, t) {
				c.PageType = t
			}
		}
	}
	hidePANs(req.Basket, &req.Description, &req.CheckoutText)
	return req, nil
}

// older reads the older name of the token's secret in the create body data.
func (d *PaymentMethodDetails) older(data []byte) error {
	var body struct {
		Details struct {
			Secret wire.Secret `json:"secret,omitempty"`
		} `json:"paymentMethodDetails"`
	}
	if err := wire.Decode(data, &body); err != nil {
		return wire.AsError(opCreate, err)
	}
	secret := body.Details.Secret
	if secret == "" {
		return nil
	}
	if d.TokenSecret != "" && d.TokenSecret != secret {
		return wire.Errorf(wire.Invalid, opCreate, "paymentMethodDetails.secret: differs from tokenSecret")
	}
	d.TokenSecret = secret
	return nil
}

// decode reads the body of one of the operations on a payment.
func decode(op string, data []byte, into any) error {
	if err := wire.Decode(data, into); err != nil {
		return wire.AsError(op, err)
	}
	if err := wire.Required(data, "basket[].quantity", "basket[].unitPrice"); err != nil {
		return invalid(op, err)
	}
	return nil
}

// DecodeAuthorize reads an authorize body strictly; ValidateAuthorize checks what it says.
func DecodeAuthorize(data []byte) (req AuthorizeRequest, err error) {
	err = decode(opAuthorize, data, &req)
	hidePANs(nil, &req.Description)
	return req, err
}

// DecodeCancel reads a cancel body strictly.
func DecodeCancel(data []byte) (req CancelRequest, err error) {
	err = decode(opCancel, data, &req)
	hidePANs(nil, &req.Description)
	return req, err
}

// DecodeCapture reads a capture body strictly.
func DecodeCapture(data []byte) (req CaptureRequest, err error) {
	err = decode(opCapture, data, &req)
	hidePANs(req.Basket, &req.Description)
	return req, err
}

// DecodeRefund reads a refund body strictly.
func DecodeRefund(data []byte) (req RefundRequest, err error) {
	err = decode(opRefund, data, &req)
	hidePANs(req.Basket, &req.Description)
	return req, err
}

// EncodeCreate writes the create body with everything in it: the one way card numbers and secrets leave. Keep what it
// returns out of logs, and sealed on a disk. operator "" and "provider" write ProviderHostedEcom.
func EncodeCreate(req CreateRequest, operator string) ([]byte, error) {
	type card struct {
		*CardDetails
		PAN            string `json:"pan"`
		ValidationCode string `json:"validationCode,omitempty"`
	}
	type details struct {
		*PaymentMethodDetails
		Token       string `json:"token,omitempty"`
		TokenSecret string `json:"tokenSecret,omitempty"`
		IBAN        string `json:"iban,omitempty"`
	}
	type hook struct {
		WebHook
		Authorization string `json:"authorization,omitempty"`
	}
	type hooks struct {
		WebHooks []hook `json:"webHooks,omitempty"`
	}
	body := struct {
		CreateRequest
		PaymentMethodDetails *details `json:"paymentMethodDetails,omitempty"`
		CardDetails          *card    `json:"cardDetails,omitempty"`
		Notifications        *hooks   `json:"notifications,omitempty"`
	}{CreateRequest: req}
	if req.Type == ProviderHosted && operator != "" && !strings.EqualFold(operator, "provider") {
		body.Type = spelling(operator)
	}
	if c := req.CardDetails; c != nil {
		body.CardDetails = &card{c, c.PAN.Reveal(), c.ValidationCode.Reveal()}
	}
	if d := req.PaymentMethodDetails; d != nil {
		body.PaymentMethodDetails = &details{d, d.Token.Reveal(), d.TokenSecret.Reveal(), d.IBAN.Reveal()}
	}
	if n := req.Notifications; n != nil {
		body.Notifications = &hooks{}
		for _, h := range n.WebHooks {
			body.Notifications.WebHooks = append(body.Notifications.WebHooks, hook{h, h.Authorization.Reveal()})
		}
	}
	return json.Marshal(body)
}

// EncodePayment writes a payment for who may read it: with the card's token, and with [] for lists without entries.
func EncodePayment(p Payment) ([]byte, error) {
	type card struct {
		*CardInfo
		Token *string `json:"token"`
	}
	type details struct {
		*PaymentDetails
		CardDetails *card `json:"cardDetails"`
	}
	for _, list := range []*[]Entry{&p.Authorizations, &p.Captures, &p.Refunds, &p.Cancellations} {
		if *list == nil {
			*list = []Entry{}
		}
	}
	body := struct {
		Payment
		PaymentDetails *details `json:"paymentDetails"`
	}{Payment: p}
	if d := p.PaymentDetails; d != nil {
		body.PaymentDetails = &details{PaymentDetails: d}
		if c := d.CardDetails; c != nil {
			body.PaymentDetails.CardDetails = &card{CardInfo: c}
			if c.Token != "" {
				token := c.Token.Reveal()
				body.PaymentDetails.CardDetails.Token = &token
			}
		}
	}
	return json.Marshal(body)
}

// Format prints what a create is about, under every verb: fmt follows pointers without asking methods when a verb
// does not fit.
func (r CreateRequest) Format(f fmt.State, _ rune) {
	_, _ = io.WriteString(f, "create "+r.Type+" "+r.Processing+" "+strconv.Itoa(int(r.Amount))+" "+r.CurrencyCode) // a fmt.State has nowhere to report to
}

// LogValue says the same in a log.
func (r CreateRequest) LogValue() slog.Value {
	return slog.GroupValue(slog.String("type", r.Type), slog.String("processing", r.Processing), slog.Int("amount", int(r.Amount)), slog.String("currency", r.CurrencyCode))
}

// Format prints which payment it is, under every verb.
func (p Payment) Format(f fmt.State, _ rune) {
	_, _ = io.WriteString(f, "payment "+p.PaymentID) // a fmt.State has nowhere to report to
}

// Format prints that there are details, under every verb.
func (d PaymentDetails) Format(f fmt.State, _ rune) {
	_, _ = io.WriteString(f, "payment details") // a fmt.State has nowhere to report to
}

// hidePANs masks card numbers in a basket's titles and in texts.
func hidePANs(items []BasketItem, texts ...*string) {
	for i := range items {
		items[i].Title = wire.MaskPANs(items[i].Title)
	}
	for _, t := range texts {
		*t = wire.MaskPANs(*t)
	}
}

func invalid(op string, err error) *wire.Error {
	e := wire.AsError(op, err)
	e.Code = wire.Invalid
	if e.Reason == "" {
		e.Reason = reasonIn(err)
	}
	return e
}

// fieldReason is a broken rule that has a word in the catalogue.
type fieldReason struct {
	wire.FieldError
	reason string
}

// Unwrap lets wire find the field.
func (f *fieldReason) Unwrap() error { return &f.FieldError }

// reasonIn gives the catalogue's word when err is one broken rule that has one.
func reasonIn(err error) string {
	var f *fieldReason
	if list, ok := err.(interface{ Unwrap() []error }); ok && len(list.Unwrap()) != 1 {
		return ""
	}
	if errors.As(err, &f) {
		return f.reason
	}
	return ""
}
