package onboarding

import (
	"slices"
	"strconv"
	"time"

	"posagent/schemes/wire"
	"posagent/schemes/wire/check"
)

// Limits of a request, in bytes and entries. S0 8 shows none.
const (
	MaxReference = 128
	maxName      = 255 // names, addresses, numbers
	maxHooks     = 64
)

// Reasons are those of a failed signature.
func Reasons() []string { return []string{ReasonFailed, ReasonExpired, ReasonCancelled} }

// Check implements check.Checked. Whether a webhook's address may be reached is the sender's business.
func (a Application) Check(l *check.List) {
	l.Text("reference", a.Reference, MaxReference)
	if a.Merchant != nil {
		a.Merchant.check(l)
	}
	if n := a.Notifications; n != nil && l.Count("notifications.webHooks", len(n.WebHooks), maxHooks) {
		for i, h := range n.WebHooks {
			l.Hook("notifications.webHooks["+strconv.Itoa(i)+"]", h.EventName, h.URL, h.Authorization, h.Headers)
		}
	}
}

func (m *Merchant) check(l *check.List) {
	l.Text("merchant.registrationNumber", m.RegistrationNumber, maxName)
	l.Text("merchant.companyName", m.CompanyName, maxName)
	l.Text("merchant.contactFirstName", m.ContactFirstName, maxName)
	l.Text("merchant.contactLastName", m.ContactLastName, maxName)
	l.Email("merchant.email", m.Email)
	l.Text("merchant.phone", m.Phone, maxName)
	if a := m.Address; a != nil {
		l.Text("merchant.address.address1", a.Address1, maxName)
		l.Text("merchant.address.address2", a.Address2, maxName)
		l.Text("merchant.address.city", a.City, maxName)
		l.Text("merchant.address.postalCode", a.PostalCode, maxName)
		l.Country("merchant.address.countryCode", a.CountryCode)
	}
}

// Secrets are what a reply to the application must not repeat, besides the values that are secrets by their type.
func (a Application) Secrets() (list []string) {
	if a.Notifications == nil {
		return nil
	}
	for _, h := range a.Notifications.WebHooks {
		for _, pairs := range h.Headers {
			for _, v := range pairs {
				if len(v) >= 8 { // less is no secret, and stands in many a sentence
					list = append(list, v)
				}
			}
		}
	}
	return list
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

// Flaw says what a reply must not be: one that does not tell which application stands where.
func (s State) Flaw() string {
	if s.Created != "" {
		if _, err := time.Parse(time.RFC3339, s.Created); err != nil {
			return "reply has no usable time"
		}
	}
	switch {
	case s.OnboardingID < 1:
		return "reply names no application"
	case s.Status == None:
		return "reply has no status"
	}
	return ""
}

// of says that a reply is about another application than the one asked for.
func (s State) of(id int64) string {
	if s.OnboardingID != id {
		return "reply is about another application"
	}
	return ""
}
