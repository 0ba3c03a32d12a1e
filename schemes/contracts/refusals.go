package contracts

import (
	"posagent/schemes/wire"
	"posagent/schemes/wire/rest/openapi"
)

// formType is the content type of forms.
const formType = "application/x-www-form-urlencoded"

// problem is the body of S0 7.
type problem struct {
	Type     string `json:"type"`
	Title    string `json:"title"`
	Status   int    `json:"status"`
	Detail   string `json:"detail"`
	Instance string `json:"instance"`
}

// fault is the body of S1 2.4 where something went wrong.
type fault struct {
	Valid    bool       `json:"valid"`
	Error    faultError `json:"error"`
	Response *struct{}  `json:"response"`
}

type faultError struct {
	ComponsiteFault faultList `json:"componsiteFault"`
	Message         string    `json:"message"`
}

type faultList struct {
	Faults []faultItem `json:"faults"`
}

type faultItem struct {
	ExplanationText string            `json:"explanationText"`
	Params          map[string]string `json:"params,omitempty"`
}

// hostedErrors is the body of S2 7.
type hostedErrors struct {
	Errors []hostedError `json:"errors"`
}

type hostedError struct {
	Code        string `json:"code"`
	Description string `json:"description"`
}

// linkError is the body of a payment link's refusal (S1 4.1).
type linkError struct {
	Status  string `json:"status"`
	Message string `json:"message"`
	Reason  string `json:"reason,omitempty"`
}

// Problems is how the services of S0 refuse.
func Problems() openapi.Refusal {
	return openapi.Refusal{
		Name: "problem", Type: "application/problem+json", Body: problem{},
		Example: func(status int) any {
			return problem{Type: "urn:problem:" + reasonOf(status), Title: "What was wrong", Status: status, Detail: "amount: above what is reserved", Instance: "/api/v1/payments"}
		},
	}
}

// Faults is how the services of S1 2.4 refuse.
func Faults() openapi.Refusal {
	return openapi.Refusal{
		Name: "fault", Body: fault{}, Conflict: 409,
		Example: func(status int) any {
			return fault{Error: faultError{
				ComponsiteFault: faultList{Faults: []faultItem{{ExplanationText: "what was wrong", Params: map[string]string{"code": reasonOf(status)}}}},
				Message:         "what was wrong",
			}}
		},
	}
}

// reasonOf returns the code that a status is written for.
func reasonOf(status int) string {
	for _, c := range wire.Codes() {
		if c.Status() == status {
			return string(c)
		}
	}
	return string(wire.Invalid)
}
