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
)

// Limits of a request. S1 8 shows none.
const (
	MaxID       = 128  // bytes of ids, codes and names
	MaxText     = 4096 // bytes of notes and values
	MaxPairs    = 50
	DefaultPage = 50
	MaxPage     = 500 // cases
)

// Validate applies every stateless rule to the body of POST /, the reason-code rules of S1 2.3 among them. A field that no code of
// S1 7 is about is wire.Invalid without a reason; BadDate, Missing and BadAmount follow, in this order. A card number, an amount
// or a currency of the transaction that cannot be read is Missing: no transaction is found by it.
func Validate(req CreateRequest) error {
	var c checks
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
			c.add("transactionTime", "want a time as 13:45:00")
		}
	}
	if err := c.err(opCreate); err != nil {
		return err
	}
	for _, f := range [...][2]string{{"cardExpiryDate", req.CardExpiryDate.Reveal()}, {"transactionDate", req.TransactionDate}} {
		if err := date(opCreate, f[0], f[1]); err != nil {
			return err
		}
	}
	if err := readable(opCreate, req.CardNumber); err != nil {
		return err
	}
	amount, err := Amount(req.TransactionAmount)
	if err != nil {
		return Refused(opCreate, Missing, "transactionAmount: "+err.Error())
	}
	if !currency(req.TransactionCurrency) {
		return Refused(opCreate, Missing, "transactionCurrency: "+wantCurrency)
	}
	byCard := req.CardNumber != "" && req.TransactionDate != "" && amount != 0
	if req.AcqReferenceData+req.OperatorTransactionID+req.CardSchemeTransactionID == "" && !byCard {
		return Refused(opCreate, Missing, "want providerTransactionID, cardSchemeTransactionID or acqReferenceData, or cardNumber with transactionDate and transactionAmount")
	}
	if err := reasons(req); err != nil {
		return err
	}
	if !currency(req.DisputeCurrency) {
		return Refused(opCreate, BadAmount, "disputeCurrency: "+wantCurrency)
	}
	if req.CardSchemeDisputeReasonCode+req.OperatorDisputeReasonCode == "" && req.DisputeAmount == "" {
		return nil
	}
	if a, err := Amount(req.DisputeAmount); err != nil || a <= 0 {
		return Refused(opCreate, BadAmount, "want minor units, more than 0")
	}
	return nil
}

// reasons are rules 1 and 3 of S1 2.3; rule 2 is the backend's (DefaultReason).
func reasons(req CreateRequest) error {
	n := 0
	for _, code := range [...]string{req.OperatorDisputeReasonCode, req.OperatorFraudReasonCode, req.OperatorRetrievalRequestReasonCode} {
		if code != "" {
			n++
		}
	}
	switch {
	case req.Straight() && req.CardSchemeDisputeReasonCode+req.CardSchemeFraudReasonCode+req.CardSchemeRetrvRequestReasonCode == "":
		return Refused(opCreate, Missing, "a straight-through case wants a reason code of the card scheme")
	case !req.Straight() && n != 1:
		return Refused(opCreate, Missing, "a case that is not straight through wants exactly one reason code of the operator")
	}
	return nil
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

// ValidateList applies every stateless rule to the body of POST /list.
func ValidateList(req ListRequest) error {
	var c checks
	c.flag("history", req.History)
	for _, f := range [...][2]string{
		{"cardId", req.CardID}, {"disputeCaseNumber", req.CaseNumber}, {"disputeCaseStatus", req.CaseStatus},
		{"disputeGroupNumber", req.GroupNumber}, {"nextPageKey", req.NextPageKey},
	} {
		c.word(f[0], f[1])
	}
	if len(req.AdditionalSearchIndex) > MaxPairs {
		c.add("additionalSearchIndex", "more than "+strconv.Itoa(MaxPairs))
	}
	for _, i := range req.AdditionalSearchIndex {
		if c.word("additionalSearchIndex.indexName", i.Name); i.Name == "" {
			c.add("additionalSearchIndex.indexName", "missing")
		}
		c.text("additionalSearchIndex.indexValue", i.Value)
	}
	if req.Limit < 0 || req.Limit > MaxPage {
		c.add("numberOfDisputeCases", "want 1 to "+strconv.Itoa(MaxPage))
	}
	c.page(req.NextPageKey)
	if err := c.err(opList); err != nil {
		return err
	}
	if err := readable(opList, req.CardNumber); err != nil {
		return err
	}
	for _, f := range [...][2]string{{"disputeCreatedDate", req.CreatedDate}, {"disputeModifiedDate", req.ModifiedDate}} {
		if err := date(opList, f[0], f[1]); err != nil {
			return err
		}
	}
	if len(req.AdditionalSearchIndex) == 0 && req.CardID+req.CardNumber.Reveal()+req.CaseNumber+req.CaseStatus+req.CreatedDate+req.GroupNumber+req.ModifiedDate == "" {
		return Refused(opList, Missing, "")
	}
	return nil
}

// ValidateQueue applies every stateless rule to the body of POST /list-cases-by-queue.
func ValidateQueue(req QueueRequest) error {
	var c checks
	c.flag("isOpen", req.IsOpen)
	c.login(req.AccessToken, req.Password, req.UserID)
	c.pairs("additionalInformationList", req.AdditionalInformation)
	c.page(req.NextPageKey)
	if req.QueueID != 0 && !slices.Contains(Queues(), Queue(req.QueueID)) {
		c.add("queueID", "no such queue")
	}
	if err := c.err(opQueue); err != nil {
		return err
	}
	if req.QueueID == 0 {
		return Refused(opQueue, Missing, "queueID")
	}
	return nil
}

// ValidateUpdate applies every stateless rule to PATCH /{disputeId} and its body.
func ValidateUpdate(caseNumber string, req UpdateRequest) error {
	var c checks
	if !wire.PathWord(caseNumber, MaxID) {
		c.add("disputeId", "want 1 to "+strconv.Itoa(MaxID)+" characters")
	}
	if req.CaseNumber != "" && req.CaseNumber != caseNumber {
		c.add("disputeCaseNumber", "differs from the path's")
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
		c.add("submitDispute", "beside another of the four moves")
	}
	if err := c.err(opUpdate); err != nil {
		return err
	}
	if err := readable(opUpdate, req.CardNumber); err != nil {
		return err
	}
	if _, ok := req.Move(); !ok && !req.Adds() {
		return Refused(opUpdate, Missing, "nothing to do")
	}
	return nil
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
		return wire.Errorf(wire.Invalid, opDocument, "documentId: want 1 to %d characters", MaxID)
	}
	return nil
}

// Takes says why a document cannot be taken, by one of the codes of documentsErrorList, or "".
func Takes(d Document) (code, text string) {
	kind, sub, ok := strings.Cut(d.MimeType, "/")
	switch {
	case d.Binary.Size == 0:
		return DocumentEmpty, "the document is empty"
	case d.Binary.Size > MaxDocument:
		return DocumentTooLarge, "the document is above " + strconv.Itoa(MaxDocument) + " bytes"
	case d.MimeType != "" && (!ok || kind == "" || sub == ""):
		return DocumentMimeType, "mimeType is none"
	}
	return "", ""
}

type checks struct{ errs []error }

func (c *checks) add(path, why string) {
	c.errs = append(c.errs, &wire.FieldError{Path: path, Reason: why, Code: wire.Invalid})
}

func (c *checks) err(op string) error {
	if c.errs == nil {
		return nil
	}
	return wire.AsError(op, errors.Join(c.errs...))
}

func (c *checks) word(path, s string) { c.limited(path, s, MaxID) }

// text checks what ends up on screens and in logs: no control characters and no line breaks of any kind.
func (c *checks) text(path, s string) { c.limited(path, s, MaxText) }

func (c *checks) limited(path, s string, limit int) {
	if !wire.PlainText(s, limit) || strings.ContainsAny(s, "\u2028\u2029") {
		c.add(path, "longer than "+strconv.Itoa(limit)+" bytes, or control characters")
	}
}

func (c *checks) flag(path, s string) {
	if s != "" && s != Yes && s != No {
		c.add(path, "want Y or N")
	}
}

const wantCurrency = "want an ISO 4217 code in capitals"

func currency(s string) bool { return s == "" || money.Nameable(s) }

// readable returns Missing for a card number that cannot be decrypted.
func readable(op string, card wire.Secret) error {
	if _, ok := cipherText(card); card != "" && !ok {
		return Refused(op, Missing, "cardNumber: want 256 bytes as Base64: a number encrypted with the public key")
	}
	return nil
}

func (c *checks) login(token, password, user wire.Secret) {
	c.text("accessToken", token.Reveal())
	c.text("password", password.Reveal())
	c.word("userID", user.Reveal())
}

func (c *checks) page(key string) {
	if n, err := strconv.ParseUint(key, 10, 63); key != "" && (err != nil || n == 0 || key[0] == '0') {
		c.add("nextPageKey", "not one of this service")
	}
}

func (c *checks) pairs(path string, list []Pair) {
	if len(list) > MaxPairs {
		c.add(path, "more than "+strconv.Itoa(MaxPairs))
		return
	}
	for i, p := range list {
		at := path + "[" + strconv.Itoa(i) + "]."
		if c.word(at+"name", p.Name); p.Name == "" {
			c.add(at+"name", "missing")
		}
		c.text(at+"value", p.Value)
	}
}

func (c *checks) documents(list []Document) {
	if len(list) > maxFiles {
		c.add("documentsList", "more than "+strconv.Itoa(maxFiles))
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
			c.add(at+"documentBinary", "without content, or above 16 MiB together")
			return
		}
		total += b.Size
	}
}

func date(op, path, s string) error {
	if s == "" {
		return nil
	}
	if _, err := time.Parse(DateLayout, s); err != nil || s < "1000" {
		return Refused(op, BadDate, path)
	}
	return nil
}
