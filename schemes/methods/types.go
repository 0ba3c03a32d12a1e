package methods

// TransactionType is a word of S1 2.5.
type TransactionType string

// The transaction types.
const (
	Payment  TransactionType = "PAYMENT"
	Refund   TransactionType = "REFUND"
	Reversal TransactionType = "REVERSAL"
)

// Trigger is how a transaction starts (S1 2.5).
type Trigger string

// The triggers.
const (
	Manual Trigger = "MANUAL"
	QR     Trigger = "QR"
)

// Definition is one payment method the terminal may use (S1 2.5). Pointers tell absent from zero.
type Definition struct {
	Priority          int32                    `json:"priority" wire:"nullable"`
	MerchRcptReq      []ReceiptRule            `json:"merchRcptReq,omitempty"`
	PaymentProviderID int32                    `json:"paymentProviderId" wire:"required"`
	Name              string                   `json:"name" wire:"required"`
	MeanDelay         int32                    `json:"meanDelay" wire:"nullable"` // seconds, see StaleAge
	Queries           []map[string]QueryPrompt `json:"queries,omitempty"`
	TransactionTypes  []TransactionType        `json:"transactionTypes" wire:"list"`
	WalletID          string                   `json:"walletId,omitempty"`
	Trigger           []Trigger                `json:"trigger" wire:"list"`
	DefaultTrigger    *Trigger                 `json:"defaultTrigger"`
	OKCodes           []OKCode                 `json:"okCodes,omitempty"`
	TxnQueryFlow      []QueryFlow              `json:"txnQueryFlow,omitempty"`
	Label             string                   `json:"label" wire:"nullable"`
	TriggerParams     *TriggerParams           `json:"triggerParams,omitempty"`
	StaleTimeOut      *int32                   `json:"staleTimeOut,omitempty"`        // in the configured unit, default minutes
	FinalizeTimeOut   *int32                   `json:"finalizeTimeOut,omitempty"`     // in the configured unit, default minutes
	DelayedAmount     int32                    `json:"delayedAmount" wire:"nullable"` // 0 or 1
}

// ReceiptRule says whether a merchant receipt is required for a transaction type.
type ReceiptRule struct {
	FiTxnTypes TransactionType `json:"fiTxnTypes"`
	Req        string          `json:"req"` // NOT_REQUIRED, REQUIRED
}

// QueryPrompt is one prompt with its length limits in characters.
type QueryPrompt struct {
	Label string `json:"label" wire:"nullable"`
	Min   int32  `json:"min"`
	Max   int32  `json:"max"`
}

// OKCode is a word that counts as success for a transaction type.
type OKCode struct {
	Type  TransactionType `json:"type"`
	Value string          `json:"value"`
}

// QueryFlow says which prompts a transaction type asks for, under which triggers.
type QueryFlow struct {
	TransactionType TransactionType `json:"transactionType"`
	QueryIDs        []int32         `json:"queryIds"`
	Triggers        []Trigger       `json:"triggers"`
}

// TriggerParams carries the QR look of a purchase.
type TriggerParams struct {
	Qr *QRParams `json:"Qr,omitempty"`
}

// QRParams is the QR look; Type "1" means the payload is an EMV QR code.
type QRParams struct {
	ShortcutKey string `json:"shortcutKey,omitempty"`
	PushText    string `json:"pushText,omitempty"`
	Type        string `json:"type,omitempty"`
	BgColor     string `json:"bgcolor,omitempty"`
}

// Query asks for a terminal's definitions (S1 4.4). Its method Check has the rules of its texts.
type Query struct {
	BaxID      string `path:"baxId" json:"-" max:"-"`
	TerminalID string `path:"terminalId" json:"-" max:"-"`
	Exclude    IDs    `query:"exclude" json:"-"` // paymentProviderIds to leave out
	Caller     string `query:"caller" json:"-" max:"-"`
	Lang       string `query:"lang" json:"-" max:"-"`
}
