package contracts

import (
	"encoding/json"
	"net/http"

	"posagent/schemes/hosted"
	"posagent/schemes/wire/rest"
	"posagent/schemes/wire/rest/openapi"
)

type (
	// event is a webhook's body (S0 6.2).
	event struct {
		ID             string          `json:"id" wire:"required"`
		MerchantID     json.RawMessage `json:"merchantId,omitempty"`
		MerchantNumber *int64          `json:"merchantNumber,omitempty"`
		Timestamp      string          `json:"timestamp" wire:"required"`
		Event          string          `json:"event" wire:"required"`
		Data           map[string]any  `json:"data" wire:"required"`
	}
	notified struct {
		Outcome string `json:"outcome"`
	}
	// credentials ask for a token (OAuth 2.0 client credentials).
	credentials struct {
		Grant  string `json:"grant_type" wire:"required"`
		ID     string `json:"client_id,omitempty"`
		Secret string `json:"client_secret,omitempty"`
	}
	access struct {
		Token string `json:"access_token"`
		Type  string `json:"token_type"`
		Life  int    `json:"expires_in"`
	}
	noAccess struct {
		Error string `json:"error"`
	}
)

// Webhooks is a receiver of webhooks at path (S0 6); proof is the name of what its senders show.
func Webhooks(path, proof string) openapi.Group {
	list := []rest.Info{Describe[event, none]("hooks.webhook", "take a webhook over", http.MethodPost, path, 0).WithExample(`{"id":"0193a5b27c1a7b3e9a524d1f0c2b8e77","merchantNumber":100000001,"timestamp":"2026-11-22T10:00:00.0000+00:00",` +
		`"event":"payment.charge.created.v2","data":{"paymentId":"0193a5b27c1a7b3e9a524d1f0c2b8e78","chargeId":"0193a5b27c1a7b3e9a524d1f0c2b8e79",` +
		`"paymentMethod":"Visa","paymentType":"CARD","amount":{"amount":1250,"currency":"EUR"},"orderItems":[{"reference":"1","name":"Chair",` +
		`"quantity":1,"unit":"pcs","unitPrice":1250,"taxRate":0,"taxAmount":0,"netTotalAmount":1250,"grossTotalAmount":1250}]}}`)}
	list[0].Out = nil // the body of the answer is empty
	return openapi.Group{
		Name: "hooks", About: "What arrives from the backend. A sender repeats an event until the answer is 200.",
		Infos: list, Proofs: []string{proof}, Refusal: Faults(),
	}
}

// Notices is a receiver of hosted build's notifications at path (S2 6), whose securityToken is their proof.
func Notices(path string) openapi.Group {
	return openapi.Group{
		Name: "notifications", About: "What arrives from hosted build.",
		Infos: []rest.Info{Describe[hosted.Notice, notified]("hooks.notification", "take a notification over", http.MethodPost, path, 0).WithExample(`{"eventId":"7","eventTime":"2026-11-22T10:00:00Z","securityToken":"SECURITY_TOKEN","operation":{"orderId":"order7",` +
			`"operationId":"1234","operationType":"AUTHORIZATION","operationResult":"EXECUTED","warnings":[],"additionalData":{}}}`)},
		Refusal: openapi.Refusal{Name: "outcome", Body: notified{}, Example: func(int) any { return notified{"KO"} }},
	}
}

// asking is the body of a request for a token.
const asking = `{"grant_type":"client_credentials","client_id":"till","client_secret":"the-token"}`

// Access is the routes that give a token to clients that fetch one.
func Access() openapi.Group {
	return openapi.Group{
		Name: "tokens for clients", About: "OAuth 2.0 client credentials; name and secret may stand in a Basic header too.",
		Infos: []rest.Info{
			Describe[credentials, access]("access.token", "fetch a token", http.MethodPost, "/token", 0).WithExample(asking),
			Describe[credentials, access]("access.oauth2", "the same", http.MethodPost, "/oauth2/v2.0/token", 0).WithExample(asking),
		},
		Sends: formType, Also: []int{401}, Refusal: openapi.Refusal{Name: "oauth", Body: noAccess{}, Example: func(int) any { return noAccess{"invalid_request"} }},
	}
}

type none struct{}

// Describe returns the description of an endpoint that is served by hand, and answers 200.
func Describe[In, Out any](op, what, method, path string, wants rest.Wants) rest.Info {
	e := rest.Endpoint[struct{}, In, Out]{Op: op, What: what, Method: method, Path: path, Status: http.StatusOK, Wants: wants}
	return e.Info()
}
