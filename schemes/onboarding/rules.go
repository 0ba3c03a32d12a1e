package onboarding

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"posagent/schemes/wire"
)

// Limits of a request, in bytes and entries. S0 8 shows none.
const (
	MaxReference = 128
	maxName      = 255 // names, addresses, numbers
	maxSecret    = 4096
	maxHooks     = 64 // and headers of one
)

// Reasons are those of a failed signature.
func Reasons() []string { return []string{ReasonFailed, ReasonExpired, ReasonCancelled} }

// Decode reads an application strictly; Validate checks what it says. Card numbers in names and addresses are masked, not in
// references and registration numbers, which may look like one. The error is *wire.Error with code Invalid or
// TooLarge and names every field. op names the call in it.
func Decode(op string, data []byte) (Application, error) {
	var app Application
	err := wire.Decode(data, &app)
	if err == nil {
		err = wire.Required(data, "notifications.webHooks[].eventName", "notifications.webHooks[].url")
	}
	if err != nil {
		return Application{}, wire.AsError(op, err)
	}
	if m := app.Merchant; m != nil {
		for _, s := range m.texts() {
			*s = wire.MaskPANs(*s)
		}
	}
	return app, nil
}

// Validate applies every stateless rule. The error is wire.Invalid and names every field that is wrong, never its content.
// Whether a webhook's address may be reached, and its headers sent, is the sender's business.
func Validate(op string, app Application) error {
	var c checks
	c.text("reference", app.Reference, MaxReference)
	if m := app.Merchant; m != nil {
		c.merchant(m)
	}
	if n := app.Notifications; n != nil {
		c.hooks(n.WebHooks)
	}
	if c.errs == nil {
		return nil
	}
	return wire.AsError(op, errors.Join(c.errs...))
}

// CheckReason checks the reason of a failed signature; "" is ReasonFailed. The error is wire.Invalid.
func CheckReason(op, reason string) (string, error) {
	if reason == "" {
		return ReasonFailed, nil
	}
	if !slices.Contains(Reasons(), reason) {
		return "", wire.Errorf(wire.Invalid, op, "reason: want failed, expired or cancelled")
	}
	return reason, nil
}

// parseID reads an application's id: a whole number from 1 without signs and leading zeros. The error is wire.Invalid.
func parseID(op, s string) (int64, error) {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 1 || strconv.FormatInt(n, 10) != s {
		return 0, wire.Errorf(wire.Invalid, op, "onboardingId: want a whole number from 1")
	}
	return n, nil
}

// texts are what people wrote about a merchant.
func (m *Merchant) texts() []*string {
	list := []*string{&m.CompanyName, &m.ContactFirstName, &m.ContactLastName, &m.Email}
	if a := m.Address; a != nil {
		list = append(list, &a.Address1, &a.Address2, &a.City, &a.PostalCode)
	}
	return list
}

type checks struct{ errs []error }

func (c *checks) add(path, why string) {
	c.errs = append(c.errs, &wire.FieldError{Path: path, Reason: why, Code: wire.Invalid})
}

// text checks a text that ends up on screens and in logs: no control characters and no line breaks of any kind.
func (c *checks) text(path, s string, limit int) {
	if !wire.PlainText(s, limit) || strings.ContainsAny(s, "\u2028\u2029") {
		c.add(path, "longer than "+strconv.Itoa(limit)+" bytes, or control characters")
	}
}

func (c *checks) merchant(m *Merchant) {
	type field struct{ path, s string }
	list := []field{
		{"merchant.registrationNumber", m.RegistrationNumber}, {"merchant.companyName", m.CompanyName},
		{"merchant.contactFirstName", m.ContactFirstName}, {"merchant.contactLastName", m.ContactLastName},
		{"merchant.email", m.Email}, {"merchant.phone", m.Phone},
	}
	if a := m.Address; a != nil {
		list = append(list, field{"merchant.address.address1", a.Address1}, field{"merchant.address.address2", a.Address2},
			field{"merchant.address.city", a.City}, field{"merchant.address.postalCode", a.PostalCode})
		if code := a.CountryCode; code != "" && (len(code) != 2 || strings.Trim(code, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != "") {
			c.add("merchant.address.countryCode", "want an ISO 3166-1 alpha-2 code in capitals")
		}
	}
	for _, f := range list {
		c.text(f.path, f.s, maxName)
	}
	if name, host, ok := strings.Cut(m.Email, "@"); m.Email != "" && (!ok || name == "" || host == "" || strings.ContainsAny(m.Email, " ,;<>\"")) {
		c.add("merchant.email", "want an e-mail address")
	}
}

func (c *checks) hooks(list []WebHook) {
	if len(list) > maxHooks {
		c.add("notifications.webHooks", "more than "+strconv.Itoa(maxHooks)+" entries")
		return
	}
	for i, h := range list {
		at := "notifications.webHooks[" + strconv.Itoa(i) + "]."
		if !wire.PathWord(h.EventName, MaxReference) {
			c.add(at+"eventName", "want 1 to "+strconv.Itoa(MaxReference)+" characters")
		}
		if !wire.WebURL(h.URL) {
			c.add(at+"url", "want an absolute http or https address")
		}
		c.text(at+"authorization", h.Authorization.Reveal(), maxSecret)
		if len(h.Headers) > maxHooks {
			c.add(at+"headers", "more than "+strconv.Itoa(maxHooks)+" entries")
			continue
		}
		for _, pairs := range h.Headers {
			for name, value := range pairs {
				if !wire.PathWord(name, MaxReference) || !wire.PlainText(value, maxSecret) {
					c.add(at+"headers", "one cannot be sent")
				}
			}
		}
	}
}
