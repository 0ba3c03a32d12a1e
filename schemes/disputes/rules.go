package disputes

import (
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"posagent/schemes/money"
	"posagent/schemes/wire"
	"posagent/schemes/wire/check"
)

// Limits in bytes.
const (
	MaxBody     = 16 << 20 // a request with documents, and the answer to a download
	MaxDocument = 10 << 20
	maxFiles    = 20
	maxList     = 8 << 20 // a page of a list
)

// Limits of a request. S1 8 shows none.
const (
	MaxID       = 128  // bytes of ids, codes and names
	MaxText     = 4096 // bytes of notes and values
	MaxPairs    = 50
	DefaultPage = 50
	MaxPage     = 500 // cases
)

// What the requests about one thing are.
type (
	edit struct {
		ID string `path:"disputeId" json:"-"`
		UpdateRequest
	}
	fetch struct {
		ID       string `path:"documentId" json:"-"`
		Limit    size   `query:"sizeLimit" json:"-"`
		Encoding string `query:"encoding" json:"-" max:"-"`
	}
)

// Check implements check.Checked.
func (req CreateRequest) Check(l *check.List) {
	c := rules{l}
	c.flag("cardBlocked", req.CardBlocked)
	c.flag("claimValidationRequired", req.ClaimValidationRequired)
	c.word("cardExpiryDate", req.CardExpiryDate.Reveal())
	c.word("cardHolderName", req.CardHolderName.Reveal())
	for _, f := range [...][2]string{
		{"acqReferenceData", req.AcqReferenceData}, {"cardSchemeDisputeReasonCode", req.CardSchemeDisputeReasonCode},
		{"cardSchemeFraudReasonCode", req.CardSchemeFraudReasonCode}, {"cardSchemeRetrvRequestReasonCode", req.CardSchemeRetrvRequestReasonCode},
		{"cardSchemeTransactionID", req.CardSchemeTransactionID}, {"caseHandlerID", req.CaseHandlerID}, {"interimAccount", req.InterimAccount},
		{"issuerSuperCaseID", req.IssuerSuperCaseID}, {"issuerTransactionID", req.IssuerTransactionID},
		{"providerDisputeReasonCode", req.OperatorDisputeReasonCode}, {"providerFraudReasonCode", req.OperatorFraudReasonCode},
		{"providerRetrvRequestReasonCode", req.OperatorRetrievalRequestReasonCode}, {"providerTransactionID", req.OperatorTransactionID},
	} {
		c.word(f[0], f[1])
	}
	c.text("notes", req.Notes)
	c.pairs("additionalDataList", req.AdditionalDataList)
	c.documents(req.DocumentsList)
	if t := req.TransactionTime; t != "" {
		if _, err := time.Parse("15:04:05", t); err != nil {
			c.Add("transactionTime", "want a time as 13:45:00")
		}
	}
	for _, f := range [...][2]string{{"cardExpiryDate", req.CardExpiryDate.Reveal()}, {"transactionDate", req.TransactionDate}} {
		c.date(f[0], f[1])
	}
	c.readable(req.CardNumber)
	amount, err := Amount(req.TransactionAmount)
	if err != nil {
		c.Refuse(Refused("", Missing, "transactionAmount: "+err.Error()))
	}
	if req.TransactionAmount != "" && amount == 0 && err == nil { // it would be no part of the search
		c.Refuse(Refused("", Missing, "transactionAmount: 0 is no amount of a transaction"))
	}
	if !currency(req.TransactionCurrency) {
		c.Refuse(Refused("", Missing, "transactionCurrency: "+wantCurrency))
	}
	byCard := req.CardNumber != "" && req.TransactionDate != "" && amount != 0
	if req.AcqReferenceData+req.OperatorTransactionID+req.CardSchemeTransactionID == "" && !byCard {
		c.Refuse(Refused("", Missing, "want providerTransactionID, cardSchemeTransactionID or acqReferenceData, or cardNumber with transactionDate and transactionAmount"))
	}
	c.reasons(req)
	if !currency(req.DisputeCurrency) {
		c.Refuse(Refused("", BadAmount, "disputeCurrency: "+wantCurrency))
	}
	if req.CardSchemeDisputeReasonCode+req.OperatorDisputeReasonCode+string(req.DisputeAmount) == "" {
		return
	}
	if a, err := Amount(req.DisputeAmount); err != nil || a <= 0 {
		c.Refuse(Refused("", BadAmount, "disputeAmount: want minor units, more than 0"))
	}
}

// reasons are rules 1 and 3 of S1 2.3; rule 2 is the backend's (DefaultReason).
func (c rules) reasons(req CreateRequest) {
	n := 0
	for _, code := range [...]string{req.OperatorDisputeReasonCode, req.OperatorFraudReasonCode, req.OperatorRetrievalRequestReasonCode} {
		if code != "" {
			n++
		}
	}
	switch {
	case req.Straight() && req.CardSchemeDisputeReasonCode+req.CardSchemeFraudReasonCode+req.CardSchemeRetrvRequestReasonCode == "":
		c.Refuse(Refused("", Missing, "a straight-through case wants a reason code of the card scheme"))
	case !req.Straight() && n != 1:
		c.Refuse(Refused("", Missing, "a case that is not straight through wants exactly one reason code of the operator"))
	}
}

// Amount reads minor units: a whole number, 1250 or 1250.00. "" is 0.
func Amount(n json.Number) (money.Minor, error) {
	whole, fraction, dotted := strings.Cut(string(n), ".")
	if dotted && strings.Trim(fraction, "0") != "" {
		return 0, errAmount
	}
	if whole == "" {
		return 0, nil
	}
	v, err := strconv.ParseInt(whole, 10, 64)
	if err != nil || v > 1e15 || v < -1e15 {
		return 0, errAmount
	}
	return money.Minor(v), nil
}

var errAmount = errors.New("want a whole number of minor units")

// Check implements check.Checked.
func (req ListRequest) Check(l *check.List) {
	c := rules{l}
	c.flag("history", req.History)
	for _, f := range [...][2]string{
		{"cardId", req.CardID}, {"disputeCaseNumber", req.CaseNumber}, {"disputeCaseStatus", req.CaseStatus},
		{"disputeGroupNumber", req.GroupNumber}, {"nextPageKey", req.NextPageKey},
	} {
		c.word(f[0], f[1])
	}
	if len(req.AdditionalSearchIndex) > MaxPairs {
		c.Add("additionalSearchIndex", "more than "+strconv.Itoa(MaxPairs))
	}
	for _, i := range req.AdditionalSearchIndex {
		if c.word("additionalSearchIndex.indexName", i.Name); i.Name == "" {
			c.Add("additionalSearchIndex.indexName", "missing")
		}
		c.text("additionalSearchIndex.indexValue", i.Value)
	}
	if req.Limit < 0 || req.Limit > MaxPage {
		c.Add("numberOfDisputeCases", "want 1 to "+strconv.Itoa(MaxPage))
	}
	c.page(req.NextPageKey)
	c.readable(req.CardNumber)
	for _, f := range [...][2]string{{"disputeCreatedDate", req.CreatedDate}, {"disputeModifiedDate", req.ModifiedDate}} {
		c.date(f[0], f[1])
	}
	if len(req.AdditionalSearchIndex) == 0 && req.CardID+req.CardNumber.Reveal()+req.CaseNumber+req.CaseStatus+req.CreatedDate+req.GroupNumber+req.ModifiedDate == "" {
		c.Refuse(Refused("", Missing, ""))
	}
}

// Check implements check.Checked.
func (req QueueRequest) Check(l *check.List) {
	c := rules{l}
	c.flag("isOpen", req.IsOpen)
	c.login(req.AccessToken, req.Password, req.UserID)
	c.pairs("additionalInformationList", req.AdditionalInformation)
	c.page(req.NextPageKey)
	if req.QueueID != 0 && !slices.Contains(Queues(), Queue(req.QueueID)) {
		c.Add("queueID", "no such queue")
	}
	if req.QueueID == 0 {
		c.Refuse(Refused("", Missing, "queueID"))
	}
}

// Check implements check.Checked.
func (req edit) Check(l *check.List) {
	c := rules{l}
	l.Word("disputeId", req.ID, MaxID)
	if req.CaseNumber != "" && req.CaseNumber != req.ID {
		c.Add("disputeCaseNumber", "differs from the path's")
	}
	c.login(req.AccessToken, req.Password, req.UserID)
	c.word("cardID", req.CardID)
	c.word("disputeGroupNumber", req.GroupNumber)
	c.word("interimAccount", req.InterimAccount)
	c.text("notes", req.Notes)
	c.text("privateNotes", req.PrivateNotes)
	c.pairs("additionalInformationList", req.AdditionalInformation)
	c.documents(req.DocumentsList)
	moves := 0
	for _, f := range [...][2]string{
		{"submitDispute", req.SubmitDispute}, {"closeDispute", req.CloseDispute}, {"acknowledgeClosure", req.AcknowledgeClosure}, {"rejectClosure", req.RejectClosure},
	} {
		if c.flag(f[0], f[1]); f[1] == Yes {
			moves++
		}
	}
	if moves > 1 {
		c.Add("submitDispute", "beside another of the four moves")
	}
	c.readable(req.CardNumber)
	if _, ok := req.Move(); !ok && !req.Adds() {
		c.Refuse(Refused("", Missing, "nothing to do"))
	}
}

// Move is what the request wants done; ok is false where it only adds something.
func (r *UpdateRequest) Move() (m Move, ok bool) {
	switch Yes {
	case r.SubmitDispute:
		return Submit, true
	case r.CloseDispute:
		return Close, true
	case r.AcknowledgeClosure:
		return Acknowledge, true
	case r.RejectClosure:
		return Reject, true
	}
	return Prepare, false
}

// Adds says that the request brings something for the case.
func (r *UpdateRequest) Adds() bool {
	return len(r.DocumentsList)+len(r.AdditionalInformation) > 0 || r.Notes+r.PrivateNotes+r.InterimAccount != ""
}

// CheckDocumentID checks a document's id: 1 to MaxID bytes without control characters, not a dot name. The error is
// wire.Invalid.
func CheckDocumentID(id string) error {
	if !wire.PathWord(id, MaxID) {
		return wire.Errorf(wire.Invalid, document.Op, "documentId: want 1 to %d characters", MaxID)
	}
	return nil
}

// Takes says why a document cannot be taken, by one of the codes of documentsErrorList, or "".
func Takes(d Document) (code, text string) {
	kind, sub, ok := strings.Cut(d.MimeType, "/")
	switch {
	case d.Binary.Unreadable:
		return DocumentUnread, "documentBinary is not Base64"
	case d.Binary.Size == 0:
		return DocumentEmpty, "the document is empty"
	case d.Binary.Size > MaxDocument:
		return DocumentTooLarge, "the document is above " + strconv.Itoa(MaxDocument) + " bytes"
	case d.MimeType != "" && (!ok || kind == "" || sub == ""):
		return DocumentMimeType, "mimeType is none"
	}
	return "", ""
}

// rules are those of this service's fields.
type rules struct{ *check.List }

func (c rules) word(path, s string) { c.Text(path, s, MaxID) }

// text checks what ends up on screens and in logs: no control characters and no line breaks of any kind.
func (c rules) text(path, s string) { c.Text(path, s, MaxText) }

func (c rules) flag(path, s string) {
	if s != "" && s != Yes && s != No {
		c.Add(path, "want Y or N")
	}
}

const wantCurrency = "want an ISO 4217 code in capitals"

func currency(s string) bool { return s == "" || money.Nameable(s) }

// readable refuses a card number that cannot be decrypted.
func (c rules) readable(card wire.Secret) {
	if _, ok := cipherText(card); card != "" && !ok {
		c.Refuse(Refused("", Missing, "cardNumber: want 256 bytes as Base64: a number encrypted with the public key"))
	}
}

func (c rules) login(token, password, user wire.Secret) {
	c.text("accessToken", token.Reveal())
	c.text("password", password.Reveal())
	c.word("userID", user.Reveal())
}

func (c rules) page(key string) {
	if n, err := strconv.ParseUint(key, 10, 63); key != "" && (err != nil || n == 0 || key[0] == '0') {
		c.Add("nextPageKey", "not one of this service")
	}
}

func (c rules) pairs(path string, list []Pair) {
	if len(list) > MaxPairs {
		c.Add(path, "more than "+strconv.Itoa(MaxPairs))
		return
	}
	for i, p := range list {
		at := path + "[" + strconv.Itoa(i) + "]."
		if c.word(at+"name", p.Name); p.Name == "" {
			c.Add(at+"name", "missing")
		}
		c.text(at+"value", p.Value)
	}
}

func (c rules) documents(list []Document) {
	if len(list) > maxFiles {
		c.Add("documentsList", "more than "+strconv.Itoa(maxFiles))
		return
	}
	total := int64(0)
	for i, d := range list {
		at := "documentsList[" + strconv.Itoa(i) + "]."
		c.word(at+"documentID", d.ID)
		c.word(at+"documentType", d.Type)
		c.word(at+"mimeType", d.MimeType)
		b := d.Binary
		if b.Open == nil || b.Size < 0 || len(b.SHA256) != 64 || strings.Trim(b.SHA256, "0123456789abcdef") != "" || total > MaxBody-b.Size {
			c.Add(at+"documentBinary", "without content, or above 16 MiB together")
			return
		}
		total += b.Size
	}
}

// date refuses what check.Date does, by the code for it.
func (c rules) date(path, s string) {
	var l check.List
	if l.Date(path, s); l.Len() > 0 {
		c.Refuse(Refused("", BadDate, path))
	}
}

// Check implements check.Checked.
func (f fetch) Check(l *check.List) {
	if !wire.PlainText(f.Encoding, MaxID) {
		l.Add("encoding", "not a word")
	}
}

// size is a number of bytes, 0 = absent.
type size int64

// UnmarshalText implements encoding.TextUnmarshaler.
func (n *size) UnmarshalText(text []byte) error {
	v, err := strconv.ParseInt(string(text), 10, 63)
	if err != nil || v <= 0 || text[0] < '1' || text[0] > '9' {
		return errors.New("want a number of bytes")
	}
	*n = size(v)
	return nil
}

// MarshalText implements encoding.TextMarshaler.
func (n size) MarshalText() ([]byte, error) {
	if n == 0 {
		return nil, nil
	}
	return strconv.AppendInt(nil, int64(n), 10), nil
}

// Flaw says what a reply must not be: one that does not say what it came to.
func (r CreateReply) Flaw() string {
	if r.ResponseCode != Done && r.ResponseCode != Partial || r.CaseNumber == "" {
		return "reply does not say what it came to"
	}
	return ""
}

// Flaw says what a reply must not be: one that does not say what it came to.
func (r UpdateReply) Flaw() string {
	if r.ResponseCode != Done && r.ResponseCode != Partial {
		return "reply does not say what it came to"
	}
	return ""
}

// Flaw says what a reply must not be: one that does not say whether it is whole.
func (r ListReply) Flaw() string { return whole(r.ResponseCode, r.More, r.NextPageKey) }

// Flaw says what a reply must not be: one that does not say whether it is whole.
func (r QueueReply) Flaw() string { return whole(r.ResponseCode, r.More, r.NextPageKey) }

func whole(code, more, next string) string {
	if code != Done || (more == Yes) != (next != "") {
		return "reply does not say whether it is whole"
	}
	return ""
}
