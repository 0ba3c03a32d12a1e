package contracts

import (
	"reflect"
	"slices"

	"posagent/schemes/aapay"
	"posagent/schemes/disputes"
	"posagent/schemes/fleet"
	"posagent/schemes/hosted"
	"posagent/schemes/methods"
	"posagent/schemes/onboarding"
	"posagent/schemes/paylinks"
	"posagent/schemes/payments"
	"posagent/schemes/tokens"
	"posagent/schemes/webhooks"
	"posagent/schemes/wire/rest"
	"posagent/schemes/wire/rest/openapi"
)

// The ways to prove who calls, by the names that documents give them.
const (
	ByToken     = "token"
	BySignature = "signature"
	ByKey       = "key"
	ByDevice    = "device"
)

// Proofs describes them; whose token it is differs from server to server.
func Proofs(token string) []openapi.Proof {
	return []openapi.Proof{
		{Name: ByToken, Type: "http", Scheme: "bearer", About: token},
		{
			Name: BySignature, Type: "apiKey", In: "query", Field: paylinks.SignatureParam,
			About: "HMAC-SHA256 of the parameters under the account's secret, Base64; in the body where there is one",
		},
		{Name: ByKey, Type: "apiKey", In: "header", Field: hosted.KeyHeader},
	}
}

// Payments is the payment service (S0 4.1).
func Payments() openapi.Group {
	return openapi.Group{
		Name: "payments", About: "Card payments: reserve, collect, give back. Paths are the same in any case of letters. " +
			"type Moto is a card whose number the caller sends in cardDetails; the other types give a page in payPageUrl, where the customer enters it.",
		Prefix: payments.Prefix, Infos: payments.Table().Infos(), Proofs: []string{ByToken}, Refusal: Problems(),
		Words: map[reflect.Type]openapi.Words{
			reflect.TypeFor[payments.CreateRequest](): {"type": payments.Types(), "processing": payments.Processings()},
			reflect.TypeFor[payments.WebHook]():       {"eventName": eventNames()},
		},
	}
}

// eventNames lists the events that a payment's webhook may ask for.
func eventNames() (list []string) {
	for _, name := range webhooks.Names() {
		list = append(list, string(name))
	}
	return list
}

// Tokens is the tokenization service (S0 4.2).
func Tokens() openapi.Group {
	return openapi.Group{
		Name: "tokens", About: "Cards that are kept for later. Paths are the same in any case of letters.",
		Prefix: tokens.Prefix, Infos: tokens.Table().Infos(), Proofs: []string{ByToken}, Refusal: Problems(),
	}
}

// Onboarding is the onboarding service (S0 4.3).
func Onboarding() openapi.Group {
	return openapi.Group{
		Name: "onboarding", About: "Applications of merchants. Paths are the same in any case of letters.",
		Prefix: onboarding.Prefix, Infos: onboarding.Table().Infos(), Proofs: []string{ByToken}, Refusal: Problems(),
	}
}

// Methods is the method definitions (S1 4.4).
func Methods() openapi.Group {
	return openapi.Group{
		Name: "methods", About: "What a terminal may be paid with.",
		Prefix: methods.API().Prefix, Infos: methods.Table().Infos(), Proofs: []string{ByToken}, Refusal: Faults(),
	}
}

// Schemes is the alternative schemes' transaction service (S1 4.3).
func Schemes() openapi.Group {
	return openapi.Group{
		Name: "schemes", About: "Transactions of alternative schemes. 202 is live; 201 is created but rejected, which is final.",
		Prefix: aapay.API().Prefix, Infos: aapay.Table().Infos(), Proofs: []string{ByToken}, Refusal: Faults(),
	}
}

// Hosted is the hosted build service (S2 4).
func Hosted() openapi.Group {
	return openapi.Group{
		Name: "hosted build", About: "Orders that a customer pays in hosted fields.",
		Prefix: hosted.Prefix, Infos: slices.Concat(hosted.SessionsTable().Infos(), hosted.OrdersTable().Infos()), Proofs: []string{ByKey},
		Header: []openapi.Header{{Name: hosted.CorrelationHeader, About: "a UUID, made for each call", Example: "0123abcd-4567-89ef-0123-456789abcdef"}},
		Needs:  []string{"sessionId"},
		Also:   []int{404},
		Refusal: openapi.Refusal{
			Name: "errors", Body: hostedErrors{}, Conflict: 409,
			Example: func(status int) any {
				return hostedErrors{Errors: []hostedError{{Code: reasonOf(status), Description: "what was wrong"}}}
			},
		},
	}
}

// Links is the payment-link service (S1 4.1).
func Links() openapi.Group {
	return openapi.Group{
		Name: "payment links", About: "Links that a customer pays on a page. Bodies are forms in bracket notation; a slash may end each path.",
		Prefix: paylinks.API().Prefix, Infos: linkInfos(), Proofs: []string{BySignature}, Sends: formType, Needs: []string{"instance"},
		Types: map[reflect.Type]openapi.Type{
			reflect.TypeFor[paylinks.Bit]():     {Schema: `{"type":"integer","enum":[0,1]}`, Example: `0`},
			reflect.TypeFor[paylinks.Cents]():   {Schema: `{"type":["integer","string"]}`, Example: `0`},
			reflect.TypeFor[paylinks.Percent](): {Schema: `{"type":["number","null"]}`, Example: `7.7`},
		},
		Refusal: openapi.Refusal{
			Name: "linkError", Body: linkError{}, Conflict: 409,
			Example: func(status int) any {
				return linkError{Status: "error", Message: "An error occurred: what was wrong", Reason: reasonOf(status)}
			},
		},
	}
}

// Disputes is the dispute service (S1 4.2).
func Disputes() openapi.Group {
	return openapi.Group{
		Name: "disputes", About: "Dispute cases and their documents. A refusal of the service itself is a 200 with responseCode 99 and a code.",
		Prefix: disputes.API().Prefix, Infos: disputeInfos(), Proofs: []string{ByToken}, Refusal: Problems(),
	}
}

// DeviceProof describes how the terminals of a fleet prove who calls.
func DeviceProof() openapi.Proof {
	return openapi.Proof{
		Name: ByDevice, Type: "apiKey", In: "header", Field: "Authorization",
		About: "Device ENROLMENT.MILLISECONDS.SIGNATURE: the device key's signature over the call's name, the enrolment, the time and the body's digest",
	}
}

// Fleet is the enrolment service: a code needs no other proof, the terminals prove their key, the operator has a token.
func Fleet() []openapi.Group {
	refusal := Problems()
	refusal.Conflict = 409
	group := func(name, about string, infos []rest.Info, proofs ...string) openapi.Group {
		return openapi.Group{Name: name, About: about, Prefix: fleet.Prefix, Infos: infos, Proofs: proofs, Refusal: refusal}
	}
	device := fleet.Table().Infos()
	return []openapi.Group{
		group("enrolment", "A new terminal shows a one-time code and a certificate request.", device[:1]),
		group("terminals", "What an enrolled terminal asks.", device[1:], ByDevice),
		group("fleet", "What an operator asks: codes, lists of boxes, what became of them, versions that are held, settings that go out in stages.", slices.Concat(fleet.DeskTable().Infos(), fleet.RolloutTable().Infos()), ByToken),
	}
}

// disputeInfos is the tables; a document is fetched as a body that its service writes piece by piece.
func disputeInfos() []rest.Info {
	list := slices.Concat(disputes.Table().Infos(), disputes.KeysTable().Infos())
	for n := range list {
		if list[n].Out == reflect.TypeFor[disputes.File]() {
			list[n].Out = reflect.TypeFor[disputes.Download]()
		}
	}
	return list
}
