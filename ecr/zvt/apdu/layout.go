package apdu

// layout says how the data of a command is cut.
type layout struct {
	name string
	cuts func(d []byte) []int // lengths of the positional part, best first; nil = none
	want byte                 // prefer a cut after which this BMP is present; 0 = no matter
	only byte                 // the one BMP that may follow; 0 = any
	raw  bool                 // data is not BMPs at all
	soft bool                 // data that does not read as BMPs is kept raw
}

func cutNone([]byte) []int { return []int{0} }

// cutPassword: three BCD bytes that some registers leave out.
func cutPassword(d []byte) []int {
	switch {
	case len(d) < 3:
		return []int{0}
	case isBCD(d[:3]):
		return []int{3, 0}
	}
	return []int{0, 3}
}

// cutTrailingPassword: commands without a password that some registers send with one.
func cutTrailingPassword(d []byte) []int {
	if len(d) >= 3 {
		return []int{0, 3}
	}
	return []int{0}
}

func cutOne(d []byte) []int {
	if len(d) == 0 {
		return []int{0}
	}
	return []int{1}
}

func cutRegistration(d []byte) []int {
	if len(d) < 4 {
		return []int{len(d)}
	}
	rest := d[4:]
	if len(rest) < 2 || !isBCD(rest[:2]) {
		return []int{4}
	}
	if rest[0] == 0x06 || rest[0] == 0x03 && rest[1] <= 0x03 {
		return []int{4, 6}
	}
	return []int{6, 4}
}

func cutReprint(d []byte) []int {
	switch {
	case len(d) >= 7 && d[5] == 0x06:
		return []int{5, 7}
	case len(d) >= 7 && isBCD(d[:7]):
		return []int{7, 5}
	case len(d) >= 5:
		return []int{5, 3}
	}
	return cutPassword(d)
}

// cutIntermediate: status and timeout; the timeout may only be left out where nothing follows.
func cutIntermediate(d []byte) []int { return []int{min(2, len(d))} }

func cutCompletion(d []byte) []int {
	if len(d) == 0 || d[0]>>4 != 0xF {
		return []int{0, min(1, len(d))}
	}
	if n, err := varLen(d, 3); err == nil && 3+n < len(d) {
		return []int{3 + n + 1, 1}
	}
	return []int{1, 0}
}

func cutCurrencyError(d []byte) []int {
	if len(d) >= 3 {
		return []int{1, 3}
	}
	return cutOne(d)
}

// layoutOf returns how cmd's data is cut; ok is false for a command that is not in the table.
func layoutOf(cmd Command) (layout, bool) {
	switch {
	case cmd == 0x841E:
		return layout{name: "refused", cuts: cutCurrencyError, soft: true}, true
	case cmd>>8 == 0x84:
		return layout{name: "refused", cuts: cutNone, soft: true}, true
	}
	l, ok := layouts[cmd]
	return l, ok
}

// layouts is never written to.
var layouts = map[Command]layout{
	Registration:   {name: "registration", cuts: cutRegistration},
	Authorisation:  {name: "authorisation", cuts: cutNone},
	LogOff:         {name: "log-off", cuts: cutNone},
	Completion:     {name: "completion", cuts: cutCompletion},
	TurnoverTotals: {name: "turnover-totals", cuts: cutPassword},
	ReprintReceipt: {name: "reprint-receipts", cuts: cutReprint},
	Reset:          {name: "reset", cuts: cutPassword},
	AbortPT:        {name: "abort", cuts: cutOne},
	RepeatReceipt:  {name: "repeat-receipt", cuts: cutPassword},
	Reversal:       {name: "reversal", cuts: cutPassword, want: 0x87},
	RefundCmd:      {name: "refund", cuts: cutPassword},
	EndOfDay:       {name: "end-of-day", cuts: cutPassword},
	PartialClose:   {name: "partial-reconciliation", cuts: cutPassword},
	Diagnosis:      {name: "diagnosis", cuts: cutTrailingPassword},
	SetDate:        {name: "set-date", cuts: cutPassword, want: 0xAA},
	Initialisation: {name: "initialisation", cuts: cutPassword},
	AbortECR:       {name: "abort-command", cuts: cutTrailingPassword},
	PrintLine:      {name: "print-line", raw: true},
	PrintBlock:     {name: "print-block", cuts: cutNone},
	DisplayText:    {name: "display-text", cuts: cutNone},
	DisplayKey:     {name: "display-text-key", cuts: cutNone},
	DisplayNumber:  {name: "display-text-number", cuts: cutNone},
	DisplayImage:   {name: "display-image", cuts: cutNone},
	0x06F1:         {name: "display-image-key", cuts: cutNone},
	StatusEnquiry:  {name: "status-enquiry", cuts: cutPassword},
	StatusInfo:     {name: "status-information", cuts: cutNone},
	Intermediate:   {name: "intermediate-status", cuts: cutIntermediate, only: 0x06},
	SetTime:        {name: "set-time", cuts: cutNone},
	ChangeBaud:     {name: "change-baud", cuts: cutOne},
	ActivateReader: {name: "activate-reader", cuts: cutOne},
	PrintConfig:    {name: "print-configuration", cuts: cutPassword},
	SetTerminalID:  {name: "set-terminal-id", cuts: cutPassword},
	StartOPT:       {name: "start-opt", cuts: cutPassword},
	StartOPTInit:   {name: "start-opt-initialisation", cuts: cutPassword},
	OutputOPT:      {name: "output-opt-data", cuts: cutPassword},
	BookTip:        {name: "book-tip", cuts: cutPassword},
	Reservation:    {name: "reservation", cuts: cutTrailingPassword},
	BookPart:       {name: "partial-reversal", cuts: cutTrailingPassword},
	BookTotal:      {name: "book-total", cuts: cutTrailingPassword},
	Release:        {name: "pre-authorisation-reversal", cuts: cutTrailingPassword},
	Ack:            {name: "acknowledge", cuts: cutNone, soft: true},
	// Decoded for a readable trace, refused by the terminal: it has no card reader.
	0x06C0: {name: "read-card", cuts: cutOne},
}
