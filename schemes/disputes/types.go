package disputes

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"posagent/schemes/wire"
	"posagent/schemes/wire/check"
)

// Flags (S1 2.3).
const (
	Yes = "Y"
	No  = "N"
)

// Response codes (S1 2.3).
const (
	Done    = "00" // created with all documents; for the other routes: done
	Partial = "01" // with some of the documents
	Failed  = "99"
)

// DefaultReason is the operator's dispute reason of a straight-through case that names none (S1 2.3, rule 2).
const DefaultReason = "D019"

// DateLayout is how dates are written.
const DateLayout = check.DateLayout

// CreateRequest is the body of POST / (S1 2.3). Write it with wire.Encode; json.Marshal masks what is secret.
// A digest stands in the place of each content: it is what two requests are compared by.
type CreateRequest struct {
	CardNumber                         wire.Secret `json:"cardNumber,omitempty" wire:"given"` // encrypted, Base64; see Seal
	CardExpiryDate                     wire.Secret `json:"cardExpiryDate,omitempty"`
	CardHolderName                     wire.Secret `json:"cardHolderName,omitempty"`
	AcqReferenceData                   string      `json:"acqReferenceData,omitempty" wire:"given"`
	CardBlocked                        string      `json:"cardBlocked,omitempty"` // Yes or No
	CardSchemeDisputeReasonCode        string      `json:"cardSchemeDisputeReasonCode,omitempty"`
	CardSchemeFraudReasonCode          string      `json:"cardSchemeFraudReasonCode,omitempty"`
	CardSchemeRetrvRequestReasonCode   string      `json:"cardSchemeRetrvRequestReasonCode,omitempty"`
	CardSchemeTransactionID            string      `json:"cardSchemeTransactionID,omitempty" wire:"given"`
	CaseHandlerID                      string      `json:"caseHandlerID,omitempty"`
	ClaimValidationRequired            string      `json:"claimValidationRequired,omitempty" wire:"given"` // No = straight through; "" = Yes
	DisputeAmount                      json.Number `json:"disputeAmount,omitempty" wire:"notnull"`         // minor units
	DisputeCurrency                    string      `json:"disputeCurrency,omitempty" wire:"given"`         // "" = the transaction's
	DocumentsList                      []Document  `json:"documentsList,omitempty"`
	InterimAccount                     string      `json:"interimAccount,omitempty"`
	IssuerSuperCaseID                  string      `json:"issuerSuperCaseID,omitempty"`
	IssuerTransactionID                string      `json:"issuerTransactionID,omitempty"`
	OperatorDisputeReasonCode          string      `json:"providerDisputeReasonCode,omitempty"`
	OperatorFraudReasonCode            string      `json:"providerFraudReasonCode,omitempty"`
	OperatorRetrievalRequestReasonCode string      `json:"providerRetrvRequestReasonCode,omitempty"`
	OperatorTransactionID              string      `json:"providerTransactionID,omitempty" wire:"given"`
	Notes                              string      `json:"notes,omitempty" wire:"masked"`
	TransactionAmount                  json.Number `json:"transactionAmount,omitempty" wire:"notnull"` // minor units
	TransactionCurrency                string      `json:"transactionCurrency,omitempty" wire:"given"`
	TransactionDate                    string      `json:"transactionDate,omitempty" wire:"given"` // DateLayout
	TransactionTime                    string      `json:"transactionTime,omitempty"`              // 15:04:05
	AdditionalDataList                 []Pair      `json:"additionalDataList,omitempty"`
}

// Straight says whether the case goes through without manual verification.
func (r *CreateRequest) Straight() bool { return r.ClaimValidationRequired == No }

// DefaultOperator is the operator whose spelling is understood when none is configured.
const DefaultOperator = "nets"

const spelled = "provider" // how S1 begins the operator's fields

// own lists what follows the operator's name.
func own() [4]string {
	return [4]string{"DisputeReasonCode", "FraudReasonCode", "RetrvRequestReasonCode", "TransactionID"}
}

// Normal implements rest.Normalizer: it reads netsDisputeReasonCode and the like.
func (r *CreateRequest) Normal(operator string, text []byte) error {
	if operator == "" {
		operator = DefaultOperator
	}
	operator = strings.ToLower(operator[:1]) + operator[1:]
	var raw map[string]json.RawMessage
	if operator == spelled || json.Unmarshal(text, &raw) != nil {
		return nil
	}
	into := [...]*string{&r.OperatorDisputeReasonCode, &r.OperatorFraudReasonCode, &r.OperatorRetrievalRequestReasonCode, &r.OperatorTransactionID}
	for i, name := range own() {
		v, ok := raw[operator+name]
		if ok && into[i] == &r.OperatorTransactionID && (string(v) == "null" || string(v) == `""`) { // absent, it finds another purchase
			return wire.Errorf(wire.Invalid, "", "%s: empty (leave it out, or give a value)", operator+name)
		}
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

// Pair is a name and a value.
type Pair struct {
	Name  string `json:"name"`
	Value string `json:"value" wire:"nullable,masked"`
}

// Document is a file of a case.
type Document struct {
	Binary   Binary `json:"documentBinary" wire:"required"`
	ID       string `json:"documentID,omitempty"`
	Type     string `json:"documentType,omitempty"`
	MimeType string `json:"mimeType,omitempty"`
}

// Binary is a document's content. It is read through Open, as often as needed, while the call lasts; size and digest stand for it
// where requests are compared.
type Binary struct {
	Size   int64  // bytes
	SHA256 string // lower-case hex
	Open   func() (io.ReadCloser, error)

	Unreadable bool // what was sent is not Base64: there is no content, and the service names the document in documentsErrorList
}

// unreadable is the content of a text that is not Base64. It has no digest: sum, which tells the text from another one, stands there.
func unreadable(sum uint64) Binary {
	b := Bytes(nil)
	b.SHA256, b.Unreadable = fmt.Sprintf("%064x", sum), true
	return b
}

// Bytes makes a content of what is in memory already.
func Bytes(data []byte) Binary {
	sum := sha256.Sum256(data)
	return Binary{Size: int64(len(data)), SHA256: hex.EncodeToString(sum[:]), Open: func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(data)), nil
	}}
}

// DocumentError says why one document of a request was not taken.
type DocumentError struct {
	ClaimID    string `json:"claimID"` // the case
	Code       string `json:"documentErrorCode"`
	Text       string `json:"documentErrorText"`
	DocumentID string `json:"documentID"`
}

// CreateReply answers a create (S1 2.3).
type CreateReply struct {
	CaseNumber          string          `json:"disputeCaseNumber" wire:"required"`
	GroupNumber         string          `json:"disputeGroupNumber"` // one per card and day
	ResponseCode        string          `json:"responseCode" wire:"required"`
	ErrorCode           string          `json:"disputeErrorCode" wire:"nullable"` // ManyMatches is a warning
	ErrorText           string          `json:"disputeErrorCodeText" wire:"nullable"`
	Documents           []DocumentError `json:"documentsErrorList" wire:"list"`
	IssuerSuperCaseID   string          `json:"issuerSuperCaseID" wire:"nullable"`
	IssuerTransactionID string          `json:"issuerTransactionID" wire:"nullable"`
}

// ListRequest is the body of POST /list (S1 2.3).
type ListRequest struct {
	CardNumber            wire.Secret `json:"cardNumber,omitempty" wire:"given"` // encrypted
	AdditionalSearchIndex []Index     `json:"additionalSearchIndex,omitempty"`
	CardID                string      `json:"cardId,omitempty" wire:"given"` // Case.PanID
	CaseNumber            string      `json:"disputeCaseNumber,omitempty" wire:"given"`
	CaseStatus            string      `json:"disputeCaseStatus,omitempty" wire:"given"`
	CreatedDate           string      `json:"disputeCreatedDate,omitempty" wire:"given"` // DateLayout
	GroupNumber           string      `json:"disputeGroupNumber,omitempty" wire:"given"`
	ModifiedDate          string      `json:"disputeModifiedDate,omitempty" wire:"given"`
	History               string      `json:"history,omitempty"` // Yes: every status
	NextPageKey           string      `json:"nextPageKey,omitempty"`
	Limit                 int32       `json:"numberOfDisputeCases,omitempty"` // of a page; 0 = DefaultPage
}

// Index is one more thing to search by: issuerSuperCaseID, issuerTransactionID, acqReferenceData, providerTransactionID,
// caseHandlerID, or a name of additionalDataList.
type Index struct {
	Name  string `json:"indexName" wire:"required"`
	Value string `json:"indexValue" wire:"required"`
}

// ListReply answers a list (S1 2.3).
type ListReply struct {
	Cases        []Case `json:"disputeCaseList" wire:"list"`
	ErrorCode    string `json:"disputeErrorCode" wire:"nullable"`
	ErrorText    string `json:"disputeErrorCodeText" wire:"nullable"`
	GroupQueue   string `json:"disputeGroupQueue" wire:"nullable"` // of the newest case, where a group was asked for
	More         string `json:"moreDisputeFlag"`                   // Yes or No
	NextPageKey  string `json:"nextPageKey" wire:"nullable"`
	Count        int32  `json:"numberOfDisputeCases"` // of this page
	ResponseCode string `json:"responseCode" wire:"required"`
}

// Case is a case of a list (S1 2.3). Amounts are minor units.
type Case struct {
	AuthorisationSituation string         `json:"authorisationSituation" wire:"nullable"`
	CardScheme             string         `json:"cardScheme" wire:"nullable"`
	SettlementAmount       json.Number    `json:"clearingSettlementAmount,omitempty"`
	SettlementCurrency     string         `json:"clearingSettlementCurrency" wire:"nullable"`
	SettlementDate         string         `json:"clearingSettlementDate" wire:"nullable"`
	ClearingSituation      string         `json:"clearingSituation" wire:"nullable"`
	TransactionAmount      json.Number    `json:"clearingTransactionAmount,omitempty"`
	TransactionCurrency    string         `json:"clearingTransactionCurrency" wire:"nullable"`
	TransactionDate        string         `json:"clearingTransactionDate" wire:"nullable"`
	AdditionalData         []Pair         `json:"disputeAdditionalData"`
	CaseNumber             string         `json:"disputeCaseNumber" wire:"required"`
	Reasons                []Reason       `json:"disputeCaseReasonList"`
	CreatedDate            string         `json:"disputeCreatedDate" wire:"nullable"`
	Documents              []DocumentInfo `json:"disputeDocumentList"`
	DueDate                string         `json:"disputeDueDate" wire:"nullable"`
	GroupNumber            string         `json:"disputeGroupNumber" wire:"nullable"`
	GroupStatus            string         `json:"disputeGroupStatus" wire:"nullable"`
	DisputeSettlement      json.Number    `json:"disputeSettlementAmount,omitempty"`
	DisputeSettlementIn    string         `json:"disputeSettlementCurrency" wire:"nullable"`
	DisputeSettlementDate  string         `json:"disputeSettlementDate" wire:"nullable"`
	Statuses               []Status       `json:"disputeStatusList"`
	DisputeAmount          json.Number    `json:"disputeTransactionAmount,omitempty"`
	DisputeCurrency        string         `json:"disputeTransactionCurrency" wire:"nullable"`
	ResponseDueDate        string         `json:"issuerResponseDueDate" wire:"nullable"`
	MaskedCardNumber       string         `json:"maskedCardNumber" wire:"nullable"`
	MerchantAddress        string         `json:"merchantAddress" wire:"nullable"`
	MerchantCategory       string         `json:"merchantCategory" wire:"nullable"`
	MerchantCategoryText   string         `json:"merchantCategoryText" wire:"nullable"`
	MerchantCountry        string         `json:"merchantCountry" wire:"nullable"`
	MerchantLocation       string         `json:"merchantLocation" wire:"nullable"`
	MerchantName           string         `json:"merchantName" wire:"nullable"`
	PanID                  string         `json:"panId" wire:"nullable"`
	QueueName              string         `json:"queueName" wire:"nullable"`
}

// Reason types.
const (
	ReasonDispute   = "DISPUTE"
	ReasonFraud     = "FRAUD"
	ReasonRetrieval = "RETRIEVAL"
)

// Reason is why a case is there, in the words of the card scheme and of the operator.
type Reason struct {
	CardScheme string `json:"cardSchemeReason" wire:"nullable"`
	Operator   string `json:"disputeCaseReason" wire:"nullable"`
	Type       string `json:"disputeCaseReasonType" wire:"nullable"` // ReasonDispute …
}

// DocumentInfo names a document of a case; ID fetches it.
type DocumentInfo struct {
	Description string `json:"documentDescription" wire:"nullable"`
	ID          string `json:"documentId"`
	Type        string `json:"documentType" wire:"nullable"`
	Updated     string `json:"updateTimeStamp" wire:"nullable"`
	User        string `json:"user" wire:"nullable"`
}

// Status is one line of a case's history.
type Status struct {
	UserID       string `json:"caseStatusUserId" wire:"nullable"`
	FreeText     string `json:"disputeCaseFreeText" wire:"nullable"`
	OtherActions string `json:"disputeCaseOtherActions" wire:"nullable"`
	Status       string `json:"disputeCaseStatus"` // the queue's number
	Text         string `json:"disputeCaseStatusText" wire:"nullable"`
	Timestamp    string `json:"disputeCaseStatusTimestamp" wire:"nullable"` // RFC 3339
}

// QueueRequest is the body of POST /list-cases-by-queue (S1 2.3).
type QueueRequest struct {
	AccessToken           wire.Secret `json:"accessToken,omitempty"`
	Password              wire.Secret `json:"password,omitempty"`
	UserID                wire.Secret `json:"userID,omitempty"`
	AdditionalInformation []Pair      `json:"additionalInformationList,omitempty"`
	IsOpen                string      `json:"isOpen,omitempty" wire:"given"` // Yes, No, "" = both
	NextPageKey           string      `json:"nextPageKey,omitempty"`
	QueueID               int32       `json:"queueID"` // one of Queues
}

// QueueReply answers a list by queue (S1 2.3).
type QueueReply struct {
	Cases        []QueueCase `json:"caseList" wire:"list"`
	ErrorCode    string      `json:"errorCode" wire:"nullable"`
	ErrorText    string      `json:"errorText" wire:"nullable"`
	More         string      `json:"moreDisputeFlag"`
	NextPageKey  string      `json:"nextPageKey" wire:"nullable"`
	Count        int32       `json:"numberOfCases"` // of this page
	QueueName    string      `json:"queueName" wire:"nullable"`
	ResponseCode string      `json:"responseCode" wire:"required"`
}

// QueueCase is a case of a queue.
type QueueCase struct {
	AcquiringReferenceNumber string `json:"acquiringReferenceNumber" wire:"nullable"`
	CaseNumber               string `json:"disputeCaseNumber" wire:"required"`
	MaskedCardNumber         string `json:"maskedCardNumber" wire:"nullable"`
}

// UpdateRequest is the body of PATCH /{disputeId} (S1 2.3): at most one of the four moves is Yes.
type UpdateRequest struct {
	AccessToken           wire.Secret `json:"accessToken,omitempty"`
	CardNumber            wire.Secret `json:"cardNumber,omitempty" wire:"given"` // encrypted; must be the case's
	Password              wire.Secret `json:"password,omitempty"`
	UserID                wire.Secret `json:"userID,omitempty"`
	AcknowledgeClosure    string      `json:"acknowledgeClosure,omitempty"`
	AdditionalInformation []Pair      `json:"additionalInformationList,omitempty"`
	CardID                string      `json:"cardID,omitempty" wire:"given"` // must be the case's
	CloseDispute          string      `json:"closeDispute,omitempty"`
	CaseNumber            string      `json:"disputeCaseNumber,omitempty" wire:"given"`  // must be the path's
	GroupNumber           string      `json:"disputeGroupNumber,omitempty" wire:"given"` // must be the case's
	DocumentsList         []Document  `json:"documentsList,omitempty"`
	InterimAccount        string      `json:"interimAccount,omitempty"`
	Notes                 string      `json:"notes,omitempty" wire:"masked"`
	PrivateNotes          string      `json:"privateNotes,omitempty" wire:"masked"`
	RejectClosure         string      `json:"rejectClosure,omitempty"`
	SubmitDispute         string      `json:"submitDispute,omitempty"`
}

// UpdateReply answers an update (S1 2.3).
type UpdateReply struct {
	Documents    []DocumentError `json:"documentsErrorList" wire:"list"`
	ErrorCode    string          `json:"errorCode" wire:"nullable"`
	ErrorText    string          `json:"errorText" wire:"nullable"`
	ResponseCode string          `json:"responseCode" wire:"required"`
}

// PublicKey is what card numbers are encrypted with.
type PublicKey struct {
	ID        string `json:"keyId" wire:"required"`     // the first 16 hex digits of the SHA-256 of its DER form
	Algorithm string `json:"algorithm"`                 // OAEP
	PEM       string `json:"publicKey" wire:"required"` // SubjectPublicKeyInfo
}

// OAEP names the algorithm of PublicKey.
const OAEP = "RSA-OAEP-256"

// File is a document that was fetched. Close it.
type File struct {
	Name        string // a plain name, never a path
	Description string
	Content     Binary
	Close       func() error // gives its room back; never nil
}
