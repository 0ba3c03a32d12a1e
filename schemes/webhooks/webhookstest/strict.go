package webhookstest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"posagent/schemes/webhooks"
)

// Strict reads a payment event like a receiver of the field that is written in a language with named arguments: the envelope
// and data must have the keys it reads, of exactly their types; an object it spreads must have exactly the keys of
// its constructor; nothing it reads may be null.
func Strict(body []byte) error {
	var m map[string]any
	if err := json.Unmarshal(body, &m); err != nil {
		return err
	}
	name, _ := m["event"].(string)
	s := &strict{}
	s.read(m, "", "id:s", "event:s", "timestamp:s")
	if at, _ := m["timestamp"].(string); at != "" {
		if _, err := time.Parse(time.RFC3339Nano, at); err != nil {
			s.errs = append(s.errs, "timestamp")
		}
	}
	merchant := "merchantId:i"
	var keys string
	switch webhooks.Name(name) {
	case webhooks.PaymentCreated: // its first readers took the number under the other name
		merchant, keys = "merchantId:i merchantNumber:i", "paymentId:s order:order"
	case webhooks.ReservationCreated:
		keys = "paymentId:s paymentMethod:s paymentType:s consumer:consumer amount:amount cardDetails?:card"
	case webhooks.ReservationCreatedV2:
		merchant, keys = "merchantNumber:i", "paymentId:s paymentMethod:s paymentType:s amount:amount"
	case webhooks.ReservationFailed:
		keys = "paymentId:s error:error orderItems:items amount:amount"
	case webhooks.CheckoutCompleted:
		keys = "paymentId:s order:order consumer:person"
	case webhooks.ChargeCreated:
		merchant, keys = "merchantNumber:i", "paymentId:s chargeId:s paymentMethod:s paymentType:s orderItems:items amount:amount"
	case webhooks.ChargeFailed:
		keys = "paymentId:s error:error chargeId:s reconciliationReference:s orderItems:items amount:amount"
	case webhooks.RefundInitiated:
		keys = "paymentId:s orderItems:items amount:amount reconciliationReference:s executed:s paymentActionId:s"
	case webhooks.RefundCompleted:
		keys = "paymentId:s refundId:s amount:amount invoiceDetails?:invoice"
	case webhooks.RefundFailed:
		keys = "paymentId:s error:error refundId:s reconciliationReference:s amount:amount invoiceDetails?:invoice"
	case webhooks.CancelCreated:
		keys = "paymentId:s cancelId:s orderItems:items amount:amount"
	case webhooks.CancelFailed:
		keys = "paymentId:s error:error cancelId:s orderItems:items amount:amount"
	default:
		return fmt.Errorf("strict receiver: event %q", name)
	}
	s.read(m, "", strings.Fields(merchant)...)
	data, _ := m["data"].(map[string]any)
	s.read(data, "data.", strings.Fields(keys)...)
	if s.errs != nil {
		return fmt.Errorf("strict receiver: %s: %s", name, strings.Join(s.errs, ", "))
	}
	return nil
}

type strict struct{ errs []string }

// read wants keys "name:kind" of an object; "name?:kind" may be absent.
func (s *strict) read(m map[string]any, at string, keys ...string) {
	for _, k := range keys {
		name, kind, _ := strings.Cut(k, ":")
		name, optional := strings.CutSuffix(name, "?")
		if v, there := m[name]; there || !optional {
			s.value(v, at+name, kind)
		}
	}
}

// spread wants exactly these keys.
func (s *strict) spread(v any, at string, keys ...string) {
	m, ok := v.(map[string]any)
	if !ok {
		s.errs = append(s.errs, at)
		return
	}
	s.read(m, at+".", keys...)
	for name := range m {
		if !slices.ContainsFunc(keys, func(k string) bool { return strings.HasPrefix(k, name+":") }) {
			s.errs = append(s.errs, at+"."+name+" (unknown named argument)")
		}
	}
}

func (s *strict) value(v any, at, kind string) {
	ok := true
	m, _ := v.(map[string]any)
	switch kind {
	case "s":
		_, ok = v.(string)
	case "i":
		n, number := v.(float64)
		ok = number && n == float64(int64(n))
	case "n":
		_, ok = v.(float64)
	case "amount":
		s.spread(v, at, "amount:i", "currency:s")
	case "error":
		s.spread(v, at, "code:s", "message:s", "source:s")
	case "items":
		var list []any
		list, ok = v.([]any)
		for i, item := range list {
			s.spread(item, fmt.Sprintf("%s[%d]", at, i), "reference:s", "name:s", "quantity:n", "unit:s", "unitPrice:i", "taxRate:i", "taxAmount:i",
				"netTotalAmount:i", "grossTotalAmount:i")
		}
	case "order":
		s.read(m, at+".", "amount:amount", "orderItems:items", "reference?:s")
	case "consumer":
		s.read(m, at+".", "email:s", "ip:s", "country:s", "phoneNumber?:phone", "firstName?:s", "lastName?:s")
	case "person": // early readers take nothing of it as optional
		s.read(m, at+".", "firstName:s", "lastName:s", "country:s", "email:s", "ip:s", "phoneNumber:phone", "billingAddress:address", "shippingAddress:address")
	case "address":
		s.read(m, at+".", "addressLine1:s", "addressLine2:s", "city:s", "country:s", "postcode:s", "receiverLine:s")
	case "phone":
		s.read(m, at+".", "prefix:s", "number:s")
	case "card":
		s.read(m, at+".", "creditDebitIndicator:s", "expiryMonth:s", "expiryYear:s", "issuerCountry:s", "truncatedPan:s")
		if m["threeDSecure"] != nil {
			s.spread(m["threeDSecure"], at+".threeDSecure", "acsUrl:s", "authenticationEnrollmentStatus:s", "authenticationStatus:s", "eci:s")
		} else if _, there := m["threeDSecure"]; !there {
			ok = false
		}
	case "invoice":
		s.read(m, at+".", "invoiceNumber:s", "invoiceDueDate:s", "distributionType?:s")
	}
	if !ok {
		s.errs = append(s.errs, at)
	}
}
