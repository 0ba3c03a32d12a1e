package tokens

import (
	"encoding/json"

	"posagent/schemes/wire"
)

// DecodeCreate reads the body of POST / strictly; card numbers in free texts are masked. Validate checks what it says.
// The error is *wire.Error with code Invalid or TooLarge and names every field.
func DecodeCreate(data []byte) (CreateRequest, error) {
	var req CreateRequest
	err := wire.Decode(data, &req)
	if err == nil {
		err = wire.Required(data, "cardDetails.pan", "cardDetails.expiryYear", "cardDetails.expiryMonth")
	}
	if err != nil {
		return CreateRequest{}, wire.AsError(opCreate, err)
	}
	req.Description, req.OrderDescription = wire.MaskPANs(req.Description), wire.MaskPANs(req.OrderDescription)
	return req, nil
}

// DecodeRecurring reads the body of POST /recurring in the same way; ValidateRecurring checks what it says.
func DecodeRecurring(data []byte) (RecurringRequest, error) {
	var req RecurringRequest
	if err := wire.Decode(data, &req); err != nil {
		return RecurringRequest{}, wire.AsError(opRecurring, err)
	}
	req.Description, req.OrderDescription = wire.MaskPANs(req.Description), wire.MaskPANs(req.OrderDescription)
	return req, nil
}

// EncodeCreate writes the body of POST / with everything in it: the one way the card leaves. Keep what it returns out of
// logs, and sealed on a disk.
func EncodeCreate(req CreateRequest) ([]byte, error) {
	type card struct {
		PAN string `json:"pan"`
		*CardDetails
		ValidationCode string `json:"validationCode,omitempty"`
	}
	body := struct {
		TokenSecret string `json:"tokenSecret,omitempty"`
		CreateRequest
		CardDetails *card `json:"cardDetails,omitempty"`
	}{CreateRequest: req, TokenSecret: req.TokenSecret.Reveal()}
	if c := req.CardDetails; c != nil {
		body.CardDetails = &card{c.PAN.Reveal(), c, c.ValidationCode.Reveal()}
	}
	return json.Marshal(body)
}

// EncodeRecurring writes the body of POST /recurring with its secret.
func EncodeRecurring(req RecurringRequest) ([]byte, error) {
	return json.Marshal(struct {
		TokenSecret string `json:"tokenSecret,omitempty"`
		RecurringRequest
	}{req.TokenSecret.Reveal(), req})
}

// EncodeToken writes a look-up's answer for who may read it.
func EncodeToken(r TokenReply) ([]byte, error) {
	return json.Marshal(map[string]string{"token": r.Token.Reveal()})
}
