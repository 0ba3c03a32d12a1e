package disputes

import (
	"encoding/json"
	"io"
	"strings"

	"posagent/schemes/wire"
)

// Limits in bytes.
const (
	MaxBody     = 16 << 20 // a request with documents, and the answer to a download
	MaxDocument = 10 << 20
	maxFiles    = 20
)

// DefaultOperator is the operator whose spelling is understood when none is configured.
const DefaultOperator = "nets"

const spelled = "provider" // how S1 begins the operator's fields

// own lists what follows the operator's name.
func own() [4]string {
	return [4]string{"DisputeReasonCode", "FraudReasonCode", "RetrvRequestReasonCode", "TransactionID"}
}

// DecodeCreate reads the body of POST / strictly; card numbers in free texts are masked, and the operator's spelling of its
// fields ("" = DefaultOperator) is read too. Documents go to nameless files of dir until release is called. Validate checks what
// the body says. The error is *wire.Error with code Invalid, TooLarge or Internal.
func DecodeCreate(r io.Reader, dir, operator string) (req CreateRequest, release func(), err error) {
	text, files, err := read(r, dir, &req)
	if err == nil {
		err = operatorFields(text, operator, &req)
	}
	if err == nil {
		err = wire.Required(text, "documentsList[].documentBinary", "additionalDataList[].name")
	}
	if err != nil {
		closeAll(files)
		return CreateRequest{}, func() {}, wire.AsError(opCreate, err)
	}
	put(req.DocumentsList, files)
	mask(&req.Notes, req.AdditionalDataList)
	return req, func() { closeAll(files) }, nil
}

// DecodeUpdate does the same for the body of PATCH /{disputeId}.
func DecodeUpdate(r io.Reader, dir string) (req UpdateRequest, release func(), err error) {
	text, files, err := read(r, dir, &req)
	if err == nil {
		err = wire.Required(text, "documentsList[].documentBinary", "additionalInformationList[].name")
	}
	if err != nil {
		closeAll(files)
		return UpdateRequest{}, func() {}, wire.AsError(opUpdate, err)
	}
	put(req.DocumentsList, files)
	mask(&req.Notes, req.AdditionalInformation)
	req.PrivateNotes = wire.MaskPANs(req.PrivateNotes)
	return req, func() { closeAll(files) }, nil
}

func read(r io.Reader, dir string, into any) (text []byte, files []spooled, err error) {
	s := splitter{dir: dir, field: "documentBinary", depth: 3, most: maxFiles}
	if err := s.split(r, MaxBody); err != nil {
		return nil, nil, err
	}
	return s.text, s.files, wire.Decode(s.text, into)
}

// put gives every document the content its number stands for.
func put(list []Document, files []spooled) {
	for i := range list {
		list[i].Binary = files[list[i].Binary.Size].Binary
	}
}

func mask(notes *string, pairs []Pair) {
	*notes = wire.MaskPANs(*notes)
	for i := range pairs {
		pairs[i].Value = wire.MaskPANs(pairs[i].Value)
	}
}

// operatorFields reads netsDisputeReasonCode and the like.
func operatorFields(text []byte, operator string, req *CreateRequest) error {
	if operator == "" {
		operator = DefaultOperator
	}
	operator = strings.ToLower(operator[:1]) + operator[1:]
	var raw map[string]json.RawMessage
	if operator == spelled || json.Unmarshal(text, &raw) != nil {
		return nil
	}
	into := [...]*string{&req.OperatorDisputeReasonCode, &req.OperatorFraudReasonCode, &req.OperatorRetrievalRequestReasonCode, &req.OperatorTransactionID}
	for i, name := range own() {
		v, ok := raw[operator+name]
		if !ok || string(v) == "null" {
			continue
		}
		var s string
		if json.Unmarshal(v, &s) != nil {
			return wire.Errorf(wire.Invalid, "", "%s: a string is wanted", operator+name)
		}
		if *into[i] != "" && s != "" && *into[i] != s {
			return wire.Errorf(wire.Invalid, "", "%s: differs from %s", operator+name, spelled+name)
		}
		if s != "" {
			*into[i] = s
		}
	}
	return nil
}

// DecodeList reads the body of POST /list strictly.
func DecodeList(data []byte) (req ListRequest, err error) {
	if err = wire.Decode(data, &req); err == nil {
		err = wire.Required(data, "additionalSearchIndex[].indexName", "additionalSearchIndex[].indexValue")
	}
	if err != nil {
		return ListRequest{}, wire.AsError(opList, err)
	}
	return req, nil
}

// DecodeQueue reads the body of POST /list-cases-by-queue strictly.
func DecodeQueue(data []byte) (req QueueRequest, err error) {
	if err = wire.Decode(data, &req); err == nil {
		err = wire.Required(data, "additionalInformationList[].name")
	}
	if err != nil {
		return QueueRequest{}, wire.AsError(opQueue, err)
	}
	return req, nil
}

// EncodeCreate writes the body of POST / with its secrets, a digest in the place of each content: what two requests are
// compared by. Keep it out of logs.
func EncodeCreate(req CreateRequest) ([]byte, error) {
	return json.Marshal(struct {
		CardNumber     string `json:"cardNumber,omitempty"`
		CardExpiryDate string `json:"cardExpiryDate,omitempty"`
		CardHolderName string `json:"cardHolderName,omitempty"`
		CreateRequest
	}{req.CardNumber.Reveal(), req.CardExpiryDate.Reveal(), req.CardHolderName.Reveal(), req})
}

// EncodeUpdate does the same for the body of PATCH /{disputeId}.
func EncodeUpdate(req UpdateRequest) ([]byte, error) {
	return json.Marshal(struct {
		AccessToken string `json:"accessToken,omitempty"`
		CardNumber  string `json:"cardNumber,omitempty"`
		Password    string `json:"password,omitempty"`
		UserID      string `json:"userID,omitempty"`
		UpdateRequest
	}{req.AccessToken.Reveal(), req.CardNumber.Reveal(), req.Password.Reveal(), req.UserID.Reveal(), req})
}

// EncodeList writes the body of POST /list with its secret.
func EncodeList(req ListRequest) ([]byte, error) {
	return json.Marshal(struct {
		CardNumber string `json:"cardNumber,omitempty"`
		ListRequest
	}{req.CardNumber.Reveal(), req})
}

// EncodeQueue writes the body of POST /list-cases-by-queue with its secrets.
func EncodeQueue(req QueueRequest) ([]byte, error) {
	return json.Marshal(struct {
		AccessToken string `json:"accessToken,omitempty"`
		Password    string `json:"password,omitempty"`
		UserID      string `json:"userID,omitempty"`
		QueueRequest
	}{req.AccessToken.Reveal(), req.Password.Reveal(), req.UserID.Reveal(), req})
}
